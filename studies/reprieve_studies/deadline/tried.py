"""Families of policies and a policy solved on a grid, each at its best point that was tried."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from reprieve import UserError
from reprieve.experiments.identity import digest
from reprieve.parallel import Watch
from reprieve_studies.deadline.die_bench import FromGrid, Measured, measure
from reprieve_studies.deadline.grid import Die, Grid, Solved
from reprieve_studies.runs import Bench

__all__ = ["Die", "Measured", "Settings", "Tried", "tried"]

GRID = "grid"
"""The kind of the policies that are solved on a grid: the best that was tried, and no bound."""
_PRICES = tuple(0.3 * 1.3**power for power in range(18))
_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_AGES = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.84)
_LEVELS = (0.98, 0.99, 1.0, 1.01, 1.02)


@dataclass(frozen=True)
class Settings:
    """Die, service level and precision of a search."""

    die: Die
    late_share: float = 0.001
    """Reads that may take longer than their service level."""
    step_us: float = 5.0
    """Of the grid; it has to divide the times of the die."""
    reads: int = 100_000
    """Of each simulation."""


@dataclass(frozen=True)
class Row:
    """The best of a kind of policy."""

    kind: str
    choice: str
    measured: Measured


@dataclass(frozen=True)
class Tried:
    """The best of each kind that keeps the reads in time; a kind that cannot is left out."""

    rows: Sequence[Row]
    solved: Solved | None
    """Expectation of the grid for its best policy; None: none keeps the reads in time."""


def _row(work: Callable[[], Measured], _watch: Watch) -> dict[str, float]:
    return asdict(work())


_Job = tuple[str, str, Callable[[], Measured], Solved | None]


def tried(settings: Settings, engine: Bench) -> Tried:
    """Solve the die on a grid for a range of prices; simulate its policies and today's."""
    _check(settings)
    jobs = [*_of_today(settings), *_of_grid(settings)]
    works = {
        (kind, choice): (digest("tried", str(settings), kind, choice), partial(_row, work))
        for kind, choice, work, _ in jobs
    }
    found = engine.once("measuring", works)
    best: dict[str, tuple[Row, Solved | None]] = {}
    for kind, choice, _, solved in jobs:
        measured = Measured(**found[kind, choice])
        if measured.late_share > settings.late_share:
            continue
        row = Row(kind, choice, measured)
        if kind not in best or _rate(row) < _rate(best[kind][0]):
            best[kind] = row, solved
    solution = best[GRID][1] if GRID in best else None
    return Tried([row for row, _ in best.values()], solution)


def _rate(row: Row) -> float:
    return row.measured.suspensions_per_s


def _check(settings: Settings) -> None:
    die = settings.die
    if not 0 < die.read_load < 1:
        raise UserError(f"load = {die.read_load:g}: must be above 0 and below 1")
    if not 0 < settings.late_share < 1:
        raise UserError(f"late share = {settings.late_share:g}: must be above 0 and below 1")
    if not settings.step_us > 0:
        raise UserError(f"step = {settings.step_us:g} µs: must be above 0")
    if not die.slo_us > die.read_us + die.entry_us > 0:
        least = die.read_us + die.entry_us
        raise UserError(
            f"service level = {die.slo_us:g} µs: must be above {least:g} µs, which a suspension "
            "and a read take"
        )
    for name, us in (
        ("read", die.read_us),
        ("program", die.program_us),
        ("entry", die.entry_us),
        ("resume", die.resume_us),
    ):
        steps = us / settings.step_us
        must_last = name in ("read", "program")
        if us < 0 or not math.isclose(steps, round(steps)) or (us == 0 and must_last):
            raise UserError(
                f"--{name}-us {us:g}: must be a multiple of the grid's step, "
                f"{settings.step_us:g} µs"
            )


def _of_today(settings: Settings) -> list[_Job]:
    die = settings.die
    jobs: list[_Job] = []

    def add(kind: str, choice: str, sets: Mapping[str, Any]) -> None:
        jobs.append((kind, choice, lambda: measure(die, settings.reads, sets), None))

    for kept in _SHARES:
        for progress in _SHARES[:-1]:
            keys = {
                "suspension.policy": "threshold",
                "suspension.min_remaining_us": round(kept * die.program_us),
                "suspension.min_progress_us": round(progress * die.program_us),
            }
            add("static knobs", _words(keys), keys)
    for reads in (2, 3, 4, 5, 6):
        for age in _AGES:
            keys = {
                "suspension.policy": "batch",
                "suspension.batch.reads": reads,
                "suspension.batch.oldest_us": round(age * die.slo_us),
            }
            add("batch", _words(keys), keys)
    for level in _LEVELS:
        for margin in (0, 2, 3):
            keys = {
                "suspension.policy": "deadline",
                "suspension.deadline.read_slo_us": round(level * die.slo_us),
                "suspension.deadline.margin_reads": margin,
            }
            add("deadline", _words(keys), keys)
    return jobs


def _words(keys: Mapping[str, Any]) -> str:
    named = [(key.rpartition(".")[2], value) for key, value in keys.items()]
    return ", ".join(f"{name} {value}" for name, value in named if name != "policy")


def _of_grid(settings: Settings) -> list[_Job]:
    grid = Grid(settings.die, settings.step_us)

    def job(price: float) -> _Job:
        solved = grid.solve(price)

        def run() -> Measured:
            return measure(settings.die, settings.reads, {}, FromGrid(grid, solved))

        return (GRID, f"a late read worth {price:.4g} suspensions", run, solved)

    return [job(price) for price in _PRICES]
