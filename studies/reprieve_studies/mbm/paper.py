"""The numbers of the MBM paper, each as it is printed, with what ours may miss it by.

Tolerances are those of the other reproductions and were written down before the first run: ten
points of a share that something is shortened by, fifteen per cent of a ratio, none for an order.
Figures 8 to 13 carry no numbers in the text that was at hand; its sentences do.
"""

from dataclasses import dataclass
from types import MappingProxyType

from reprieve_studies.verdicts import AT_LEAST, EQUAL

PAPER = "MBM (Maximize Bandwidth Management FTL)"

LOADS = ("usr_0", "stg_0", "web_0", "src1_2", "Financial", "MSNFS")
"""Table II; the first four by the names that their files have at MSR Cambridge."""

SRC = "src1_2"
MSNFS = "MSNFS"
TAIL_LOADS = ("MSNFS", "Financial")
"""Figures 12 and 13."""

CHIPS = (2, 4, 8)
"""Of a channel: Figure 9."""
TABLE_1_CHIPS = 2


@dataclass(frozen=True)
class Characteristics:
    """A row of Table II."""

    read_kib: float
    """Mean size of a read."""
    write_kib: float
    reads_percent: float


TABLE_2 = MappingProxyType(
    {
        "usr_0": Characteristics(40.91, 10.28, 40.42),
        "stg_0": Characteristics(24.92, 9.19, 15.19),
        "web_0": Characteristics(29.99, 8.59, 29.88),
        "src1_2": Characteristics(19.11, 32.50, 25.37),
        "Financial": Characteristics(2.38, 3.85, 21.96),
        "MSNFS": Characteristics(14.88, 10.60, 79.57),
    }
)

PAGE_BYTES = 8192
PAGES_PER_BLOCK = 1024
CHANNELS = 4
DIES_PER_CHIP = 2
PLANES_PER_DIE = 2
READ_US = 78.0
PROGRAM_US = 1300.0
BUS_NS_PER_BYTE = 10.0

TABLE_1 = (
    ("Page size", "8 KB"),
    ("Pages per block", "1024"),
    ("Channels", "4"),
    ("Chips per channel", "2"),
    ("Dies per chip", "2"),
    ("Planes per die", "2"),
    ("Data transfer", "10 ns per 8 bit"),
    ("Erase", "15 ms"),
    ("Program", "1,300,000 ns"),
    ("Read", "78,000 ns"),
    ("Command and address transfer", "7 × 10 ns"),
)

BANDWIDTH_MEAN = 2.1
"""Of MBM over TBM, average of the loads."""
MSNFS_ERASES = MappingProxyType({"TBM": 46, "Sprinkler": 15, "MBM": 247})

RATIO_TOLERANCE = 0.15
POINTS = 10.0


@dataclass(frozen=True)
class Claim:
    """A sentence with a number, or an order that is counted."""

    claim: str
    measure: str
    """Name in `measures.MEASURES`."""
    paper: float
    unit: str
    tolerance: float
    source: str
    relation: str = EQUAL
    note: str = ""


_RESPONSE = f"{PAPER}, section VI.A, Figure 8"
_CHIPS = f"{PAPER}, section VI.A, Figure 9"
_BANDWIDTH = f"{PAPER}, section VI.B, Figure 10"
_ERASES = f"{PAPER}, section VI.C, Figure 11"
_TAILS = f"{PAPER}, section VI.D, Figures 12 and 13"
_BYTES_OVER_LATENCY = (
    "read as bytes over the sum of latencies: 3.0 is 1/(1 − 0.668) exactly, the reciprocal of the "
    "best response time"
)
_SATURATED = "read as the bytes a second of a drive that always has 32 requests"


def _ratio(claim: str, measure: str, paper: float, source: str, note: str = "") -> Claim:
    return Claim(claim, measure, paper, "1", RATIO_TOLERANCE * paper, source, note=note)


def _share(claim: str, measure: str, paper: float, source: str) -> Claim:
    return Claim(claim, measure, paper, "%", POINTS, source)


