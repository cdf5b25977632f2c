"""The search: reads alone first, then programs, then everything together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from reprieve._native import UserError
from reprieve.calibration.evaluate import Evaluator, Step
from reprieve.calibration.evolve import evolve
from reprieve.calibration.fio_results import Condition
from reprieve.calibration.parameters import PROGRAM, Parameter, Value
from reprieve.calibration.ranges import ANY_PROGRAM_US, DIES, has_writes, program_range
from reprieve.calibration.replay import Effort

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NOWHERE = (
    "none of the drives that were tried for {what} can be built; the values of --fix and --start "
    "must go with the ranges of --free"
)
_FIRST = 2
"""Steps of least squares for every combination of choices, before the best are followed."""
_CONVERGED = 2e-3
"""Least squares end when a step changes sum or point by less than this share."""
DIFFERENCE = 0.04
"""Step of a derivative, relative to a value: several times what the noise of a run hides."""


@dataclass(frozen=True)
class Depth:
    """How long is searched."""

    screened: int = 8
    """Points that are tried for each combination of choices, spread by Sobol's sequence."""
    kept: int = 2
    """Combinations of choices that are followed further."""
    iterations: int = 5
    """Steps of least squares for each of them."""
    last: int = 6
    """And of all parameters together."""
    population: int = 5
    """Points of a generation for each parameter of programs; a power of two follows."""
    generations: int = 40
    starts: int = 2
    """Evolutions, each from points of its own."""
    coarse: Effort = field(default_factory=lambda: Effort(6_000, 12 << 20, 4.0))
    fine: Effort = field(default_factory=lambda: Effort(15_000, 24 << 20, 10.0))
    final: Effort = field(default_factory=lambda: Effort(40_000, 48 << 20, 20.0))
    """How much is simulated in the steps of all parameters together, and for the intervals."""


QUICK = Depth(
    *(4, 2, 3, 5, 4, 20, 1),
    *(Effort(3_000, 8 << 20, 3.0), Effort(8_000, 16 << 20, 5.0), Effort(20_000, 24 << 20, 10.0)),
)


@dataclass(frozen=True)
class Fit:
    """A point of the search, and how far it is from the measurements."""

    values: dict[str, Value]
    cost: float
    """Half the sum of squared residuals, as `residuals` has them."""


