"""The numbers of Zambelli et al., Electronics 10, 1394 (2021), each as it is printed.

The bars of Figures 10, 11 and 13 carry no numbers; what the text says of them does. Bandwidth and
mean latency of a closed loop of 64 requests belong together by Little's law, so that the two
differences that the text prints fix the four values behind them (`implied`).
"""

import math
from dataclasses import dataclass
from types import MappingProxyType

PAPER = "Zambelli et al., Electronics 10, 1394 (2021)"

QUEUE_DEPTHS = (16, 32, 64)
"""Table 1; text and figures have 16 and 64."""

MIXES = MappingProxyType({"75W-25R": 0.25, "25W-75R": 0.75})
"""The paper's names of its loads, and their share of reads."""

SUSPENSIONS = (0, 5, 10)
"""How often a program may be suspended."""

TABLE_1 = (
    ("Host interface", "PCIe gen3 x4"),
    ("Frame buffer size", "1024"),
    ("QD", "16-32-64"),
    ("Channels", "16"),
    ("Targets (dies of a chip)", "8"),
    ("DRAM cache", "64 to 512 MB"),
    ("Error correction", "LDPC"),
    ("Over-provisioning", "30 %"),
    ("Write amplification", "2.4"),
    ("Threshold of garbage collection", "10 %"),
    ("Page", "16 kB and parity"),
    ("Pages per block", "256"),
    ("Blocks per die", "2048"),
)

TABLE_2_US = MappingProxyType({"tPGM": 2000, "tREAD": 80, "tERS": 5000})

OVER_PROVISIONING = 0.30
GC_THRESHOLD = 0.10
WRITE_AMPLIFICATION = 2.4
CHANNELS = 16
DIES_PER_CHIP = 8
PAGES_PER_BLOCK = 256


@dataclass(frozen=True)
class Implied:
    """The absolutes behind the differences of Figure 10, at a queue depth of 64, 25W-75R."""

    iops_without: float
    iops_with: float
    mean_us_without: float
    mean_us_with: float


def implied(queue_depth: int = 64, more_iops: float = 113e3, less_s: float = 97e-6) -> Implied:
    """Solve N = X1·R1 = X2·R2 for X2 − X1 and R1 − R2 as the paper prints them (Little's law)."""
    product = queue_depth * less_s / more_iops
    with_s = (-less_s + math.sqrt(less_s**2 + 4 * product)) / 2
    without_s = with_s + less_s
    return Implied(queue_depth / without_s, queue_depth / with_s, 1e6 * without_s, 1e6 * with_s)


@dataclass(frozen=True)
class Change:
    """What 10 suspensions change against none, as the text puts a number to it."""

    claim: str
    metric: str
    """Name in `measures.METRICS`."""
    mix: str
    queue_depth: int
    paper: float
    unit: str
    source: str
    relation: str = "equal"
    note: str = ""
    suspensions: int = 10
    """That are allowed, against none."""

    @property
    def tolerance(self) -> float:
        """Fifteen per cent of the number; set before anything was run."""
        return TOLERANCE * abs(self.paper)


TOLERANCE = 0.15
"""Of an absolute number or of a difference; signs and orders have no tolerance."""

_FIGURE_10 = f"{PAPER}, section 5.1, Figure 10"
_FIGURE_11 = f"{PAPER}, section 5.2, Figure 11"
_FIGURE_13 = f"{PAPER}, section 5.3, Figure 13"

CHANGES = (
    Change("suspension raises the bandwidth, 25W-75R, QD 64", "iops", "25W-75R", 64,
           113, "kIOPS", _FIGURE_10),
    Change("suspension shortens the mean latency, 25W-75R, QD 64", "mean", "25W-75R", 64,
           -97, "µs", _FIGURE_10),
    Change("suspension raises the power of the memories, 25W-75R, QD 64", "memory_power",
           "25W-75R", 64, 400, "mW", _FIGURE_11, note="“up to 400 mW”"),
    Change("suspension raises the power of the I/O bus, 75W-25R, QD 16", "bus_power",
           "75W-25R", 16, 17, "mW", _FIGURE_11, note="“up to 17 mW”"),
    Change("suspension lowers the power of the memories, 75W-25R, QD 64", "memory_power",
           "75W-25R", 64, -1500, "mW", _FIGURE_11, note="“almost 1.5 W”"),
    Change("suspension shortens the total p99.99, 25W-75R, QD 64", "total_tail", "25W-75R", 64,
           -630, "µs", _FIGURE_13,
           note="the text says “workloads largely dominated by read operations” and no depth; "
                "with 5 suspensions, as it has a slight penalty for 10", suspensions=5),
    Change("suspension shortens the p99.99 of reads, 25W-75R, QD 64", "read_tail", "25W-75R", 64,
           -1030, "µs", _FIGURE_13, note="“up to 1.03 ms”; in the conclusion of read intensive "
                                         "loads at a high queue depth", suspensions=5),
)  # fmt: skip


@dataclass(frozen=True)
class Order:
    """A sign or an order that the text states, counted over the loads and depths it speaks of."""

    claim: str
    metric: str
    mixes: tuple[str, ...]
    queue_depths: tuple[int, ...]
    pair: tuple[int, int]
    """Suspensions allowed: the first is compared with the second."""
    rises: bool
    """Whether the metric is higher with the second than with the first."""
    source: str


_BOTH = tuple(MIXES)
ORDERS = (
    Order("bandwidth rises from no suspension to 5, every load", "iops", _BOTH, (16, 64),
          (0, 5), True, _FIGURE_10),
    Order("bandwidth rises from 5 suspensions to 10, every load", "iops", _BOTH, (16, 64),
          (5, 10), True, _FIGURE_10),
    Order("mean latency falls from no suspension to 5, every load", "mean", _BOTH, (16, 64),
          (0, 5), False, _FIGURE_10),
    Order("mean latency falls from 5 suspensions to 10, every load", "mean", _BOTH, (16, 64),
          (5, 10), False, _FIGURE_10),
    Order("memory power rises with 10 suspensions, but for 75W-25R at QD 64", "memory_power",
          ("25W-75R",), (16, 64), (0, 10), True, _FIGURE_11),
    Order("memory power rises with 10 suspensions, 75W-25R at QD 16", "memory_power",
          ("75W-25R",), (16,), (0, 10), True, _FIGURE_11),
    Order("bus power rises with 10 suspensions, every load", "bus_power", _BOTH, (16, 64),
          (0, 10), True, _FIGURE_11),
    Order("total p99.99 falls with 5 suspensions, 25W-75R", "total_tail", ("25W-75R",), (16, 64),
          (0, 5), False, _FIGURE_13),
    Order("total p99.99 is slightly worse with 10 suspensions than with 5, 25W-75R at QD 64",
          "total_tail", ("25W-75R",), (64,), (5, 10), True, _FIGURE_13),
    Order("p99.99 of reads falls with 5 suspensions, every load", "read_tail", _BOTH, (16, 64),
          (0, 5), False, _FIGURE_13),
)  # fmt: skip
