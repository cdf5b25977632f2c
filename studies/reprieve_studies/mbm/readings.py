"""The drive, its FTLs, the parts of MBM, and other readings of what the paper leaves open."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from reprieve_studies.mbm.paper import DIES_PER_CHIP, TABLE_1_CHIPS
from reprieve_studies.runs import Overrides

DEVICE = "mbm"
BLOCKS = 64
"""Of a plane, which Table I does not say: blocks of 8 MiB, so that runs reach steady state."""
OVER_PROVISIONING = 0.30
"""Of the drives of the other papers that are reproduced; Table I has none."""
IDLE_SHARE = 0.70
"""Of the time of a die, on average, with TBM: what the loads are compressed to."""
QUEUE_DEPTH = 32
"""Of a drive at its limit."""

PLAIN, TBM, SPRINKLER, MBM = "page-level", "TBM", "Sprinkler", "MBM"
GCPAR, PAQ, SLACKER = "GCPAR", "PAQ", "Slacker"
NO_SUSPENSION, IPS, IPC = "none", "IPS", "IPC"

SUSPENSION: Mapping[str, str] = MappingProxyType(
    {NO_SUSPENSION: "rps", IPS: "pes-ips", IPC: "pes-ipc"}
)
"""The scenario's `policy`: all of them serve reads first."""

_SCHEDULER, _PROGRAM, _ERASE = "scheduling.policy", "suspension.program", "suspension.erase"
_SUSPENDS: Mapping[str, Overrides] = MappingProxyType(
    {
        NO_SUSPENSION: {_PROGRAM: "none", _ERASE: False},
        IPS: {_PROGRAM: "ips", _ERASE: True},
        IPC: {_PROGRAM: "ipc", _ERASE: True},
    }
)
"""What these can suspend, whatever is served first."""

DISPATCH = "scheduling.dispatch"
_WRITES_ALIGNED: Overrides = {"ftl.gc_stream": "separate"}
FTLS: Mapping[str, Overrides] = MappingProxyType(
    {
        PLAIN: {},
        TBM: {"ftl.twin_blocks": True},
        SPRINKLER: {DISPATCH: "sprinkler"},
        PAQ: {DISPATCH: "paq"},
        SLACKER: {DISPATCH: "slacker"},
        GCPAR: {"ftl.gc_parallel_planes": True},
        MBM: {DISPATCH: "mbm", **_WRITES_ALIGNED},
    }
)
"""Beyond the suspension; all have multi-plane commands."""


@dataclass(frozen=True)
class Scheme:
    """An FTL with a way of suspending."""

    ftl: str
    suspension: str
    overrides: Overrides = field(default_factory=dict)
    title: str = ""
    reads_first: bool = True

    @property
    def settings(self) -> Overrides:
        """What it sets in a scenario."""
        policy: Overrides = {"policy": SUSPENSION[self.suspension]}
        if not self.reads_first:
            policy = {_SCHEDULER: "fifo", **_SUSPENDS[self.suspension]}
        return {**FTLS[self.ftl], **policy, **self.overrides}


SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        PLAIN: Scheme(PLAIN, NO_SUSPENSION),
        TBM: Scheme(TBM, NO_SUSPENSION),
        SPRINKLER: Scheme(SPRINKLER, NO_SUSPENSION),
        MBM: Scheme(MBM, IPC),
    }
)
"""As the paper compares them, and a page-level FTL."""

PAPERS = (TBM, SPRINKLER, MBM)

PARTS: Mapping[str, Scheme] = MappingProxyType(
    {
        "without WS": Scheme(
            MBM,
            IPC,
            {"ftl.gc_stream": "shared", "scheduling.mbm_channel_limit": "none"},
            "moved pages in the open block, channels without limit",
        ),
        "without RS": Scheme(
            MBM,
            IPC,
            {"scheduling.mbm_joint_reads": "any", "scheduling.mbm_read_areas": "as-others"},
            "reads of any requests together, no areas and no redistribution",
        ),
        "without MCS": Scheme(MBM, IPC, {"scheduling.mbm_chips": "in-order"}, "chips in order"),
        "without suspension": Scheme(MBM, NO_SUSPENSION, {}, "nothing makes way"),
    }
)
"""MBM with one of its parts switched off."""

FIFO, RPS = "FIFO", "RPS"
GRID_FTLS: Mapping[str, str] = MappingProxyType(
    {FIFO: PLAIN, RPS: PLAIN, SPRINKLER: SPRINKLER, GCPAR: GCPAR, TBM: TBM, MBM: MBM}
)
"""Rows of the ablation, and the FTL of each; the fourth is the page-level FTL with collection of
both planes of a die side by side, without twin blocks."""


def grid() -> dict[tuple[str, str], Scheme]:
    """Return every row with every way of suspending."""
    return {
        (row, way): Scheme(ftl, way, reads_first=row != FIFO)
        for row, ftl in GRID_FTLS.items()
        for way in SUSPENSION
    }


def geometry(chips: int = TABLE_1_CHIPS) -> Overrides:
    """Return the shape of a drive of so many chips a channel."""
    return {
        "geometry.dies_per_channel": chips * DIES_PER_CHIP,
        "geometry.chips_per_channel": chips,
    }


DRIVE: Overrides = MappingProxyType(
    {
        "geometry.blocks_per_plane": BLOCKS,
        "ftl.over_provisioning": OVER_PROVISIONING,
        "ftl.precondition": "steady",
    }
)
"""What all runs have beyond the device."""


