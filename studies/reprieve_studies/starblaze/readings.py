"""What the slides leave open: the drive and the load that are chosen, and the others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from reprieve_studies.runs import Overrides
from reprieve_studies.starblaze.bench import mode
from reprieve_studies.starblaze.paper import PARTS, PartTimes

UNIT_BYTES = 4096
"""What the drive maps and reads: the requests of the slides."""
CHANNELS = 8
DIES_PER_CHANNEL = 4
BLOCKS = 64
"""Of a die, far fewer than a real one has: shares of the capacity stay."""
OVER_PROVISIONING = 0.28
FREE_SHARE = 0.07
"""Of the blocks: with fewer, collection goes along with the host's writes."""
GC_RATE = 2.0
"""Pages moved at most for each page of the host: more than it needs, so that the write
amplification follows from the over-provisioning."""
COMMAND_US = 15.0
"""What host, driver and firmware take for a request: the slides' writes after (16.1 to 16.9), which
end in the buffer, less the link."""
PCIE_BYTES_PER_S = 3_938_461_538
"""Generation 3, four lanes."""
BUFFER_BYTES = 64 << 20
FIRMWARE = "firmware"
"""What jobs are called that stand for the drive's own firmware; no latency of theirs counts."""


class Spot(NamedTuple):
    """Which run."""

    reading: str
    setting: str
    """A name of `SETTINGS`."""
    case: str
    seed: int


@dataclass(frozen=True)
class Shape:
    """What a state of the drive belongs to."""

    part: str
    planes: int
    """That one program or erase takes together; the drive sees them as one."""
    page_units: int
    """Of 4 KiB."""
    pages_per_block: int
    unit_bus_us: float
    blocks: int = BLOCKS
    dies_per_channel: int = DIES_PER_CHANNEL
    over_provisioning: float = OVER_PROVISIONING

    @property
    def times(self) -> PartTimes:
        """Of the slides."""
        return PARTS[self.part]

    @property
    def dies(self) -> int:
        """Of the drive."""
        return CHANNELS * self.dies_per_channel

    @property
    def program_units(self) -> int:
        """Of 4 KiB, in one program."""
        return self.planes * self.page_units

    @property
    def units_per_block(self) -> int:
        """Of 4 KiB, that one erase frees."""
        return self.program_units * self.pages_per_block

    @property
    def load_us(self) -> float:
        """Data of one program over the channel."""
        return self.program_units * self.unit_bus_us


BLOCK_PAGES = 192
"""A quarter of the part's, whose shape is assumed: so a minute holds several erases of each die."""
TLC = Shape("tlc3d-starblaze", 4, 4, BLOCK_PAGES, 10.24)
"""Pages of 16 KiB, four planes as one."""

# What a host read may suspend, by the name of the setting.
SETTINGS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "none": ("no suspension", ()),
        "erase": ("erases", ("erase",)),
        "program": ("programs", ("program", "gc_program")),
        "both": ("programs and erases", ("program", "gc_program", "erase")),
        "host": ("programs of the host, and erases", ("program", "erase")),
    }
)


@dataclass(frozen=True)
class Reading:
    """One reading."""

    name: str
    title: str
    question: str
    """What the slides leave open."""
    settings: tuple[str, ...] = ("none", "both")
    load: str = "paced"
    """A name of `jobs.LOADS`."""
    shape: Shape = TLC
    overrides: Overrides = field(default_factory=dict)


BASE = Reading(
    "chosen",
    "as chosen",
    "The load is held at the slides' rates, one request outstanding a thread; 3D TLC with typical "
    "times; reads before collection; suspension is that of programs and erases.",
    ("none", "erase", "program", "both", "host"),
)

