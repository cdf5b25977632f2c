"""Simulated conditions side by side, and a file of all that was simulated, to go on from."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve._native import UserError, __version__
from reprieve.calibration.filled_drives import FilledDrives
from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import Term, Weights, residuals, terms
from reprieve.calibration.parameters import Value, overrides
from reprieve.calibration.ranges import DIES, has_writes, is_of_programs
from reprieve.calibration.replay import Effort, Prediction, Simulated, predict
from reprieve.foreign import JsonValue
from reprieve.outputs import KeptRows
from reprieve.registries import device

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Step = Callable[[str, int, int], None]
"""Told of progress: what is done, how much of it is done, of how much."""

_VERSION = 4


class Evaluator:
    """Simulates conditions at values of the parameters; what it has simulated it knows."""

    def __init__(
        self,
        base: dict[str, Any],
        weights: Weights,
        store: Path | None = None,
        workers: int | None = None,
    ) -> None:
        """Go on from what `store` has, a line of JSON for each simulated condition."""
        self.base = base
        # What was simulated with another program, or of another drive of that name, is not known.
        self._drive = f"{__version__} {device(str(base['device']))}"
        self.weights = weights
        self.simulated = 0
        self.refusals: Counter[str] = Counter()
        """Why points are no drive, by how often."""
        self._known: dict[str, Prediction] = {}
        self._store = None if store is None else KeptRows(store)
        for row in [] if self._store is None else self._store.values():
            key, rows = row.items_of(2)
            self._known[key.text()] = _prediction(rows)
        self._drives = FilledDrives()
        self._pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)

    def why_refused(self) -> str:
        """Return the commonest reason for which points are no drive."""
        found = self.refusals.most_common(1)
        return found[0][0] if found else "--fix and --free leave no values to try"

    def close(self) -> None:
        """End its threads, and remove the states of drives."""
        self._pool.shutdown(cancel_futures=True)
        self._drives.close()

    def compare(
        self,
        points: Sequence[dict[str, Value]],
        conditions: Sequence[Condition],
        effort: Effort,
    ) -> list[list[Term] | None]:
        """Compare all conditions with their simulations at each point, side by side.

        None for a point at which there is no such drive.
        """
        keys = [[self._key(point, each, effort) for each in conditions] for point in points]
        missing = {
            key: (_told(point, condition), condition)
            for point, of_point in zip(points, keys, strict=True)
            for condition, key in zip(conditions, of_point, strict=True)
            if key not in self._known
        }
        results = {
            key: self._pool.submit(self._simulate, condition, point, effort)
            for key, (point, condition) in missing.items()
        }
        refused = set()
        for key, future in results.items():
            prediction = future.result()
            if prediction is None:
                refused.add(key)
                continue
            self._known[key] = prediction
            self._save(key, prediction)
        self.simulated += len(results)
        return [
            None
            if refused.intersection(of_point)
            else [
                term
                for condition, key in zip(conditions, of_point, strict=True)
                for term in terms(condition, self._known[key], self.weights)
            ]
            for of_point in keys
        ]

    def residuals(
        self,
        points: Sequence[dict[str, Value]],
        conditions: Sequence[Condition],
        effort: Effort,
    ) -> list[NDArray[np.float64] | None]:
        """Return the same as what least squares adds up."""
        compared = self.compare(points, conditions, effort)
        return [None if each is None else residuals(each) for each in compared]

    def _simulate(
        self, condition: Condition, values: dict[str, Value], effort: Effort
    ) -> Prediction | None:
        try:
            return predict(condition, self.base, expand(values), effort, self._drives)
        except UserError as refused:
            self.refusals[str(refused).removeprefix("--set: ")] += 1
            return None

    def _key(self, values: dict[str, Value], condition: Condition, effort: Effort) -> str:
        """Name a simulation: values that differ by less than the scenario has are one."""
        jobs = [
            (job.options, {op: (m.count, m.percentile_ns) for op, m in job.measured.items()})
            for job in condition.jobs
        ]
        what = [
            _VERSION,
            self._drive,
            self.base,
            sorted(overrides(expand(_told(values, condition))).items()),
            jobs,
            list(vars(effort).values()),
        ]
        text = json.dumps(what, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def _save(self, key: str, prediction: Prediction) -> None:
        if self._store is not None:
            rows = [[*where, vars(simulated)] for where, simulated in prediction.items()]
            self._store.append([key, rows])


def _told(values: dict[str, Value], condition: Condition) -> dict[str, Value]:
    """Return the values that a condition depends on: without writes, none of programs."""
    if has_writes(condition):
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