@dataclass
class Search:
    """Looks for the values at which simulated and measured conditions differ least."""

    conditions: Sequence[Condition]
    parameters: Sequence[Parameter]
    fixed: dict[str, Value]
    evaluator: Evaluator
    depth: Depth
    step: Step
    seed: int = 1
    runners_up: list[Fit] = field(default_factory=list)
    """The points that were followed, the best first."""

    def run(self) -> Fit:
        """Return the best point; UserError if there is a drive nowhere."""
        fits = self._reads(dict(self.fixed))
        mixed = [each for each in self.conditions if has_writes(each)]
        of_programs = _of_programs(self.parameters)
        if of_programs and mixed:
            fits = self._programs(fits[0].values, mixed)
        self.runners_up = fits
        free = [each for each in self.parameters if not each.choices]
        last, final = self.depth.last, self.depth.final
        return self._polish("all", free, fits[0], self.conditions, last, final)

    def reads_alone(self) -> Fit:
        """Return the best point for the conditions without writes."""
        return self._reads(dict(self.fixed))[0]

    def programs(self, known: dict[str, Value]) -> Fit:
        """Return the best point for programs, with everything else as it is known."""
        return self._programs(known, self.conditions)[0]

    def _programs(self, known: dict[str, Value], conditions: Sequence[Condition]) -> list[Fit]:
        """Return the best points for programs, the best first.

        Choices and numbers of programs trade against each other in many ways, and what one is
        best at depends on the others; so they evolve together.
        """
        parameters = _of_programs(self.parameters)
        free = [each for each in parameters if not each.choices]
        best = []
        for start in range(self.depth.starts):

            def told(done: int, start: int = start) -> None:
                what = f"programs: evolution {start + 1} of {self.depth.starts}"
                self.step(what, done, self.depth.generations)

            tried = evolve(
                parameters,
                known,
                lambda points: self._judged(points, conditions),
                self._narrowed,
                self.depth.population,
                self.depth.generations,
                self.seed + start,
                told,
            )
            if not tried:
                raise UserError(_NOWHERE.format(what="programs"))
            best += _one_of_each([Fit(point, cost) for cost, point in tried], parameters)
        return self._followed("programs", free, best, conditions)

    def _judged(
        self, points: Sequence[dict[str, Value]], conditions: Sequence[Condition]
    ) -> list[float | None]:
        found = self.evaluator.residuals(points, conditions, self.depth.coarse)
        return [None if each is None else float(each @ each) / 2 for each in found]

    def _reads(self, known: dict[str, Value]) -> list[Fit]:
        of_programs = _of_programs(self.parameters)
        of_reads = [each for each in self.parameters if each not in of_programs]
        reads = [each for each in self.conditions if not has_writes(each)]
        return self._stage("reads", of_reads, known, reads)

    def _stage(
        self,
        what: str,
        parameters: Sequence[Parameter],
        known: dict[str, Value],
        conditions: Sequence[Condition],
    ) -> list[Fit]:
        """Screen every combination of choices, and follow the best of them; the best first."""
        chosen = [each for each in parameters if each.choices]
        free = [each for each in parameters if not each.choices]
        found = []
        combinations = list(product(*(each.choices for each in chosen)))
        for number, combination in enumerate(combinations):
            self.step(f"{what}: screening", number, len(combinations))
            values = known | dict(zip((each.key for each in chosen), combination, strict=True))
            points = self._spread(self._narrowed(free, values), values)
            for fit in self._costs(points, conditions, self.depth.coarse):
                found.append((fit, values))
        if not found:
            raise UserError(_NOWHERE.format(what=what))
        screened = _best_of_each(found)
        if len(screened) > self.depth.kept:
            screened = [
                self._polish(
                    *(what, self._narrowed(free, fit.values), fit, conditions),
                    *(_FIRST, self.depth.coarse),
                )
                for fit in self._told(f"{what}: first steps", screened)
            ]
        return self._followed(what, free, screened, conditions)

    def _followed(
        self,
        what: str,
        free: Sequence[Parameter],
        starts: Sequence[Fit],
        conditions: Sequence[Condition],
    ) -> list[Fit]:
        """Go on from the best of the starts by least squares; the best first."""
        kept = sorted(starts, key=_cost)[: self.depth.kept]
        followed = [
            self._polish(
                *(what, self._narrowed(free, fit.values), fit, conditions),
                *(self.depth.iterations, self.depth.fine),
            )
            for fit in self._told(f"{what}: following", kept)
        ]
        return sorted(followed, key=_cost)

    def _told(self, what: str, fits: Sequence[Fit]) -> Iterator[Fit]:
        for number, fit in enumerate(fits):
            self.step(what, number, len(fits))
            yield fit

    def _narrowed(self, free: Sequence[Parameter], values: dict[str, Value]) -> list[Parameter]:
        """Return parameters with the range of a program that goes with a number of dies."""
        dies = values.get(DIES)
        planes = values.get("geometry.planes_per_die")
        if not isinstance(dies, str) or not isinstance(planes, int):
            return list(free)
        channels, _, each = dies.partition("x")
        range_ = program_range(self.conditions, int(channels) * int(each), planes)
        generic = {each.key: each for each in self.parameters}.get(PROGRAM)
        # A range that was given stays as it is.
        is_default = generic is not None and (generic.low, generic.high) == ANY_PROGRAM_US
        return [range_ if each.key == PROGRAM and is_default else each for each in free]

    def _spread(
        self, free: Sequence[Parameter], values: dict[str, Value]
    ) -> list[dict[str, Value]]:
        import numpy as np
        from scipy.stats import qmc

        if not free:
            return [values]
        low, high = np.array([each.positions() for each in free]).T
        drawn = qmc.Sobol(len(free), seed=self.seed).random(self.depth.screened)
        # The first is where the search would begin by itself.
        positions = [
            np.array([each.start() for each in free]),
            *(low + drawn[1:] * (high - low)),
        ]
        return [values | _values(free, position) for position in positions]

    def _costs(
        self,
        points: Sequence[dict[str, Value]],
        conditions: Sequence[Condition],
        effort: Effort,
    ) -> list[Fit]:
        found = self.evaluator.residuals(points, conditions, effort)
        return [
            Fit(point, float(each @ each) / 2)
            for point, each in zip(points, found, strict=True)
            if each is not None
        ]

    def _polish(
        self,
        what: str,
        free: Sequence[Parameter],
        start: Fit,
        conditions: Sequence[Condition],
        iterations: int,
        effort: Effort,
    ) -> Fit:
        """Go on by least squares, all derivatives of a point side by side."""
        import numpy as np
        from scipy.optimize import least_squares

        if not free:
            return self._costs([start.values], conditions, effort)[0]
        low, high = np.array([each.positions() for each in free]).T
        inside = np.log([_number(start.values[each.key]) for each in free])
        done = 0

        def residuals(position: NDArray[np.float64]) -> NDArray[np.float64]:
            values = start.values | _values(free, position)
            found = self.evaluator.residuals([values], conditions, effort)[0]
            return np.full(1, 1e6) if found is None else found

        def jacobian(position: NDArray[np.float64]) -> NDArray[np.float64]:
            nonlocal done
            self.step(f"{what}: least squares", done, iterations)
            done += 1
            both = effort == self.depth.final
            return derivatives(
                self.evaluator, free, start.values, position, conditions, effort, both
            )

        found = least_squares(
            residuals,
            np.clip(inside, low + 1e-6, high - 1e-6),
            jac=jacobian,
            bounds=(low, high),
            max_nfev=2 * iterations + 2,
            ftol=_CONVERGED,
            xtol=_CONVERGED,
        )
        return Fit(start.values | _values(free, found.x), float(found.cost))


