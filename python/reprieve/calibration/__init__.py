"""Calibration: a device file from fio's results of a real drive."""

from reprieve.calibration.calibrate import (
    QUICK_TASK,
    SMALLER,
    START,
    Calibration,
    Task,
    calibrate,
    device_file,
    errors,
)
from reprieve.calibration.evaluate import Evaluator, expand
from reprieve.calibration.figure import depth_of, load_of, percentile_chart
from reprieve.calibration.fio_results import read_results
from reprieve.calibration.hypotheses import Answer, judge, sentence
from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import Term, residuals
from reprieve.calibration.parameters import PROGRAM, STEPS, Value
from reprieve.calibration.ranges import BUFFER, DIES, READS_PER_SUSPENSION
from reprieve.calibration.replay import Effort

__all__ = [
    "BUFFER",
    "DIES",
    "PROGRAM",
    "QUICK_TASK",
    "READS_PER_SUSPENSION",
    "SMALLER",
    "START",
    "STEPS",
    "Answer",
    "Calibration",
    "Condition",
    "Effort",
    "Evaluator",
    "Task",
    "Term",
    "Value",
    "calibrate",
    "depth_of",
    "device_file",
    "errors",
    "expand",
    "judge",
    "load_of",
    "percentile_chart",
    "read_results",
    "residuals",
    "sentence",
]
