"""What a short tail costs in lifetime: suspension policies of the fitted drive, as a front.

Wear is that of `reliability.wear_per_program_suspend` and `wear_per_erase_suspend` (A94, A95),
calculated from the counts of a run: a drive whose cells wear does not start from a saved state.
"""

from collections.abc import Mapping
from types import MappingProxyType

from reprieve import Result
from reprieve_studies.zambelli21.paper import OVER_PROVISIONING
from reprieve_studies.zambelli21.readings import FITTED

MIX = "25W-75R"
QUEUE_DEPTH = 64
WEAR_PER_PROGRAM_SUSPEND = 1e-4
"""Of a cycle: assumed. A block has 256 programs in a cycle, so it is 2.6 % of a program; patents
book suspensions as wear, and none has a figure."""
WEAR_PER_ERASE_SUSPEND = 1e-2
"""Of a cycle: assumed, a hundredth of the erase."""
RATED_CYCLES = 3000
"""Of the part."""
WARRANTY_DAYS = 5 * 365
"""Of `reliability.warranty_days`."""


def _policy(**keys: object) -> dict[str, object]:
    return {f"suspension.{key}": value for key, value in keys.items()}


POLICIES: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "nothing suspended": _policy(
            program="none", erase=False, host_read_suspends=["program", "gc_program"]
        ),
        "erases alone": _policy(program="none", host_read_suspends=["erase"]),
        "2 of a program": _policy(max_per_operation=2),
        "5 of a program": _policy(max_per_operation=5),
        "10 of a program": _policy(max_per_operation=10),
        "10, above 500 µs left": _policy(policy="threshold", min_remaining_us=500),
        "10, above 1000 µs left": _policy(policy="threshold", min_remaining_us=1000),
        "5 slices of a program": _policy(
            program="sliced", slice_iterations=6, t_slice_overhead_us=0
        ),
    }
)
"""Each on the fitted drive."""


def daily_writes(result: Result, pages_per_block: int) -> tuple[float, float] | None:
    """Return drive writes a day over the warranty, with suspensions free and with their wear.

    None if nothing was written.
    """
    flash = result.summary["flash"]
    cycles = flash["programs"] / pages_per_block
    if cycles == 0:
        return None
    suspended = flash["suspensions"]
    worn = (
        WEAR_PER_PROGRAM_SUSPEND * suspended["program"]
        + WEAR_PER_ERASE_SUSPEND * suspended["erase"]
    )
    raw_over_user = 1 / (1 - OVER_PROVISIONING)
    free = RATED_CYCLES * raw_over_user / (float(flash["gc_waf"]) * WARRANTY_DAYS)
    return free, free * cycles / (cycles + worn)


def years(result: Result) -> float | None:
    """Return how long the fitted drive lasts at a drive write a day."""
    daily = daily_writes(result, FITTED.shape.units_per_block)
    return None if daily is None else daily[1] * WARRANTY_DAYS / 365


def points(front: Mapping[str, Result]) -> dict[str, tuple[float, float]]:
    """Return for each policy the p99.99 of reads in µs and the years that the drive lasts."""
    found = {}
    for name, result in front.items():
        life = years(result)
        if life is not None:
            tail_ns = result.summary["requests"]["read"]["latency_ns"]["p99_99"]
            found[name] = (tail_ns / 1e3, life)
    return found


def on_the_front(points: Mapping[str, tuple[float, float]]) -> set[str]:
    """Return the names for which nothing has both a shorter tail and a longer life."""
    return {
        name
        for name, (tail, life) in points.items()
        if not any(
            other_tail <= tail and other_life >= life and (other_tail, other_life) != (tail, life)
            for other_tail, other_life in points.values()
        )
    }
