"""What the paper leaves open about its drive: the reading that is chosen, and the others."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from reprieve_studies.runs import Overrides
from reprieve_studies.zambelli21.paper import (
    CHANNELS,
    DIES_PER_CHIP,
    GC_THRESHOLD,
    OVER_PROVISIONING,
    PAGES_PER_BLOCK,
    WRITE_AMPLIFICATION,
)

UNIT_BYTES = 4096
"""What the drive maps and reads: the paper's requests (A135)."""
PAGE_UNITS = 4
"""Of a page of 16 KiB."""
WORDLINE_UNITS = 12
"""Of a wordline of three pages."""
UNIT_BUS_US = 10.24
"""4096 bytes at 400 MT/s."""
BLOCKS = 64
"""Of a die, in place of 2048: the shares stay (A136)."""
FRAME_BUFFER_FRAMES = 1024
ITERATIONS = 29
"""Of a program of the part, on average."""
PULSE_MW, VERIFY_MW = 92.4, 78.4
"""Of the part: a program of a wordline."""
PACE = WRITE_AMPLIFICATION - 1
"""Pages moved for each page of the host (A138)."""


@dataclass(frozen=True)
class Shape:
    """What a state of the drive belongs to."""

    program_units: int
    """Of 4 KiB, in one program."""
    chips_per_channel: int

    @property
    def dies(self) -> int:
        """Of the drive."""
        return CHANNELS * self.chips_per_channel * DIES_PER_CHIP

    @property
    def units_per_block(self) -> int:
        """Of 256 pages, or of the whole wordlines among them: 85 of three pages each."""
        return PAGES_PER_BLOCK * PAGE_UNITS // self.program_units * self.program_units

    @property
    def frame_bytes(self) -> int:
        """Of an entry of the frame buffer; entries of 4 KiB cannot hold a wordline for each die."""
        return UNIT_BYTES if self.program_units == PAGE_UNITS else UNIT_BYTES * PAGE_UNITS

    @property
    def load_gap_us(self) -> float:
        """Between two units: the two set-ups of 1 µs between three pages, spread over eleven."""
        return 0.0 if self.program_units == PAGE_UNITS else 0.182


@dataclass(frozen=True)
class Reading:
    """One reading."""

    name: str
    title: str
    question: str
    """What the paper leaves open."""
    shape: Shape = field(default=Shape(PAGE_UNITS, 1))
    overrides: Overrides = field(default_factory=dict)
    in_slices: bool = False
    """The paper's 5 and 10 are points at which a program can be suspended, not suspensions."""


BASE = Reading(
    "page-1",
    "page programs, 1 chip",
    "as chosen: tPGM is that of a page of 16 KiB, a channel has one chip of eight dies, programs "
    "of garbage collection can be suspended, erases cannot, and collection moves 1.4 pages for "
    "each page of the host.",
)

_ERASES: Overrides = {
    "suspension.erase": True,
    "suspension.host_read_suspends": ["program", "gc_program", "erase"],
}
_COMMAND = "host.t_command_us"
_SAME_BLOCK = "suspension.same_block"
FITTED = Reading(
    "fitted",
    "fitted: 2 chips, 3 µs a command",
    "Two chips a channel, fitted to the bandwidth without suspension; 3 µs of the controller for "
    "each command, one after the other, fitted to the bandwidth with ten; a read waits for a "
    "program of its own wordline alone, and erases are suspended too, both chosen because the "
    "paper's read p99.99 with suspension is shorter than a program and an erase. All else is "
    "predicted.",
    Shape(PAGE_UNITS, 2),
    {**_ERASES, _COMMAND: 3, _SAME_BLOCK: "wordline"},
)
JUDGED = (BASE, FITTED)
"""Under each of them every claim is judged, over all seeds."""


def _fitted_but(name: str, title: str, *, slices: bool = False, **changed: object) -> Reading:
    """Return the fitted reading with one thing changed."""
    shape = changed.pop("shape", FITTED.shape)
    assert isinstance(shape, Shape)
    overrides = {**FITTED.overrides, **{key.replace("__", "."): changed[key] for key in changed}}
    return Reading(f"fitted-{name}", title, title, shape, overrides, slices)


SENSITIVITY = (
    _fitted_but("chips-1", "1 chip a channel", shape=Shape(PAGE_UNITS, 1)),
    _fitted_but("command-0", "no time a command", host__t_command_us=0),
    _fitted_but("command-2", "2 µs a command", host__t_command_us=2),
    _fitted_but("command-4", "4 µs a command", host__t_command_us=4),
    _fitted_but("page", "reads wait for their own page", suspension__same_block="page"),
    _fitted_but("block", "reads wait for their block", suspension__same_block="block"),
    _fitted_but(
        "erases-run",
        "erases run through",
        suspension__erase=False,
        suspension__host_read_suspends=["program", "gc_program"],
    ),
    _fitted_but("points", "5 and 10 are points of a program", slices=True),
)
"""Each free parameter of `FITTED` over its plausible range, one at a time; then what “5 and 10”
count."""

