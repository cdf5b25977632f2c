"""The lower bound of each die, and the policy that its relaxation suggests."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from reprieve.experiments.identity import digest
from reprieve.parallel import Watch
from reprieve_studies.deadline.benches import Bench
from reprieve_studies.deadline.families import Keys
from reprieve_studies.runs import Bench as Engine
from reprieve_studies.theory.suspension_bound import Die, FromRelaxation, Relaxation

RELAXED = "relaxation"
"""The family of the policies that relaxations suggest."""
_PRICE = "relaxation.price"
_PRICES = (1.5, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512)
_STEP_US = 2.5
"""Of these policies; it divides the times of the dies."""
_ROUGH_US = 5.0
"""Of the search for the price with the largest bound."""


def relaxed() -> list[Keys]:
    """Return the points of the policies: prices of a late read, in suspensions."""
    return [{_PRICE: price} for price in _PRICES]


def policy(bench: Bench, keys: Keys) -> FromRelaxation | None:
    """Return the policy of such a point; None for keys of the drive."""
    if _PRICE not in keys:
        return None
    assert bench.die is not None, bench.name
    return FromRelaxation(bench.die, _STEP_US, keys[_PRICE])


def bounds(
    benches: Iterable[Bench], steps_us: Sequence[float], engine: Engine
) -> Mapping[str, Mapping[str, float]]:
    """Return suspensions a second that every policy needs, by bench, then by step in µs.

    Under `any order`, the last, what holds if reads may overtake others, at the finest step.
    """
    works = {
        bench.name: (
            digest("bound", str(bench.die), str(bench.late_share), str(steps_us)),
            partial(_bounds, bench.die, bench.late_share, steps_us),
        )
        for bench in benches if bench.die is not None
    }  # fmt: skip
    return engine.once("bounding", works)


def _bounds(
    die: Die, late_share: float, steps_us: Sequence[float], _watch: Watch
) -> Mapping[str, float]:
    price, other = (
        Relaxation(die, _ROUGH_US, in_order).best_price(late_share) for in_order in (True, False)
    )
    found = {f"{step:g}": Relaxation(die, step).per_s(late_share, price) for step in steps_us}
    return {**found, "any order": Relaxation(die, steps_us[-1], False).per_s(late_share, other)}
