"""Simulated conditions side by side, and a file of all that was simulated, to go on from."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve.calibration.filled_drives import FilledDrives
from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import Term, Weights, residuals, terms
from reprieve.calibration.parameters import Value, overrides
from reprieve.calibration.ranges import DIES, is_of_programs
from reprieve.calibration.replay import Effort, Prediction, Simulated, predict
from reprieve.experiments.engine import Progress, complete
from reprieve.experiments.executors import threads
from reprieve.experiments.identity import digest
from reprieve.experiments.store import Store, locked
from reprieve.experiments.work import Task
from reprieve.foreign import JsonValue, decoded, read_text
from reprieve.parallel import Watch, silent
from reprieve.registries import device

Step = Callable[[str, int, int], None]
"""Told of progress: what is done, how much of it is done, of how much."""


class Evaluator:
    """Simulates conditions at values of the parameters, and caches the results."""

    def __init__(
        self,
        base: dict[str, Any],
        weights: Weights,
        store: Path | None = None,
        workers: int | None = None,
        step: Step = silent,
    ) -> None:
        """Go on from the rows of `store`, a directory; None: keep them in memory."""
        self._step = step
        self.base = base
        self._drive = drive_text(str(base["device"]))
        self.weights = weights
        self.simulated = 0
        self.refusals: Counter[str] = Counter()
        """Why points are no drive, by how often."""
        self._where = "memory" if store is None else str(store)
        self._open = ExitStack()
        self._store = Store() if store is None else self._open.enter_context(locked(store))
        self._known: dict[str, Prediction | None] = {}
        """Of each simulation; None where there is no such drive."""
        self._drives = FilledDrives()
        self._executor = threads(workers)

    def why_refused(self) -> str:
        """Return the commonest reason for which points are no drive."""
        found = self.refusals.most_common(1)
        return found[0][0] if found else "--fix and --free leave no values to try"

    def close(self) -> None:
        """End its threads, and remove the states of drives."""
        self._open.close()
        self._drives.close()

    def compare(
        self, points: Sequence[dict[str, Value]], conditions: Sequence[Condition], effort: Effort
    ) -> list[list[Term] | None]:
        """Compare all conditions with their simulations at each point, side by side.

        None for a point at which there is no such drive.
        """
        keys = [[self._key(point, each, effort) for each in conditions] for point in points]
        tasks = {
            key: partial(
                Task, key, "", partial(self._simulate, condition, _told(point, condition), effort)
            )
            for point, of_point in zip(points, keys, strict=True)
            for condition, key in zip(conditions, of_point, strict=True)
            if key not in self._known
        }
        progress = Progress(self._step, len(tasks))
        complete(tasks.items(), self._store, self._executor, progress)
        self.simulated += progress.ran
        for key in tasks:
            self._known[key] = self._read(key)
        return [self._compared(conditions, of_point) for of_point in keys]

    def _compared(self, conditions: Sequence[Condition], keys: Sequence[str]) -> list[Term] | None:
        found = list[Term]()
        for condition, key in zip(conditions, keys, strict=True):
            prediction = self._known[key]
            if prediction is None:
                return None
            found += terms(condition, prediction, self.weights)
        return found

    def residuals(
        self, points: Sequence[dict[str, Value]], conditions: Sequence[Condition], effort: Effort
    ) -> list[NDArray[np.float64] | None]:
        """Return the same as what least squares adds up."""
        compared = self.compare(points, conditions, effort)
        return [None if each is None else residuals(each) for each in compared]

    def _simulate(
        self, condition: Condition, values: dict[str, Value], effort: Effort, _watch: Watch
    ) -> str:
        prediction = predict(condition, self.base, expand(values), effort, self._drives)
        return json.dumps([[*where, vars(simulated)] for where, simulated in prediction.items()])

    def _read(self, key: str) -> Prediction | None:
        row = self._store.row(key)
        if row.text is None:
            self.refusals[str(row.error).removeprefix("--set: ")] += 1
            return None
        where = f"{self._where}, run {key}"
        return _prediction(JsonValue(where, decoded(Path(where), row.text)[0]))

    def _key(self, values: dict[str, Value], condition: Condition, effort: Effort) -> str:
        """Name a simulation: values that differ by less than the scenario has are one."""
        jobs = [
            (job.options, {op: (m.count, m.percentile_ns) for op, m in job.measured.items()})
            for job in condition.jobs
        ]
        totals = {op: m.percentile_ns for op, m in condition.totals.items()}
        what = [
            self._drive,
            self.base,
            sorted(overrides(expand(_told(values, condition))).items()),
            jobs,
            *([totals] if totals else ()),
            list(vars(effort).values()),
        ]
        return digest(json.dumps(what, sort_keys=True, default=str))


def drive_text(name: str) -> str:
    """Return the text of a device, built in or of a file."""
    return read_text(Path(name), "a device") if name.endswith(".toml") else device(name)


def _told(values: dict[str, Value], condition: Condition) -> dict[str, Value]:
    """Return the values that a condition depends on: of reads alone, none of programs or erases."""
    if condition.ops != {"read"}:
        return values
    return {key: value for key, value in values.items() if not is_of_programs(key)}


def expand(values: dict[str, Value]) -> dict[str, Value]:
    """Return values with each quantity that is no key of a scenario as the keys that it means."""
    found = dict(values)
    dies = found.pop(DIES, None)
    if isinstance(dies, str):
        channels, _, each = dies.partition("x")
        found["geometry.channels"] = int(channels)
        found["geometry.dies_per_channel"] = int(each)
        found["geometry.chips_per_channel"] = 1
    return found


def _prediction(rows: JsonValue) -> Prediction:
    """Return what was kept of one."""
    found: Prediction = {}
    for row in rows.items():
        job, direction, figures = row.items_of(3)
        percentiles = figures["percentile_ns"].values()
        found[job.whole(), direction.text()] = Simulated(
            figures["count"].whole(),
            figures["iops"].number(least=0),
            {value.key_number(): value.number(above=0) for _, value in percentiles},
        )
    return found
