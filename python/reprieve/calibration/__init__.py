"""Calibration: a device file from fio's results of a real drive."""

from reprieve.calibration.calibrate import (
    QUICK_TASK,
    START,
    Calibration,
    Task,
    calibrate,
    device_file,
    errors,
)
from reprieve.calibration.figure import depth_of, load_of, percentile_chart
from reprieve.calibration.fio_results import read_results
from reprieve.calibration.hypotheses import Answer, judge, sentence
from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import Term
from reprieve.calibration.parameters import Value
from reprieve.calibration.replay import Effort

__all__ = [
    "QUICK_TASK",
    "START",
    "Answer",
    "Calibration",
    "Condition",
    "Effort",
    "Task",
    "Term",
    "Value",
    "calibrate",
    "depth_of",
    "device_file",
    "errors",
    "judge",
    "load_of",
    "percentile_chart",
    "read_results",
    "sentence",
]
