"""Families of policies and a policy solved on a grid, each at its best point that was tried."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product

from reprieve import SuspensionPolicy
from reprieve.experiments.identity import digest
from reprieve.parallel import Watch
from reprieve_studies.deadline.benches import Bench, die_scenario
from reprieve_studies.deadline.families import Keys, batch, deadline, static, words
from reprieve_studies.deadline.measures import Measured, of_result
from reprieve_studies.runs import Bench as Engine
from reprieve_studies.runs import Setup
from reprieve_studies.theory.suspension_grid import Die, FromGrid, Grid

GRID = "grid"
"""The kind of the policies that are solved on a grid: the best that was tried, and no bound."""
_STEP_US = 5.0
"""Of the grid; it divides the times of the dies."""
_WARM_UP_SHARE = 0.02
_PRICES = tuple(0.3 * 1.3**power for power in range(18))
_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_AGES = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.84)
_LEVELS = (0.98, 0.99, 1.0, 1.01, 1.02)


@dataclass(frozen=True)
class Row:
    """The best of a kind of policy."""

    kind: str
    choice: str
    measured: Measured


def tried(bench: Bench, reads: int, engine: Engine) -> Sequence[Row]:
    """Solve the die on a grid for a range of prices; simulate its policies and today's.

    Return the best of each kind that keeps the reads in time; a kind that cannot is left out.
    """
    die = bench.die
    assert die is not None, bench.name
    works = {
        (kind, choice): (
            digest("tried", str(die), str(reads), kind, choice),
            partial(_simulated, die, reads, keys, policy),
        )
        for kind, choice, keys, policy in (*_of_today(die), *_of_grid(die))
    }
    best: dict[str, Row] = {}
    for (kind, choice), found in engine.once("measuring", works).items():
        row = Row(kind, choice, Measured(**found))
        if row.measured.late_share <= bench.late_share and (
            kind not in best or _rate(row) < _rate(best[kind])
        ):
            best[kind] = row
    return list(best.values())


def _rate(row: Row) -> float:
    return row.measured.suspensions_per_s


def _simulated(
    die: Die, reads: int, keys: Keys, policy: SuspensionPolicy | None, _watch: Watch
) -> Mapping[str, float]:
    return asdict(simulate(die, reads, keys, policy))


def simulate(die: Die, reads: int, keys: Keys, policy: SuspensionPolicy | None = None) -> Measured:
    """Simulate the given number of reads under these keys, or under a policy of one's own."""
    setup = Setup(die_scenario(die, reads, {}), keys)
    result = setup.simulate(requests=True, suspension_policy=policy)
    return of_result(die.slo_us, result, _WARM_UP_SHARE)


_Point = tuple[str, str, Keys, SuspensionPolicy | None]
"""A kind, a choice in words, its keys and its policy."""


def _of_today(die: Die) -> Iterator[_Point]:
    programs, slo_us = die.program_us, die.slo_us
    points = [
        *(("static knobs", static(round(kept * programs), round(progress * programs)))
          for kept, progress in product(_SHARES, _SHARES[:-1])),
        *(("batch", batch(reads, round(age * slo_us)))
          for reads, age in product((2, 3, 4, 5, 6), _AGES)),
        *(("deadline", deadline(round(level * slo_us), margin))
          for level, margin in product(_LEVELS, (0, 2, 3))),
    ]  # fmt: skip
    return ((kind, words(keys), keys, None) for kind, keys in points)


def _of_grid(die: Die) -> Iterator[_Point]:
    grid = Grid(die, _STEP_US)
    for price in _PRICES:
        choice = f"a late read worth {price:.4g} suspensions"
        yield GRID, choice, {}, FromGrid(grid, grid.solve(price))
