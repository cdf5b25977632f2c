"""What the slowest reads of the fitted reading wait for, by the suspensions that are allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.zambelli21.experiment import Slowest, Tail

WAITS: Mapping[str, str] = MappingProxyType(
    {
        "programs": "programs that run on",
        "limit": "programs out of suspensions",
        "suspend": "the end of an iteration",
        "reads": "reads of the host",
        "collection": "reads of collection, and erases",
        "rest": "the channel, and all else",
        "own": "the read's own time",
    }
)
"""What is told apart, and its title."""

_COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "programs": ("by_host_program_ns", "by_gc_program_ns"),
        "limit": ("by_limit_ns",),
        "suspend": ("by_suspend_entry_ns",),
        "reads": ("by_host_read_ns",),
        "collection": ("by_gc_read_ns", "by_erase_ns"),
    }
)
"""Of the blame of a run."""


@dataclass(frozen=True)
class OfALimit:
    """The tail with so many suspensions, over the seeds."""

    read_us: Estimate
    """p99.99."""
    total_us: Estimate
    shares: Mapping[str, float]
    """Of the time of the slowest reads of all seeds, by a name of `WAITS`; they add up to one."""


def by_limit(tails: Mapping[Tail, Slowest]) -> dict[int, OfALimit]:
    """Return the tail by the suspensions allowed."""
    found = {}
    for allowed in dict.fromkeys(one.suspensions for one in tails):
        mine = [slowest for one, slowest in tails.items() if one.suspensions == allowed]
        found[allowed] = OfALimit(
            estimate([one.read_us for one in mine]),
            estimate([one.total_us for one in mine]),
            _shares([one.blame_ns for one in mine]),
        )
    return found


def _shares(blames: list[Mapping[str, int]]) -> dict[str, float]:
    def of(*columns: str) -> int:
        return sum(blame[column] for blame in blames for column in columns)

    waits = [column for column in blames[0] if column.startswith("by_")]
    whole = of("latency_ns")
    shares = {name: of(*columns) / whole for name, columns in _COLUMNS.items()}
    own = 1 - of(*waits) / whole
    return {**shares, "rest": 1 - own - sum(shares.values()), "own": own}
