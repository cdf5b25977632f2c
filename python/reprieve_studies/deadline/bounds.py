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
    benches: Iterable[Bench], late: Mapping[str, float], steps_us: Sequence[float], engine: Engine
) -> Mapping[str, Mapping[str, float]]:
    """Return suspensions a second that every policy needs, by bench, then by step in µs.

    At the finest step also under `any order`, if reads may overtake others, and under `as late`,
    with the share of late reads in `late`, by bench.
    """
    works = {
        bench.name: (
            digest("bound", *map(str, (bench.die, bench.late_share, late[bench.name], steps_us))),
            partial(_bounds, bench.die, bench.late_share, late[bench.name], steps_us),
        )
        for bench in benches if bench.die is not None
    }  # fmt: skip
    return engine.once("bounding", works)


def _bounds(
    die: Die, late_share: float, late: float, steps_us: Sequence[float], _watch: Watch
) -> Mapping[str, float]:
    def bound(step_us: float, share: float, in_order: bool = True) -> float:
        price = Relaxation(die, _ROUGH_US, in_order).best_price(share)
        return Relaxation(die, step_us, in_order).per_s(share, price)

    finest = steps_us[-1]
    found = {f"{step:g}": bound(step, late_share) for step in steps_us}
    return {
        **found,
        "any order": bound(finest, late_share, in_order=False),
        "as late": bound(finest, late),
    }
