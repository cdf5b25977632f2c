"""What Table I settles by itself: the channel in the paper's cases, and bounds of the bandwidth."""

from reprieve_studies.mbm.paper import (
    BUS_NS_PER_BYTE,
    CHANNELS,
    DIES_PER_CHIP,
    PAGE_BYTES,
    PAPER,
    PLANES_PER_DIE,
    PROGRAM_US,
    READ_US,
    TABLE_1_CHIPS,
)
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

TRANSFER_US = PAGE_BYTES * BUS_NS_PER_BYTE / 1e3
"""Of a page: 81.92."""
_CASES = f"{PAPER}, section III.B, Figure 3"
_INTRODUCTION = f"{PAPER}, section I"
_WELL_USED = 90.0


def channel_use(chips: int, pages: int, *, cached: bool = False) -> float:
    """Return the share of the time, in %, that writes occupy a channel whose chips all work.

    A chip takes `pages` one after the other and programs them together; it cannot take the next
    before, so that a round lasts its own transfers and the program, or all chips' transfers. With a
    cache register the next come in while it programs: a round lasts the longer of the two.
    """
    own_us = pages * TRANSFER_US
    round_us = max(own_us, PROGRAM_US) if cached else own_us + PROGRAM_US
    return min(100.0, 100 * chips * own_us / round_us)


def write_bound_mb_per_s(chips: int = TABLE_1_CHIPS) -> float:
    """Return what the drive can write at most if a chip takes all its pages, then programs."""
    return _write_bound(chips, DIES_PER_CHIP * PLANES_PER_DIE)


def write_bound_of_dies_mb_per_s(chips: int = TABLE_1_CHIPS) -> float:
    """Return the same if each die programs as soon as it has its own pages, as ours do."""
    return _write_bound(chips * DIES_PER_CHIP, PLANES_PER_DIE)


def _write_bound(units: int, pages: int) -> float:
    of_channel = units * pages * PAGE_BYTES / (pages * TRANSFER_US + PROGRAM_US)
    return CHANNELS * min(of_channel, 1e3 / BUS_NS_PER_BYTE)


def read_bound_mb_per_s() -> float:
    """Return what the channels carry."""
    return CHANNELS * 1e3 / BUS_NS_PER_BYTE


def verdicts() -> list[Verdict]:
    """Return the claims that need no run."""
    gigabits_2d, gigabits_3d = 32 * 4 * 64, 4 * 4 * 512
    return [
        Verdict("1 TB takes 32 chips of four 64 Gb dies, and as much four chips of 512 Gb dies",
                _INTRODUCTION, "1", 1, gigabits_2d / gigabits_3d, 0,
                note=f"both are {gigabits_2d / 8 / 1024:.0f} TiB", kind="arithmetic"),
        Verdict("case 1: five chips of two pages exploit the channel well", _CASES, "%",
                _WELL_USED, channel_use(5, 2), 0, AT_LEAST,
                "“well exploited”, read as 90 %; with a cache register "
                f"{channel_use(5, 2, cached=True):.0f} %",
                kind="arithmetic", cause="contradiction"),
        Verdict("case 2: four chips of two pages waste some of it", _CASES, "%", _WELL_USED,
                channel_use(4, 2), 0, AT_MOST, "read as less than 90 %", kind="arithmetic"),
        Verdict("case 3: four chips of four pages keep it busy at any time", _CASES, "%", 100,
                channel_use(4, 4), 1,
                note=f"with a cache register {channel_use(4, 4, cached=True):.0f} %",
                kind="arithmetic", cause="reading"),
        Verdict("a page is sensed faster than it is transferred", f"{PAPER}, section III.B", "1",
                1, READ_US / TRANSFER_US, 0, AT_MOST, "“much smaller”: 78 and 81.92 µs",
                kind="arithmetic"),
    ]  # fmt: skip