LIMITS = (2, 5, 6, 8, 10, 15)
"""Suspensions of a program that the fitted reading is allowed, to see where the tail falls."""

READINGS = (
    BASE,
    FITTED,
    Reading(
        "page-2",
        "page programs, 2 chips",
        "Table 1 has the dies of a chip, but not the chips of a channel.",
        Shape(PAGE_UNITS, 2),
    ),
    Reading(
        "wordline-1",
        "wordline programs, 1 chip",
        "Section 3.1 loads three pages and then programs; is that the tPGM of Table 2?",
        Shape(WORDLINE_UNITS, 1),
    ),
    Reading("wordline-2", "wordline programs, 2 chips", "Both.", Shape(WORDLINE_UNITS, 2)),
    Reading(
        "host-programs",
        "programs of collection run on",
        "Which programs make way? The paper speaks of programs, not of whose they are.",
        overrides={"suspension.host_read_suspends": ["program"]},
    ),
    Reading(
        "host-programs-2",
        "programs of collection run on, 2 chips",
        "Both of these.",
        Shape(PAGE_UNITS, 2),
        {"suspension.host_read_suspends": ["program"]},
    ),
    Reading(
        "erases",
        "erases are suspended too, in all three cases",
        "The paper isolates the suspension of programs; that its erases run through is a reading.",
        overrides=_ERASES,
    ),
    Reading(
        "threshold",
        "collection keeps the threshold free",
        "Is the write amplification of 2.4 given, or does it follow from the threshold of 10 %? "
        "Here up to two pages are moved for each page of the host, so that it follows.",
        overrides={"ftl.gc_rate_pages_per_write": 2.0},
    ),
)
"""Each is run with every load; all but the first at the queue depths of the paper's text alone."""

BY_NAME: Mapping[str, Reading] = MappingProxyType(
    {reading.name: reading for reading in (*READINGS, *SENSITIVITY)}
)


def drive(shape: Shape) -> dict[str, object]:
    """Return the scenario of the drive, without the load and the suspensions allowed."""
    dies_per_channel = shape.chips_per_channel * DIES_PER_CHIP
    return {
        "part": "tlc3d-zambelli",
        "geometry": {
            "channels": CHANNELS,
            "dies_per_channel": dies_per_channel,
            "chips_per_channel": shape.chips_per_channel,
            "planes_per_die": 1,
            "blocks_per_plane": BLOCKS,
            "pages_per_block": shape.units_per_block,
            "page_bytes": UNIT_BYTES,
        },
        "timing": {
            "t_bus_us": UNIT_BUS_US,
            "wordline_pages": shape.program_units,
            "t_load_gap_us": shape.load_gap_us,
        },
        "suspension": {"erase": False, "host_read_suspends": ["program", "gc_program"]},
        "scheduling": {"policy": "rps"},
        "ftl": {
            "over_provisioning": OVER_PROVISIONING,
            "placement": "dynamic",
            "gc_background": False,
            "gc_start_free_share": GC_THRESHOLD,
            "gc_rate_pages_per_write": PACE,
            "wordline_timeout_us": 1_000_000,
            "precondition": "steady",
        },
        "buffer": {"bytes": FRAME_BUFFER_FRAMES * shape.frame_bytes, "acknowledge": "back"},
        "host": {"interface": "nvme", "pcie_generation": 3, "pcie_lanes": 4},
        "power": {"account": "on", **_powers(shape)},
    }


def _powers(shape: Shape) -> dict[str, object]:
    """Book the power of a program to the pages of its wordline, where a program writes fewer."""
    if shape.program_units == WORDLINE_UNITS:
        return {}
    share = shape.program_units / WORDLINE_UNITS
    # No die of the study has two planes, so that a base would change nothing.
    return {
        "p_base_mw": 0.033,
        "p_program_pulse_mw": PULSE_MW * share,
        "p_program_verify_mw": VERIFY_MW * share,
        "p_erase_verify_mw": VERIFY_MW,
    }


def load(mix_reads: float, queue_depth: int, requests: int) -> dict[str, object]:
    """Return the section of a load: random, aligned, 4 KiB, a closed loop."""
    return {
        "generator": "mixed",
        "requests": requests,
        "read_fraction": mix_reads,
        "request_bytes": UNIT_BYTES,
        "queue_depth": queue_depth,
    }


def suspensions(number: int, *, in_slices: bool = False) -> dict[str, object]:
    """Return what allows so many suspensions of a program, or has so many slices."""
    if number == 0:
        return {"suspension.program": "none"}
    if in_slices:
        return {
            "suspension.program": "sliced",
            "suspension.slice_iterations": math.ceil(ITERATIONS / number),
            "suspension.t_slice_overhead_us": 0,
        }
    return {"suspension.program": "iteration", "suspension.max_per_operation": number}
