"""Fits of a device to a measured drive: steps on a linear model of the points nearby."""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError
from reprieve.calibration.evaluate import Evaluator
from reprieve.calibration.identify import Interval, interval_of
from reprieve.calibration.least_squares import INSIDE, Fit, number, values_at
from reprieve.calibration.objective import PERCENT_MAX, Term, Weights, residuals
from reprieve.calibration.parameters import PROGRAM, STEPS, Parameter, Value
from reprieve.calibration.replay import Effort
from reprieve.drives.folders import MeasuredDrive
from reprieve.drives.rates import beyond
from reprieve.parallel import Step, silent

__all__ = ["DriveFit", "fit", "is_fitted"]

FIGURES_PER_PARAMETER = 3
"""Figures that are fitted for each free parameter, at least: noise is not to be fitted."""
_READS = 8_000
_LAST_READS = 24_000
_ROUNDS = 10
_LAST_POINTS = 4
"""Points of least cost that are simulated for longer, of which the best is the fit."""
_SECONDS_MAX = 20.0
_REACH = 0.08
"""Distance of the first points from the start, in logarithms; a model holds for some times that."""
_REACH_MOST = 0.3
_REACH_LEAST = 0.02
_RIDGES = (0.01, 0.3, 5.0)
"""Dampings of the steps that a round tries, relative to the diagonal of the normal equations."""
_RIDGE_OF_MODEL = 1e-4
"""Keeps slopes finite in directions in which no point lies."""
_MEDIAN = 50.0


@dataclass(frozen=True)
class DriveFit:
    """Values that were found, their intervals, and what is left of the differences."""

    fit: Fit
    intervals: tuple[Interval, ...]
    figures: int
    simulated: int


def is_fitted(term: Term, is_beyond: bool) -> bool:
    """Return whether a figure takes part: reads to p99.9, the median write, rates of all jobs.

    Slow writes show throttles of firmware, and where it `is_beyond` what the drive sustains all
    but the medians its arbitration; they would bend everything else.
    """
    if term.what == "iops":
        return True
    percent = float(term.what[1:])
    if term.direction == "read" and not is_beyond:
        return _MEDIAN <= percent <= PERCENT_MAX
    return term.direction in ("read", "write") and percent == _MEDIAN


def fit(
    drive: MeasuredDrive,
    *,
    rounds: int = _ROUNDS,
    reads: int = _READS,
    store: Path | None = None,
    workers: int | None = None,
    step: Step = silent,
) -> DriveFit:
    """Fit the free parameters of a drive's `fit.toml` to its fitted conditions.

    The result of the same arguments is the same; what is in `store`, a directory, is not simulated
    again. Raises UserError if the drive has no device or nothing free, or has more free parameters
    than its figures bear.
    """
    if drive.device is None or not drive.free:
        raise UserError(f"{drive.folder}: needs a device, and free parameters in fit.toml")
    if len(drive.ranges.keys() & {PROGRAM, STEPS}) == 1:
        where = drive.folder / "fit.toml"
        raise UserError(f"{where}: free: {PROGRAM} and {STEPS} must be free together")
    base = {"device": drive.device, **drive.scenario}
    with closing(Evaluator(base, Weights(), store, workers, step)) as evaluator:
        return _Search(drive, evaluator, reads).run(rounds)