READINGS = (
    BASE,
    Reading(
        "closed",
        "closed loop",
        "Nothing but latency limits the rate: one request outstanding a thread, 66 and 55 % reads.",
        load="closed",
    ),
    Reading(
        "think",
        "closed loop with pauses",
        "Each thread pauses after a request for what the rates before leave over by Little's law; "
        "after, it pauses for as long.",
        load="think",
    ),
    Reading(
        "open",
        "open loop",
        "Requests come at random at the slides' rates, however many are outstanding.",
        load="open",
    ),
    Reading(
        "jobs",
        "readers and writers apart",
        "2rr1rw are two jobs that read and one that writes, not a mix; held at the same rates.",
        load="jobs",
    ),
    Reading(
        "gc-first",
        "reads of collection first",
        "“SMART processing between GC read and host read”: what if reads of collection go before "
        "those of the host?",
        overrides={
            "scheduling.policy": "microcode",
            "scheduling.steps": [
                "gc_read", "host_read", "gc_program", "erase", "host_write", "resume",
            ],
        },
    ),
    Reading(
        "max-times",
        "maximum times",
        "3D TLC with the maximum of each time.",
        overrides={"timing.values": "maximum"},
    ),
    Reading(
        "slc3d",
        "3D SLC",
        "Which part was it? 3D in SLC mode has the same tErase.",
        ("none", "erase", "both"),
        shape=Shape("slc3d-starblaze", 4, 4, BLOCK_PAGES, 10.24),
    ),
    Reading(
        "mlc2d",
        "2D MLC",
        "… or 2D MLC with half the tErase, pages of 8 KiB, two planes.",
        ("none", "erase", "both"),
        shape=Shape("mlc2d-starblaze", 2, 2, 256, 20.48),
    ),
    Reading(
        "page",
        "programs of one plane",
        "A program takes 16 KiB in place of 64.",
        shape=Shape("tlc3d-starblaze", 1, 4, BLOCK_PAGES, 10.24),
    ),
    Reading(
        "blocks",
        "four times the blocks",
        "A read of the block that is being programmed waits for the program. Of our blocks one in "
        f"{BLOCKS} is; here one in {4 * BLOCKS}, of a drive four times as large.",
        ("none", "erase", "both"),
        shape=Shape("tlc3d-starblaze", 4, 4, BLOCK_PAGES, 10.24, 4 * BLOCKS),
    ),
)  # fmt: skip
"""Each is run with all four cases."""

BY_NAME: Mapping[str, Reading] = MappingProxyType({reading.name: reading for reading in READINGS})


def drive(shape: Shape) -> dict[str, object]:
    """Return the scenario of the drive, without the load and the suspensions allowed."""
    return {
        "part": shape.part,
        "geometry": {
            "channels": CHANNELS,
            "dies_per_channel": shape.dies_per_channel,
            "planes_per_die": 1,
            "blocks_per_plane": shape.blocks,
            "pages_per_block": shape.units_per_block,
            "page_bytes": UNIT_BYTES,
        },
        "timing": {"t_bus_us": shape.unit_bus_us, "wordline_pages": shape.program_units},
        "scheduling": {"policy": "rps"},
        "ftl": {
            "over_provisioning": shape.over_provisioning,
            "placement": "dynamic",
            "gc_background": False,
            "gc_start_free_share": FREE_SHARE,
            "gc_rate_pages_per_write": GC_RATE,
            "wordline_timeout_us": 1_000_000,
            "precondition": "steady",
        },
        "buffer": {"bytes": BUFFER_BYTES, "acknowledge": "back"},
        "host": {
            "interface": "nvme",
            "t_command_us": COMMAND_US,
            "pcie_generation": 3,
            "pcie_lanes": 4,
        },
    }


def settled(shape: Shape) -> dict[str, object]:
    """Return what preconditioning differs in: it leaves as many blocks free as collection does.

    A drive that nobody writes to rests with two blocks more than its reserve.
    """
    return {"ftl.gc_hard_free_blocks": int(FREE_SHARE * shape.blocks) - 2}


def suspensions(setting: str, part: str) -> dict[str, object]:
    """Return what lets reads suspend what the setting names."""
    _, classes = SETTINGS[setting]
    programs = any(name.endswith("program") for name in classes)
    return {
        "suspension.program": mode(part) if programs else "none",
        "suspension.erase": "erase" in classes,
        "suspension.host_read_suspends": list(classes),
    }
