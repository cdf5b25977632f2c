"""The two readings of the paper's drive, and what each open question changes in a scenario."""

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
    queue: Overrides = field(default_factory=dict)
    """Further ones where the write queue is limited."""
    full: bool = False
    """The drive is that of `beyond`: full, and smaller than the loads, which are spread over it."""
    of_dies: bool = False
    """The load is compressed until the dies, and not the drive, idle for the paper's share."""


BASE = Alternative(
    "reprieve",
    "Reprieve's reading",
    "resume after data out, reset inside the phase, acknowledged when programmed, a cancelled "
    "pulse is done again, no limit on the write queue, an empty drive",
)

SIMULATOR = Alternative(
    "simulator",
    "the paper's simulator",
    "A drive as DiskSim with the add-on most likely had it (A134): each page an operation of its "
    "own, one request at a time on the link, no write buffer to read from, no rule for the block "
    "that is programmed, partial writes that read nothing",
    {
        "suspension.same_block": "page",
        # A full drive gives the same to the nanosecond: pages have fixed places, partial writes
        # read nothing, and so few requests leave nothing to collect. An empty one is made sooner.
        "ftl.partial_write": "pad",
        "buffer.read_hits": False,
        "host.order": "in_order",
    },
    queue={"scheduling.write_queue_limit_scope": "drive"},
)

READINGS = (BASE, SIMULATOR)
"""Under each of them every claim is judged."""

ALTERNATIVES = (
    Alternative(
        "same-block",
        "reads of the programmed block go ahead",
        "May a read sense another page of the block that is being programmed?",
        {"suspension.same_block": "page"},
    ),
    Alternative(
        "no-read-hits",
        "no reads from the write buffer",
        "Is a read of a page that waits to be programmed answered from the buffer?",
        {"buffer.read_hits": False},
    ),
    Alternative(
        "in-order",
        "requests cross the link in order",
        "May a read overtake a write on the host's link?",
        {"host.order": "in_order"},
    ),
    Alternative(
        "pad",
        "partial writes read nothing",
        "Does a write of part of a page read the rest first?",
        {"ftl.partial_write": "pad"},
    ),
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
        "queue-64-drive",
        "write queue limit of 64, of the drive",
        "Does the limit hold for the controller, or for each die?",
        {"scheduling.write_queue_limit": 64, "scheduling.write_queue_limit_scope": "drive"},
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
"""Each changes one thing of `BASE`, under every calibrated load with `POLICIES`."""

POLICIES = ("FIFO", "RPS", "PE0", "PES_IPS", "PES_IPC")