def derivatives(
    evaluator: Evaluator,
    free: Sequence[Parameter],
    values: dict[str, Value],
    position: NDArray[np.float64],
    conditions: Sequence[Condition],
    effort: Effort,
    to_both_sides: bool = True,
) -> NDArray[np.float64]:
    """Return how each residual changes with the logarithm of each parameter, by differences.

    Differences to both sides even out what jumps: a percentile between two peaks does.
    """
    import numpy as np

    sides = (1, -1) if to_both_sides else (1,)
    points = [values | _values(free, position)]
    for number, parameter in enumerate(free):
        for side in sides:
            moved = position.copy()
            moved[number] += side * _width(parameter, position[number])
            points.append(values | _values(free, moved))
    here, *found = evaluator.residuals(points, conditions, effort)
    columns = []
    for number, parameter in enumerate(free):
        width = _width(parameter, position[number])
        up = found[len(sides) * number]
        down = found[len(sides) * number + 1] if to_both_sides else None
        if up is not None and down is not None:
            columns.append((up - down) / (2 * width))
        elif up is not None and here is not None:
            columns.append((up - here) / width)
        elif down is not None and here is not None:
            columns.append((here - down) / width)
        else:
            raise UserError(f"{parameter.key}: no drive can be built beside the one found")
    return np.stack(columns, axis=1)


def _width(parameter: Parameter, position: float) -> float:
    """Return the step of a difference; a whole number has to change by one at least."""
    return max(DIFFERENCE, 1.01 / math.exp(position)) if parameter.whole else DIFFERENCE


def _values(free: Sequence[Parameter], position: NDArray[np.float64]) -> dict[str, Value]:
    pairs = zip(free, position, strict=True)
    return {parameter.key: parameter.at(float(each)) for parameter, each in pairs}


def _number(value: Value) -> float:
    if not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is searched as a number")
    return float(value)


def _of_programs(parameters: Sequence[Parameter]) -> list[Parameter]:
    """List what reads alone say nothing about."""
    prefixes = ("program.", "suspension.", "buffer.", "timing.t_suspend", "timing.t_buffer")
    names = ("geometry.planes_per_die", "host.t_controller_write_us", "timing.t_erase_us")
    return [each for each in parameters if each.key.startswith(prefixes) or each.key in names]


def _best_of_each(found: Sequence[tuple[Fit, dict[str, Value]]]) -> list[Fit]:
    best: dict[str, Fit] = {}
    for fit, values in found:
        name = repr(sorted(values.items(), key=lambda item: item[0]))
        if name not in best or fit.cost < best[name].cost:
            best[name] = fit
    return sorted(best.values(), key=_cost)


def _one_of_each(fits: Sequence[Fit], parameters: Sequence[Parameter]) -> list[Fit]:
    """Return the best point of each combination of choices, from points the best first."""
    chosen = [each.key for each in parameters if each.choices]
    best: dict[tuple[Value, ...], Fit] = {}
    for fit in fits:
        best.setdefault(tuple(fit.values[key] for key in chosen), fit)
    return list(best.values())


def _cost(fit: Fit) -> float:
    return fit.cost
