"""A calibration from the files of fio to the files of the result."""

import fnmatch
import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reprieve._native import UserError
from reprieve.calibration.drive_file import device_text
from reprieve.calibration.evaluate import Evaluator, Step
from reprieve.calibration.identify import Advice, Knowledge, advise, knowledge
from reprieve.calibration.least_squares import Fit
from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import Term, Weights
from reprieve.calibration.parameters import Parameter, Value, merge
from reprieve.calibration.ranges import default_parameters, has_writes, of_programs
from reprieve.calibration.replay import Effort
from reprieve.calibration.search import QUICK, Depth, Search

START = "tlc-nvme"
"""The device that a calibration begins with."""

SMALLER: Mapping[str, Mapping[str, float]] = {
    "geometry": {"blocks_per_plane": 32},
    "ftl": {"over_provisioning": 0.2},
    "buffer": {"bytes": 16 << 20},
}
"""Few blocks a plane, fewer pages to fill before each of many runs: latencies of reads and of
sequential writes do not depend on their number while nothing is collected. A buffer that a writer
who is too fast soon fills, where its size is not fitted."""

QUICK_SMALLER = {**SMALLER, "ftl": {"over_provisioning": 0.8}}
"""For the quick form as many blocks, a fifth of which are full: where a page is has to be read for
each run, and the runs are short. Nothing is collected before the others are written."""

_NAMED = 3
"""Number of runs of fio that a device file names; the others are counted."""


@dataclass(frozen=True)
class Task:
    """Parameters to fit, and the measurements to fit them to."""

    conditions: Sequence[Condition]
    """Fitted to these."""
    held_out: Sequence[Condition] = ()
    """Predicted, and compared."""
    start: str = START
    free: Sequence[Parameter] = ()
    fixed: Mapping[str, Value] | None = None
    depth: Depth = field(default_factory=Depth)
    prediction: Effort = field(default_factory=lambda: Effort(60_000, 64 << 20, 30.0))
    """Effort for each condition in the comparison at the end."""
    weights: Weights = field(default_factory=Weights)
    smaller: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: SMALLER)
    """Sizes of the simulated drive in place of those of `start`."""

    def __post_init__(self) -> None:
        """Refuse to fit parameters that the measurements cannot determine."""
        for each in [] if any(map(has_writes, self.conditions)) else of_programs(self.free):
            raise UserError(
                f"--free {each.key}: no measurement to fit has writes, without which it has no "
                "effect; must be left out, or given with --fix"
            )

    def parameters(self) -> tuple[Parameter, ...]:
        """Return what is free."""
        return merge(default_parameters(self.conditions), self.free, self.fixed or {})

    def base(self) -> dict[str, Any]:
        """Return the drive that everything begins with, as `reprieve.run` takes it."""
        return {"device": self.start, **{name: dict(keys) for name, keys in self.smaller.items()}}

    def evaluator(self, store: Path | None, workers: int | None) -> Evaluator:
        """Return what simulates it; `store` keeps what was simulated, to go on from."""
        return Evaluator(self.base(), self.weights, store, workers)


@dataclass(frozen=True)
class Calibration:
    """A fitted drive."""

    task: Task
    fit: Fit
    runners_up: Sequence[Fit]
    """The points that were followed, for the loads with programs; the best first."""
    known: Knowledge
    advice: Sequence[Advice]
    fitted: Sequence[Term]
    predicted: Sequence[Term]
    """Of the conditions that were held out."""
    simulated: int
    """Conditions that were simulated in this call."""


def split(
    conditions: Iterable[Condition], hold_out: Sequence[str]
) -> tuple[list[Condition], list[Condition]]:
    """Part conditions into those to fit and those whose names match a pattern of `hold_out`."""
    fitted: list[Condition] = []
    held: list[Condition] = []
    for condition in conditions:
        matches = any(fnmatch.fnmatchcase(condition.name, pattern) for pattern in hold_out)
        (held if matches else fitted).append(condition)
    if not fitted:
        raise UserError(f"--hold-out {' '.join(hold_out)}: leaves nothing to fit")
    for pattern in hold_out:
        if not any(fnmatch.fnmatchcase(each.name, pattern) for each in held):
            raise UserError(f"--hold-out {pattern}: matches no file; it is compared with its stem")
    return fitted, held


def calibrate(
    task: Task, store: Path | None, workers: int | None, step: Step, advises: bool = True
) -> Calibration:
    """Fit, say how well it is known, and predict what was held out."""
    parameters = task.parameters()
    with closing(task.evaluator(store, workers)) as evaluator:
        search = Search(
            task.conditions, parameters, dict(task.fixed or {}), evaluator, task.depth, step
        )
        fit = search.run()
        free = [each for each in parameters if not each.choices]
        step("intervals", 0, 1)
        known = knowledge(evaluator, task.conditions, fit, free, task.depth.final)
        advice: list[Advice] = []
        if advises:
            from reprieve.calibration.candidates import candidates

            others = candidates(task.conditions)
            advice = advise(evaluator, others, fit, free, known, task.depth.coarse, step)
        step("predictions", 0, 1)
        fitted, predicted = (
            evaluator.compare([fit.values], some, task.prediction)[0] or [] if some else []
            for some in (task.conditions, task.held_out)
        )
        figures = (fitted, predicted, evaluator.simulated)
        return Calibration(task, fit, search.runners_up, known, advice, *figures)


@dataclass(frozen=True)
class Errors:
    """Relative errors over many numbers, as shares."""

    count: int
    median: float
    ninth_tenth: float
    """Nine tenths of the errors are at most this."""
    worst: float


def errors(compared: Iterable[Term], whats: Sequence[str] | None = None) -> Errors | None:
    """Sum up the errors of all terms, or of those of some names; None without any."""
    found = sorted(abs(term.difference) for term in compared if whats is None or term.what in whats)
    if not found:
        return None
    place = min(math.ceil(0.9 * len(found)) - 1, len(found) - 1)
    return Errors(len(found), statistics.median(found), found[place], found[-1])


def device_file(calibration: Calibration, name: str) -> str:
    """Write the device file of a calibration."""
    task = calibration.task
    names = [condition.name for condition in task.conditions]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    fitted_to = f"{len(names)} runs of fio: {', '.join(names[:_NAMED])}{more}"
    known, fixed = calibration.known.intervals, task.fixed or {}
    return device_text(name, task.start, calibration.fit.values, known, fixed, fitted_to)


def as_json(calibration: Calibration) -> str:
    """Write all that a calibration found, in JSON."""
    known = calibration.known
    content = {
        "schema": 1,
        "start": calibration.task.start,
        "values": calibration.fit.values,
        "cost": calibration.fit.cost,
        "inflation": known.inflation,
        "intervals": [vars(each) for each in known.intervals],
        "pairs": [vars(each) for each in known.pairs],
        "advice": [vars(each) for each in calibration.advice],
        "runners_up": [vars(each) for each in calibration.runners_up],
        "fitted": [_row(term) for term in calibration.fitted],
        "predicted": [_row(term) for term in calibration.predicted],
    }
    return json.dumps(content, indent=1) + "\n"


def _row(term: Term) -> dict[str, object]:
    return {**vars(term), "difference": term.difference}


QUICK_TASK: Mapping[str, Any] = {
    "depth": QUICK,
    "prediction": Effort(20_000, 24 << 20, 10.0),
    "smaller": QUICK_SMALLER,
}
"""The quick form: fewer points, shorter runs, fewer pages to fill."""