class _Search:
    """Points that were simulated, and the next ones."""

    def __init__(self, drive: MeasuredDrive, evaluator: Evaluator, reads: int) -> None:
        self._free: Sequence[Parameter] = drive.free
        self._conditions = drive.fitted_conditions
        self._evaluator = evaluator
        self._effort = Effort(reads, seconds_max=_SECONDS_MAX)
        self._low, self._high = np.array([each.positions() for each in self._free]).T
        self._beyond = beyond(drive.conditions)
        self._where = str(drive.folder / "fit.toml")
        self._points: list[NDArray[np.float64]] = []
        self._residuals: list[NDArray[np.float64]] = []

    def run(self, rounds: int) -> DriveFit:
        """Return the best point of all rounds."""
        start = np.array([each.start() for each in self._free])
        self._simulate([start])
        figures, free = len(self._residuals[0]), len(self._free)
        if figures < FIGURES_PER_PARAMETER * free:
            raise UserError(
                f"{self._where}: free: {free} parameters for {figures} figures; must be at most "
                f"{figures // FIGURES_PER_PARAMETER}"
            )
        self._simulate(self._star(start))
        reach = _REACH
        for _ in range(rounds):
            best = self._best(1)[0]
            known = len(self._points)
            self._simulate(self._steps(self._points[best], reach))
            is_better = self._best(1)[0] >= known
            reach = min(reach * 1.5, _REACH_MOST) if is_better else max(reach / 1.5, _REACH_LEAST)
        place, found = self._last()
        values = values_at(self._free, place)
        intervals = self._intervals(place, found)
        fitted = Fit(values, float(found @ found) / 2)
        return DriveFit(fitted, intervals, len(found), self._evaluator.simulated)

    def _star(self, start: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return a point beside the start for each parameter."""
        reach = np.minimum(_REACH, (self._high - self._low) / 2)
        return [*(start + np.diag(np.where(start + reach < self._high, reach, -reach)))]

    def _simulate(self, places: Sequence[NDArray[np.float64]]) -> None:
        """Add points with their residuals; what is no drive is left out."""
        values = [values_at(self._free, place) for place in places]
        for place, found in zip(places, self._judged(values, self._effort), strict=True):
            if found is not None:
                self._points.append(place)
                self._residuals.append(found)
        if not self._points:
            raise UserError(f"{self._where}: {self._evaluator.why_refused()}")

    def _judged(
        self, values: Sequence[dict[str, Value]], effort: Effort
    ) -> list[NDArray[np.float64] | None]:
        compared = self._evaluator.compare(values, self._conditions, effort)
        return [
            None
            if terms is None
            else residuals([one for one in terms if is_fitted(one, one.condition in self._beyond)])
            for terms in compared
        ]

    def _best(self, count: int) -> list[int]:
        """Return the numbers of the points of least cost."""
        costs = [float(each @ each) for each in self._residuals]
        return sorted(range(len(costs)), key=costs.__getitem__)[:count]

    def _model(self, at: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fit residuals as a constant and slopes, from points nearby: it evens out their noise."""
        points, found = np.array(self._points), np.array(self._residuals)
        ways = points - at
        distances = np.sqrt((ways**2).sum(axis=1))
        enough = min(2 * len(self._free), len(points) - 1)
        scale = max(float(np.sort(distances)[enough]), _REACH)
        weights = (1 + (distances[:, None] / scale) ** 2) ** -2
        terms = np.hstack([np.ones((len(points), 1)), ways / scale])
        normal = (weights * terms).T @ terms + _RIDGE_OF_MODEL * np.eye(terms.shape[1])
        solved = np.linalg.solve(normal, (weights * terms).T @ found)
        return solved[0], solved[1:].T / scale

    def _steps(self, at: NDArray[np.float64], reach: float) -> list[NDArray[np.float64]]:
        """Return damped steps of the model, and one at random that keeps the model wide."""
        constant, slopes = self._model(at)
        normal, gradient = slopes.T @ slopes, slopes.T @ constant
        diagonal = np.diag(np.diag(normal) + 1e-6)
        ways = [-np.linalg.solve(normal + ridge * diagonal, gradient) for ridge in _RIDGES]
        random = np.random.default_rng(len(self._points)).standard_normal(len(at))
        ways.append(reach * random / math.sqrt(float(random @ random)) * 1.5)
        steps = (np.clip(way, -3 * reach, 3 * reach) for way in ways)
        return [np.clip(at + way, self._low + INSIDE, self._high - INSIDE) for way in steps]

    def _last(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the best of the best points, simulated for longer and under another seed."""
        places = [self._points[each] for each in self._best(_LAST_POINTS)]
        effort = Effort(_LAST_READS, seconds_max=_SECONDS_MAX, seed=2)
        values = [values_at(self._free, place) for place in places]
        found = self._judged(values, effort)
        judged = [(p, r) for p, r in zip(places, found, strict=True) if r is not None]
        return min(judged, key=lambda each: float(each[1] @ each[1]))

    def _intervals(
        self, at: NDArray[np.float64], found: NDArray[np.float64]
    ) -> tuple[Interval, ...]:
        """Return intervals of the linear model, wider by what it leaves unexplained."""
        _, slopes = self._model(at)
        freedom = max(len(found) - len(at), 1)
        excess = max(float(found @ found) / freedom, 1.0)
        normal = slopes.T @ slopes + 1e-9 * np.eye(len(at))
        deviations = np.sqrt(np.diag(np.linalg.inv(normal)) * excess)
        return tuple(
            interval_of(parameter, number(parameter.at(float(place))), float(deviation))
            for parameter, place, deviation in zip(self._free, at, deviations, strict=True)
        )