@dataclass(frozen=True)
class Reading:
    """Another reading of something that the paper leaves open."""

    name: str
    title: str
    question: str
    overrides: Overrides = field(default_factory=dict)
    schemes: tuple[str, ...] = PAPERS
    """Those that it changes; the others are as chosen."""
    suspension: str | None = None
    """Of MBM, in place of the one that is chosen."""
    idle_share: float | None = None
    """That the loads are compressed to, in place of that of the dies."""
    idle_of_dies: bool = True


BASE = Reading(
    "base",
    "as chosen",
    "page numbers have to be equal for a multi-plane command and blocks need not, PES_IPC, loads "
    "compressed until dies idle for 70 % of the time, a write is complete when it is programmed, "
    "over-provisioning of 30 %, collection makes way for the host.",
)

_MBM_ONLY = (MBM,)


def _of_mbm(name: str, title: str, question: str, overrides: Overrides) -> Reading:
    return Reading(name, title, question, overrides, _MBM_ONLY)


READINGS = (
    Reading("light", "drive idles for 70 %", "How heavy are the loads? Table II has no rates.",
            idle_share=0.70, idle_of_dies=False),
    Reading("heavy", "dies idle for 40 %", "The same.", idle_share=0.40),
    Reading("block", "equal blocks too",
            "Have the blocks of a multi-plane command the same address (section II.A: “the same "
            "in-plane address (i.e., the same offset within each plane)”)?",
            {"parallelism.multi_plane": "block"}),
    Reading("buffer", "writes acknowledged in the buffer",
            "Is a write complete when it is programmed, or in the drive's memory?",
            {"buffer.acknowledge": "back", "buffer.bytes": 16 * 2**20}),
    Reading("spare", "over-provisioning 20 %", "How much of the drive is spare?",
            {"ftl.over_provisioning": 0.20}),
    Reading("stubborn", "collection does not make way",
            "Does a block's collection, once begun, go on to its end?",
            {"ftl.gc_preemptible": False}),
    Reading("ips", "PES_IPS", "Which suspension of [22]?", {}, _MBM_ONLY, IPS),
    _of_mbm("printed", "Algorithm 1 as printed",
            "Its arithmetic is out of order; is its rounding up meant?",
            {"scheduling.mbm_channel_limit": "printed"}),
    _of_mbm("no-limit", "channels without limit",
            "What is the limit worth?",
            {"scheduling.mbm_channel_limit": "none"}),
    _of_mbm("arrival", "shares at each arrival",
            "When is Channel_Max_Subs computed?",
            {"scheduling.mbm_share_when": "arrival"}),
    _of_mbm("all-writes", "writes that are done count",
            "Do writes that have ended still count as executed?",
            {"scheduling.mbm_share_writes": "all"}),
    _of_mbm("weight-0", "reads count nothing",
            "A read is charged as a write is, though only the transfer is alike.",
            {"scheduling.mbm_share_read_weight": 0}),
    _of_mbm("collection", "collection counts",
            "Does the traffic of collection count?",
            {"scheduling.mbm_share_collection": True}),
    _of_mbm("ties", "ties to the lowest number",
            "Which of equal channels and chips is first?",
            {"scheduling.mbm_ties": "in-order"}),
    _of_mbm("largest", "largest group of planes",
            "How is alignment restored after part of a stripe?",
            {"scheduling.mbm_alignment": "largest"}),
    _of_mbm("first-instant", "first chip of the drive",
            "For whom is the chip of least parallelism the first?",
            {"scheduling.mbm_first_chip": "instant"}),
    _of_mbm("first-request", "first chip of each request",
            "The same.",
            {"scheduling.mbm_first_chip": "request"}),
    _of_mbm("any", "reads of any requests together",
            "What is the restriction to one request worth?",
            {"scheduling.mbm_joint_reads": "any"}),
    _of_mbm("threshold-2", "long reads above 2 pages",
            "From which length on is a read long?",
            {"scheduling.mbm_read_threshold_pages": 2}),
    _of_mbm("threshold-8", "long reads above 8 pages",
            "The same.",
            {"scheduling.mbm_read_threshold_pages": 8}),
    _of_mbm("area-small", "areas of 256 KiB",
            "How large is a logical area?",
            {"scheduling.mbm_read_area_bytes": 262144}),
    _of_mbm("area-large", "areas of 16 MiB",
            "The same.",
            {"scheduling.mbm_read_area_bytes": 16777216}),
    _of_mbm("for-ever", "areas stay read-intensive",
            "How does an area cease to be read-intensive?",
            {"scheduling.mbm_read_area_end": "never"}),
    _of_mbm("stay", "no redistribution",
            "What is redistribution worth?",
            {"scheduling.mbm_redistribution": "none"}),
    _of_mbm("much", "64 pages redistributed",
            "How much is moved at a time?",
            {"scheduling.mbm_redistributed_pages": 64}),
)  # fmt: skip
"""Each is run under the paper's six loads."""


def scheme_under(reading: Reading, name: str) -> Scheme:
    """Return a scheme of the paper as a reading has it."""
    scheme = SCHEMES[name]
    if name not in reading.schemes:
        return scheme
    suspension = scheme.suspension
    if name == MBM and reading.suspension is not None:
        suspension = reading.suspension
    return Scheme(scheme.ftl, suspension, {**scheme.overrides, **reading.overrides})
