"""The numbers of Starblaze's slides, Flash Memory Summit 2017, each as it is printed."""

from dataclasses import dataclass
from types import MappingProxyType

PAPER = "Starblaze, Flash Memory Summit 2017"
BEFORE_TABLE = f"{PAPER}, “Enterprise Database Application Test”"
AFTER_TABLE = f"{PAPER}, “Enterprise Database Application Test – Optimized”"
TIMING_TABLE = f"{PAPER}, “Nand Flash Timing Parameters”"

LATENCY_TOLERANCE = 0.15
"""Of a latency."""
CHANGE_TOLERANCE_POINTS = 5.0
"""Of a change in percent."""
IOPS_TOLERANCE = 0.01
"""Of a rate: it is what the load asks for, and is missed only by a drive that cannot follow."""


@dataclass(frozen=True)
class Row:
    """A row of both tables: one kind of one case."""

    bandwidth_kb_per_s: int
    iops: int
    before_us: float
    before_us_max: float
    after_us: float
    after_us_max: float


@dataclass(frozen=True)
class Case:
    """A test case: reads and writes of so many threads."""

    name: str
    threads: int
    readers: int
    """What the name has before “rr”."""
    writers: int
    """What it has before “rw”."""
    read: Row
    write: Row

    @property
    def read_share(self) -> float:
        """Of the requests that came out."""
        return self.read.iops / (self.read.iops + self.write.iops)


CASES = MappingProxyType(
    {
        case.name: case
        for case in (
            Case(
                "2rr1rw_1thread", 1, 2, 1,
                Row(23215, 5803, 126.01, 9970, 102.53, 2047),
                Row(12302, 3076, 17.05, 409, 16.28, 117),
            ),
            Case(
                "5rr4rw_1thread", 1, 5, 4,
                Row(15130, 3782, 147.39, 9814, 95.34, 1809),
                Row(12950, 3238, 16.8, 133, 16.14, 106),
            ),
            Case(
                "2rr1rw_2thread", 2, 2, 1,
                Row(28708, 7177, 120.03, 10582, 107.1, 2145),
                Row(14770, 3693, 18.05, 270, 16.82, 221),
            ),
            Case(
                "5rr4rw_2thread", 2, 5, 4,
                Row(26057, 6514, 141.9, 12598, 112.61, 2098),
                Row(21100, 5276, 17.58, 405, 16.88, 393),
            ),
        )
    }
)  # fmt: skip
"""The slides have the same bandwidth and IOPS in both tables."""

KINDS = ("read", "write")


@dataclass(frozen=True)
class PartTimes:
    """Typical and maximum times of a part."""

    title: str
    t_erase_ms: tuple[float, float]
    t_program_ms: tuple[float, float]
    t_read_us: tuple[float, float]


PARTS = MappingProxyType(
    {
        "slc2d-starblaze": PartTimes("2D SLC", (5, 10), (0.3, 3), (35, 50)),
        "mlc2d-starblaze": PartTimes("2D MLC", (5, 10), (1.4, 3), (50, 85)),
        "slc3d-starblaze": PartTimes("3D SLC*", (10, 25), (0.25, 0.6), (37, 65)),
        "tlc3d-starblaze": PartTimes("3D TLC", (10, 25), (2.3, 11), (67, 100)),
    }
)
"""By the part of ours that has them."""
