"""Points of a sweep by load: the base that each is measured by, and points no drive can have."""

from collections.abc import Iterable, Sequence
from functools import cache

from reprieve._native import UserError
from reprieve.experiments.designs import Point
from reprieve.experiments.plan import Plan, Value
from reprieve.roles import by_load, is_bound, is_environment, is_plain

_POLICIES = ("policy", "scheduling.policy", "suspension.program", "suspension.erase", "device")
"""Keys that decide whether a drive has read priority without suspension."""


def given_keys(plan: Plan) -> list[int]:
    """Return the places of the keys that vary and are given, not chosen."""
    return [place for place, key in enumerate(plan.keys) if is_environment(key)]


def bound_points(plan: Plan, points: Iterable[Sequence[Value]]) -> list[bool]:
    """Return for the values of each point whether no drive can have one of them."""
    return [any(map(is_bound, plan.keys, values)) for values in points]


def bases(plan: Plan, points: Iterable[Point]) -> dict[int, int]:
    """Return for the index of each point that of the one that it is measured by.

    That is the first with read priority and no suspension under the same load, else the first of
    the load. Where no load has two points, all are measured by the first.
    """
    given = given_keys(plan)
    deciding = [place for place, key in enumerate(plan.keys) if key in _POLICIES]

    @cache
    def has_read_priority(values: tuple[str, ...]) -> bool:
        sets = [f"{plan.keys[place]}={text}" for place, text in zip(deciding, values, strict=True)]
        try:
            return is_plain(plan.source.with_sets(sets).resolve())
        except UserError:
            return False  # Such as a device under which another key does not apply.

    made = {point.index: point for point in points}

    def base(indices: Sequence[int]) -> int:
        plain = (index for index in indices if deciding and has_read_priority(texts(made[index])))
        return next(plain, indices[0])

    def texts(point: Point) -> tuple[str, ...]:
        sets = point.sets(plan)
        return tuple(sets[place].partition("=")[2] for place in deciding)

    loads = {index: repr([each.values[at] for at in given]) for index, each in made.items()}
    return by_load(loads, base)
