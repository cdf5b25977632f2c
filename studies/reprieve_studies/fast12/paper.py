"""The numbers of Wu and He, FAST 2012, each as it is printed."""

from dataclasses import dataclass
from types import MappingProxyType

PAPER = "Wu and He, FAST 2012"
SLIDES = "slides of Wu and He, FAST 2012"

DEVICES = MappingProxyType({"SLC": "fast12-slc", "MLC": "fast12-mlc"})
"""The paper's two drives and our presets of them."""

IDLE_SHARE = 0.70
"""Section 3.1: compressed until the system idle time is around 70 %; from 98 %."""

TRACES = ("F1", "F2", "DAP", "MSN", "C3", "C8")

TABLE_2_MS = MappingProxyType(
    {
        # trace: (SLC read, SLC write, MLC read, MLC write), mean latency under FIFO
        "F1": (0.37, 0.87, 0.44, 1.58),
        "F2": (0.24, 0.57, 0.27, 1.03),
        "DAP": (1.92, 6.85, 5.74, 11.74),
        "MSN": (4.13, 4.58, 8.47, 25.21),
        "C3": (0.25, 2.85, 0.52, 6.30),
        "C8": (0.44, 2.33, 0.56, 4.54),
    }
)

QUEUE_LIMITS = (16, 32, 64, 128, 256, 512)
"""Figure 7."""
QUEUE_COMPRESSION = 7
"""Section 5.3: F2, compressed by 7 more."""


@dataclass(frozen=True)
class Part:
    """Table 1: times of a part in µs."""

    bus: float
    read: float
    program: float
    iterations: int
    pulse: float
    verify: float
    erase: float
    voltage_reset: float
    buffer: float
    equation_1: float
    """Section 4.2: mean wait for the end of a phase, as printed."""


TABLE_1 = MappingProxyType(
    {
        "SLC": Part(20, 10, 140, 5, 20, 8, 1500, 4, 3, 8.29),
        "MLC": Part(40, 25, 660, 15, 20, 24, 3300, 4, 3, 11.09),
    }
)


@dataclass(frozen=True)
class Sentence:
    """A number that the text states for both drives."""

    measure: str
    """Name in `measures.MEASURES`."""
    claim: str
    source: str
    slc: float
    mlc: float
    tolerance: float
    """In percentage points, or plainly for a ratio; set before anything was run."""
    relation: str = "equal"
    unit: str = "%"
    note: str = ""
    contradicted: tuple[str, ...] = ()
    """The devices for which another number of the paper speaks against it; `note` says which."""

    def of(self, device: str) -> float:
        """Return the number for "SLC" or "MLC"."""
        return self.slc if device == "SLC" else self.mlc


_3_2 = f"{PAPER}, section 3.2"
_5_1 = f"{PAPER}, section 5.1"
_5_2 = f"{PAPER}, section 5.2"
_BOTH = tuple(DEVICES)
_TWICE = "the sentence stands twice in the paper, both times for PES_IPC; read here as PES_IPS"

# Tolerances: reductions are averages over six loads that are not the paper's own, so that ten
# points are allowed; overheads of a few per cent are allowed three points.
SENTENCES = (
    Sentence("rps_read_reduction", "RPS shortens reads against FIFO, average",
             _3_2, 44.6, 48.3, 10),
    Sentence("pe0_read_reduction", "PE0 shortens reads against FIFO, average",
             _3_2, 71.7, 75.6, 10),
    Sentence("contention_left", "programs and erases still double reads: RPS over PE0",
             _3_2, 2.0, 2.0, 0.5, unit="1", contradicted=("SLC",),
             note="“about 2x on average”; at the latencies of Table 2 reads on SLC would wait for "
                  "117 µs on average for a program of 140 that was under way (`bounds`)"),
    Sentence("ipc_reduction_of_rps", "PES_IPC shortens reads against RPS, average",
             _5_1, 48.9, 50.5, 10, contradicted=("SLC",),
             note="what a wait for programs makes of RPS, said again"),
    Sentence("ipc_reduction_of_fifo", "PES_IPC shortens reads against FIFO, average",
             _5_1, 71.6, 75.4, 10),
    Sentence("ipc_above_pe0", "reads under PES_IPC are within 1 % of PE0, every load",
             _5_1, 1.0, 1.0, 0.0, "at most", contradicted=("SLC",),
             note="by Table 1 RPS then takes at most 1.20 times as long as PE0 on SLC, 1.91 times "
                  "on MLC, and not “about 2x” (`bounds`)"),
    Sentence("ips_above_ipc", "reads under PES_IPS are longer than under PES_IPC, average",
             _5_1, 8.0, 2.7, 3,
             note="contradicts the claim of 1 % above: by Table 1 the wait of IPS above PE0 is "
                  "2 to 3 times that of IPC", contradicted=_BOTH),
    Sentence("ips_above_ipc_f1", "reads under PES_IPS are longer than under PES_IPC, F1",
             _5_1, 13.2, 6.7, 3, note="as the average", contradicted=_BOTH),
    Sentence("rps_write_overhead", "RPS lengthens writes against FIFO, average",
             _5_2, 2.3, 1.2, 3),
    Sentence("rps_write_overhead_most", "RPS lengthens writes against FIFO, most",
             _5_2, 6.7, 3.8, 3),
    Sentence("ips_write_overhead", "PES_IPS lengthens writes against FIFO, average",
             _5_2, 3.6, 1.9, 3, note=_TWICE),
    Sentence("ips_write_overhead_most", "PES_IPS lengthens writes against FIFO, most",
             _5_2, 6.9, 4.3, 3,
             note=_TWICE),
    Sentence("ipc_write_overhead", "PES_IPC lengthens writes against FIFO, average",
             _5_2, 3.6, 2.0, 3),
    Sentence("ipc_write_overhead_most", "PES_IPC lengthens writes against FIFO, most",
             _5_2, 6.9, 4.3, 3),
    Sentence("suspended_increase", "a suspended program or erase takes longer (Figure 5), average",
             _5_2, 10.2, 7.8, 3,
             note="by Table 1 one read and the restore alone are 33 of 160 µs (21 %) for SLC, and "
                  "68 of 700 µs (9.7 %) for MLC", contradicted=_BOTH),
    Sentence("suspended_share", "programs and erases that are suspended (Figure 6), average",
             _5_2, 4.9, 7.4, 3),
)  # fmt: skip
