"""Other readings of what the paper leaves open, each with what it changes in a scenario."""

from dataclasses import dataclass, field

from reprieve_studies.fast12 import beyond
from reprieve_studies.runs import Overrides

IDLE_DIES = "idle-dies"


@dataclass(frozen=True)
class Alternative:
    """One reading."""

    name: str
    title: str
    question: str
    """What the paper leaves open."""
    overrides: Overrides = field(default_factory=dict)
    full: bool = False
    """The drive is that of `beyond`: full, and smaller than the loads, which are spread over it."""
    of_dies: bool = False
    """The load is compressed until the dies, and not the drive, idle for the paper's share."""


BASE = Alternative(
    "base",
    "as chosen",
    "resume after data out, reset inside the phase, acknowledged when programmed, a cancelled "
    "pulse is done again, no limit on the write queue, an empty drive",
)

ALTERNATIVES = (
    Alternative(
        "array-read",
        "resume at the end of the array read",
        "Does the suspended operation resume when the read's data has left, or when it is sensed?",
        {"suspension.resume_at": "array_read"},
    ),
    Alternative(
        "reset-outside",
        "reset outside the phase",
        "Is the voltage reset part of a phase's length?",
        {"suspension.reset_inside_phase": False},
    ),
    Alternative(
        "at-insertion",
        "write acknowledged in the buffer",
        "Is a write complete when its pages are programmed, or when the buffer has them?",
        {"buffer.acknowledge": "back"},
    ),
    Alternative(
        "vth-always",
        "a cancelled pulse had done its work",
        "Has a cancelled pulse brought the cells to their target?",
        {"suspension.vth_reached": "always"},
    ),
    Alternative(
        "queue-64",
        "write queue limit of 64",
        "Section 5.3 varies a maximum write queue size; the other figures do not name theirs.",
        {"scheduling.write_queue_limit": 64},
    ),
    Alternative(
        "steady",
        "full drive of 64 blocks a plane",
        "How full is the drive? Garbage collection, and with it erases, begin on a full one.",
        beyond.DRIVE,
        full=True,
    ),
    Alternative(
        IDLE_DIES,
        "dies, not the drive, idle for 70 %",
        "Is “system idle” a drive without requests, or the mean over its chips?",
        of_dies=True,
    ),
)
"""Each is run under every load with FIFO, RPS, PE0, PES_IPS and PES_IPC."""

POLICIES = ("FIFO", "RPS", "PE0", "PES_IPS", "PES_IPC")
