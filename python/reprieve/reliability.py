"""Raw bit errors of a part by its model: of single pages, and before and after a test of it."""

from typing import Any, NamedTuple

from reprieve import _native
from reprieve._native import UserError
from reprieve.die_rig import bench
from reprieve.scenario import Scenario, Source


class BeforeAfter(NamedTuple):
    """Rates of raw bit errors of a block before a characterisation and after it."""

    before: float
    after: float


class CharacterisedRber(NamedTuple):
    """Bit error rates of Figure 9 of Zambelli et al. 2021, by the model of a part."""

    suspended: BeforeAfter
    """Of the block whose programs were suspended, read as soon as it is written."""
    untouched: BeforeAfter
    """Of a block that was written before the test and left alone."""


def rber(
    device: str | Scenario,
    cycles: float,
    retention_days: float = 0,
    reads: float = 0,
    suspensions: float = 0,
    **overrides: Any,
) -> float:
    """Return the rate of raw bit errors of a page of a device's part, or of a scenario's.

    `cycles` and `reads` are those of its block, `suspensions` those of the program that wrote it.
    `overrides` are keys of the scenario, as for `run`.
    """
    source = bench(device, overrides)
    page = (cycles, retention_days, reads, suspensions)
    _check(cycles=cycles, retention_days=retention_days, reads=reads, suspensions=suspensions)
    return _native.rber(source.text, source.path, list(source.sets), [page])[0]


def characterised_rber(
    device: str | Scenario,
    cycles: float,
    run_cycles: float,
    suspensions: float,
    elapsed_days: float,
    **overrides: Any,
) -> CharacterisedRber:
    """Return the rates before and after a characterisation of a device's part, or a scenario's.

    Both blocks have `cycles` before; the test adds `run_cycles` to one, each program of which is
    suspended `suspensions` times, and takes `elapsed_days`, in which the data of the other ages.
    What a suspension costs is `reliability.wear_per_program_suspend`. `overrides` are keys of the
    scenario, as for `run`.
    """
    return characterised(bench(device, overrides), cycles, run_cycles, suspensions, elapsed_days)


def characterised(
    source: Source, cycles: float, run_cycles: float, suspensions: float, elapsed_days: float
) -> CharacterisedRber:
    """Return the reliability of a scenario of the rig."""
    _check(cycles=cycles, run_cycles=run_cycles, suspensions=suspensions, elapsed_days=elapsed_days)
    suspended, untouched = _native.characterised_rber(
        source.text, source.path, list(source.sets), (cycles, run_cycles, suspensions, elapsed_days)
    )
    return CharacterisedRber(BeforeAfter(*suspended), BeforeAfter(*untouched))


def _check(**amounts: float) -> None:
    for name, amount in amounts.items():
        if not 0 <= amount < float("inf"):
            raise UserError(f"{name} = {amount!r} must be a number of at least 0")
