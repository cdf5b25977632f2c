"""The points of a sweep whose design does not wait for results: grids, lists, drawn points."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from reprieve.experiments.plan import Axis, Plan, Range, Value
from reprieve.extras import need
from reprieve.named_policies import short
from reprieve.scenario import toml_value

# Points that are drawn at once, a power of two.
_SOBOL_BLOCK = 4096

# Decimal places of a time that is whole in nanoseconds, by its unit.
_DIGITS = {"_us": 3, "_ms": 6, "_s": 9}


@dataclass(frozen=True)
class Point:
    """One combination of values, which runs with every seed."""

    index: int
    values: tuple[Value, ...]
    """In the order of the plan's keys."""

    def sets(self, plan: Plan, seed: int | None = None) -> tuple[str, ...]:
        """Return the overrides that make this point, `KEY=VALUE`, under a seed if one is given."""
        own = () if seed is None else (f"seed={seed}",)
        pairs = zip(plan.keys, self.values, strict=True)
        return (*(f"{key}={toml_value(value)}" for key, value in pairs), *own)

    def label(self, plan: Plan) -> str:
        """Return the point as a reader writes it."""
        pairs = zip(plan.keys, self.values, strict=True)
        return " ".join(f"{key.rsplit('.', 1)[-1]}={word(key, value)}" for key, value in pairs)


def word(key: str, value: Value) -> str:
    """Return a value as a reader writes it: a string without its quotes, a policy by its name."""
    return str(short(key, value)) if isinstance(value, str) else toml_value(value)


def points(plan: Plan) -> Iterator[Point]:
    """Yield the points of a plan, but for a search, whose points depend on results."""
    made: Iterator[Sequence[Value]]
    if plan.design == "grid":
        made = product(*(_steps(plan, axis) for axis in plan.axes))
    elif plan.design == "list":
        made = ([row[key] for key in plan.keys] for row in plan.listed)
    else:
        made = _random(plan) if plan.design == "random" else _sobol(plan)
    return (Point(index, tuple(values)) for index, values in enumerate(made))


def size(plan: Plan) -> int:
    """Return the number of points of a plan."""
    if plan.design == "list":
        return len(plan.listed)
    if plan.design == "grid":
        return math.prod(len(_steps(plan, axis)) for axis in plan.axes)
    return plan.samples


def _steps(plan: Plan, axis: Axis) -> Sequence[Value]:
    """Return the values of an axis of a grid: evenly spaced in a range."""
    if not isinstance(axis.values, Range):
        return axis.values
    span, count = axis.values, axis.values.points
    assert count is not None, "a range of a grid has points, which the plan has checked"
    steps: list[int | float] = []
    for place in range(count):
        share = place / (count - 1)
        if place in (0, count - 1):
            steps.append(span.high if place else span.low)  # exact, whatever the powers round to
        elif span.is_log:
            steps.append(span.low * (span.high / span.low) ** share)
        else:
            steps.append(span.low + (span.high - span.low) * share)
    if not span.is_whole:
        return [fitting(axis, step) for step in steps]
    steps = [round(step) for step in steps]
    if len(set(steps)) < len(steps):
        raise plan.wrong(
            f"axes.{axis.key}: {count} whole numbers from {span.low} to {span.high} are not "
            "all different; ask for fewer points"
        )
    return steps


def _random(plan: Plan) -> Iterator[Sequence[Value]]:
    """Draw each key of each point by itself; more samples leave the first ones as they are."""
    # Python promises that the numbers of a seed stay the same from version to version.
    draw = random.Random(plan.design_seed)
    for _ in range(plan.samples):
        yield [at(axis, draw.random()) for axis in plan.axes]


def _sobol(plan: Plan) -> Iterator[Sequence[Value]]:
    if plan.samples & (plan.samples - 1):
        raise plan.wrong(
            f"samples: is {plan.samples}; Sobol points are balanced at powers of two, such as "
            f"{1 << (plan.samples.bit_length() - 1)} or {1 << plan.samples.bit_length()}"
        )
    qmc = need("scipy.stats.qmc", "the design sobol", "scipy")
    sequence = qmc.Sobol(len(plan.axes), scramble=True, rng=plan.design_seed)
    block = min(plan.samples, _SOBOL_BLOCK)
    for _ in range(plan.samples // block):
        for row in sequence.random(block).tolist():
            yield [at(axis, share) for axis, share in zip(plan.axes, row, strict=True)]


def at(axis: Axis, share: float) -> Value:
    """Return the value at a share in [0, 1) of an axis; each of a list is equally wide."""
    span = axis.values
    if not isinstance(span, Range):
        return span[int(share * len(span))]
    # Every whole number has the width up to the next one.
    top = span.high + 1 if span.is_whole else span.high
    if span.is_log:
        return fitting(axis, span.low * (top / span.low) ** share)
    return fitting(axis, span.low + (top - span.low) * share)


def fitting(axis: Axis, drawn: float) -> int | float:
    """Return what a key can have: whole numbers rounded down, times to a whole nanosecond."""
    span = axis.values
    assert isinstance(span, Range), "only what is drawn from a range has to be made fit"
    if span.is_whole:
        return min(span.high, math.floor(drawn))
    for unit, digits in _DIGITS.items():
        if axis.key.endswith(unit):
            drawn = round(drawn, digits)
    return min(float(span.high), drawn)
