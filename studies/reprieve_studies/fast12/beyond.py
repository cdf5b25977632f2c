"""What the paper does not measure: writes before erases, background work, modes of erasing."""

from dataclasses import dataclass, field

from reprieve_studies.runs import Overrides

# A drive in steady state, small so that the loads reach all of it, whose part erases in segments.
# Six segments are an assumption: no data sheet at hand says how many. They change nothing where
# erases go on exactly where they stopped, nor where nothing is suspended.
DRIVE: Overrides = {
    "ftl.precondition": "steady",
    "geometry.blocks_per_plane": 64,
    "timing.erase_segments": 6,
}


@dataclass(frozen=True)
class Variant:
    """One way of suspending."""

    name: str
    title: str
    policy: str
    """The paper's name of it."""
    overrides: Overrides = field(default_factory=dict)
    question: str = ""


_READS = "suspension.host_read_suspends"
_WRITES = "suspension.host_write_suspends"
_MODE = "suspension.erase_mode"
_RESUME = "suspension.erase_resume"

VARIANTS = (
    Variant("fifo", "FIFO", "FIFO"),
    Variant("rps", "RPS, nothing suspended", "RPS"),
    Variant("host-programs", "reads before host programs", "PES_IPC", {_READS: ["program"]}),
    Variant(
        "no-background",
        "reads before host programs and erases",
        "PES_IPC",
        {_READS: ["program", "erase"]},
    ),
    Variant("all", "reads before all (PES_IPC)", "PES_IPC"),
    Variant("writes", "PES_IPC, and writes before erases", "PES_IPC", {_WRITES: ["erase"]}),
    Variant("redo", "PES_IPC, erase segment done again", "PES_IPC", {_RESUME: "redo_phase"}),
    Variant("deferred", "PES_IPC, erase stops at segment end", "PES_IPC", {_MODE: "deferred"}),
    Variant(
        "timeout",
        "PES_IPC, again for 3 ms, then at end",
        "PES_IPC",
        {_RESUME: "redo_phase", _MODE: "timeout", "suspension.erase_timeout_us": 3_000},
    ),
    Variant("pe0", "PE0", "PE0"),
)
"""What reads may suspend grows as far as "all", PES_IPC as elsewhere; the rest change that."""

SUSPENDING = tuple(variant for variant in VARIANTS if variant.policy == "PES_IPC")
"""Those between FIFO or RPS and the bound PE0."""

READING = "beyond"
"""What the runs of these variants are filed under, in place of a reading of the paper."""
SETS = ("calibrated", "recorded")
"""The sets of loads that they run under."""
_WARM_UP_SHARE = 0.2


def warm_up(requests: int) -> Overrides:
    """Leave out what the drive does before its collection has found its pace."""
    return {"measure.from_request": round(_WARM_UP_SHARE * requests)}