CLAIMS = (
    _share("MBM shortens the mean response of TBM, average of six loads", "response_reduction",
           43.6, _RESPONSE),
    _share("the same, the best load", "response_reduction_most", 66.8, _RESPONSE),
    _ratio("src1_2: response of Sprinkler over that of TBM", "sprinkler_src", 2.18, _RESPONSE),
    Claim("src1_2: response of MBM above that of TBM", "mbm_src", 7.5, "%", POINTS, _RESPONSE),
    Claim("loads other than src1_2 under which MBM responds faster than TBM", "mbm_faster", 5, "1",
          0, _RESPONSE),
    Claim("loads other than src1_2 under which Sprinkler responds faster than TBM",
          "sprinkler_faster", 5, "1", 0, _RESPONSE,
          note="“unlike the other workloads, TBM outperforms Sprinkler and MBM in src1-lvm2”"),
    _share("MBM against TBM, two chips a channel", "reduction_2", 43.6, _CHIPS),
    _share("MBM against TBM, eight chips a channel", "reduction_8", 31.6, _CHIPS),
    Claim("response of TBM with two chips over that with eight", "tbm_fewer_chips", 1, "1", 0,
          _CHIPS, AT_LEAST, "“significantly increases”; the text has no number"),
    Claim("response of Sprinkler with two chips over that with eight", "sprinkler_fewer_chips", 1,
          "1", 0, _CHIPS, AT_LEAST, "“significantly increases”; the text has no number"),
    Claim("response of MBM with two chips over that with eight", "mbm_fewer_chips", 1, "1", 0.1,
          _CHIPS, note="“almost the same”, read as within a tenth"),
    Claim("chips a channel with which MBM responds fastest", "mbm_best_chips", 4, "1", 0, _CHIPS),
    Claim("MBM responds faster than TBM and than Sprinkler, with 2, 4 and 8 chips",
          "faster_at_all_chips", 6, "1", 0, _CHIPS),
    _ratio("bandwidth of MBM over TBM, the best load, at its limit", "saturated_most", 3.0,
           _BANDWIDTH, _SATURATED),
    _ratio("bandwidth of MBM over TBM, average, at its limit", "saturated_mean", BANDWIDTH_MEAN,
           _BANDWIDTH, _SATURATED),
    _ratio("bandwidth of MBM over TBM, the best load, from latencies", "implied_most", 3.0,
           _BANDWIDTH, _BYTES_OVER_LATENCY),
    _ratio("bandwidth of MBM over TBM, average, from latencies", "implied_mean", BANDWIDTH_MEAN,
           _BANDWIDTH, _BYTES_OVER_LATENCY),
    Claim("loads under which MBM has the most bandwidth, at its limit", "saturated_best", 6, "1", 0,
          _BANDWIDTH),
    Claim("loads under which Sprinkler has more bandwidth than TBM, at its limit",
          "saturated_sprinkler", 6, "1", 0, _BANDWIDTH,
          note="“Sprinkler also gets good improvement”"),
    Claim("loads under which TBM has less bandwidth than a page-level FTL, at its limit",
          "plain_above_tbm", 6, "1", 0, _BANDWIDTH,
          note="“even worse than the baseline system without any optimizations”"),
    Claim("loads under which Sprinkler has less bandwidth than a page-level FTL, at its limit",
          "plain_above_sprinkler", 6, "1", 0, _BANDWIDTH,
          note="the same sentence; two sentences earlier Sprinkler “gets good improvement”"),
    Claim("MBM erases more than TBM, average of five loads without MSNFS", "erases_mean", 3.5, "%",
          3, _ERASES, note="tolerance of three points: it is to be told from none and from ten"),
    Claim("MBM erases more than TBM, the most of five loads", "erases_most", 7.9, "%", 5, _ERASES),
    _ratio("MSNFS: erases of MBM over those of TBM", "msnfs_erases", 247 / 46, _ERASES,
           "247 and 46 operations, which is few"),
    Claim("MSNFS: what MBM erases above TBM, less the most of the other loads",
          "reading_erases_more", 0, "%", 0, _ERASES, AT_LEAST,
          "“in the read-intensive benchmarks, the increment is slightly more obvious”"),
)  # fmt: skip


@dataclass(frozen=True)
class TailClaim:
    """An order of percentiles, counted over loads, operations and percentiles."""

    claim: str
    percentiles: tuple[float, ...]
    rivals: tuple[str, ...]
    """Of which each has the longer latency."""
    best: str
    source: str = _TAILS
    loads: tuple[str, ...] = TAIL_LOADS
    ops: tuple[str, ...] = ("read", "write")


HIGH_PERCENTILES = (99.0, 99.9, 99.99, 99.999)
"""Of the abstract."""
METHOD_PERCENTILES = (95.0, 97.0, 98.0, 99.0, 99.5)
"""Of section V."""

TAIL_CLAIMS = (
    TailClaim("MBM has shorter tails than TBM, p99 to p99.999", HIGH_PERCENTILES, ("TBM",), "MBM"),
    TailClaim("MBM has shorter tails than Sprinkler, p99 to p99.999", HIGH_PERCENTILES,
              ("Sprinkler",), "MBM"),
    TailClaim("MBM has shorter tails than TBM, p95 to p99.5", METHOD_PERCENTILES, ("TBM",), "MBM",
              f"{PAPER}, section V"),
    TailClaim("TBM, “the worst”, has a longer p99 than Sprinkler too", (99.0,), ("TBM",),
              "Sprinkler"),
    TailClaim("Financial: Sprinkler has a longer p98 of reads than MBM", (98.0,), ("Sprinkler",),
              "MBM", loads=("Financial",), ops=("read",)),
    TailClaim("Financial: Sprinkler has a longer p94 of writes than MBM", (94.0,), ("Sprinkler",),
              "MBM", loads=("Financial",), ops=("write",)),
)  # fmt: skip


def tail_measure(number: int) -> str:
    """Return what the measure of a claim of tails is called, by its place in `TAIL_CLAIMS`."""
    return f"tail_{number}"


SIMILAR_TAIL = Claim(
    "MSNFS: p99 of reads of Sprinkler over that of MBM", "sprinkler_msnfs_tail", 1, "1",
    RATIO_TOLERANCE, _TAILS, note="“similar to that of MBM under MSNFS”",
)  # fmt: skip
