"""Where the search looks: ranges of parameters that follow from the measurements by arithmetic."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from reprieve._native import UserError
from reprieve.calibration.measured import Condition, Job, Measured
from reprieve.calibration.parameters import OVERHEAD, PROGRAM, STEPS, Parameter, Value

READS_PER_SUSPENSION: tuple[Value, ...] = (1, 2, 3, 4, 8, None)
PLANES: tuple[Value, ...] = (1, 2, 4)
DIES = "geometry.dies"
"""Choice of channels and dies a channel together, `8x4`."""

READS = "suspension.reads_per_suspension"
WRITE_CONTROLLER = "host.t_controller_write_us"
BUFFER = "buffer.bytes"
"""Size of the write buffer, which determines how many dies program at once."""
_PLANES = "geometry.planes_per_die"

ANY_PROGRAM_US = (100.0, 10_000.0)
"""Range of program times where no measurement narrows it."""

_NEARLY = 99.0
_PAGE_BYTES = 16384
_TYPES = 3
_DEEP = 16
_VERY_DEEP = 128
"""Depths from which on link and dies, and the number of open commands, have their effect."""
_WORDLINE_BYTES = _PAGE_BYTES * _TYPES


class Reading(NamedTuple):
    """A job of random reads, as measured."""

    bytes: int
    depth: int
    measured: Measured


def size_bytes(job: Job, direction: str) -> int:
    """Bytes of a request of a job; raises UserError if it has several sizes."""
    sizes = job.asked.sizes[direction]
    if len(sizes) > 1:
        text = ":".join(f"{size}/{percent:g}" for size, percent in sizes)
        raise UserError(f'job "{job.name}": bssplit={text}: must be one size, such as bs=4k')
    return sizes[0][0]


def has_writes(condition: Condition) -> bool:
    """Return whether anything is written in it."""
    return any(job.rate("write") for job in condition.jobs)


def shallowest(conditions: Sequence[Condition]) -> list[Condition]:
    """List the conditions whose reads have the smallest depth of all, and those without reads."""
    depths = [
        max((job.asked.depth for job in each.jobs if "read" in job.measured), default=0)
        for each in conditions
    ]
    least = min((each for each in depths if each), default=0)
    return [each for each, of in zip(conditions, depths, strict=True) if of <= least]


def of_programs(parameters: Sequence[Parameter]) -> list[Parameter]:
    """List the parameters that have no effect on reads alone."""
    return [each for each in parameters if is_of_programs(each.key) or each.key == _PLANES]


def is_of_programs(key: str) -> bool:
    """Return whether this key has no effect on reads of a drive that programs nothing."""
    prefixes = ("program.", "suspension.", "buffer.", "timing.t_suspend", "timing.t_buffer")
    return key.startswith(prefixes) or key in (WRITE_CONTROLLER, "timing.t_erase_us")


def shows_when_shallow(parameter: Parameter) -> bool:
    """Return whether it takes effect with one read at a time.

    The number of reads per suspension, and the cost of its end, show only in a read that waits
    behind another.
    """
    if parameter.key in (READS, "timing.t_buffer_us"):
        return False
    return parameter.key.startswith(("timing.t_read", "timing.t_bus")) or parameter in of_programs(
        [parameter]
    )


def stays_at_first(parameter: Parameter) -> bool:
    """Return whether a value of its own would contradict the results of the shallow loads.

    The controller's time and tR add up; queues at the dies separate them, by least squares.
    """
    return parameter.key == "host.t_controller_us"


def default_parameters(conditions: Sequence[Condition]) -> tuple[Parameter, ...]:
    """Return what is free if nothing is said: the parameters that these measurements bear on."""
    reads = [
        Reading(size_bytes(job, "read"), job.asked.depth, job.measured["read"])
        for condition in conditions
        if not has_writes(condition)
        for job in condition.jobs
        if "read" in job.measured
    ]
    if not reads:
        raise UserError("no condition has reads alone; must have at least one, at a small depth")
    first = min(reads, key=lambda each: (each.depth, each.bytes))
    base_us = first.measured.percentile_ns[50.0] / 1e3
    # No array operation takes longer than nearly all reads of one at a time take as a whole.
    slowest_us = max(each for p, each in first.measured.percentile_ns.items() if p <= _NEARLY) / 1e3
    fastest = max(each.measured.iops for each in reads)
    bytes_per_s = max(each.measured.iops * each.bytes for each in reads)
    found = [
        Parameter(
            f"timing.t_read_us_by_type[{number}]",
            *(0.3 * base_us, 1.1 * max(base_us, slowest_us)),
            guess=guess,
        )
        for number, guess in enumerate((0.68 * base_us, 0.74 * base_us, 0.85 * base_us))
    ]
    found += [
        _bus(reads),
        Parameter("host.t_controller_us", 0.02 * base_us, 0.45 * base_us, guess=0.12 * base_us),
        Parameter("host.t_command_us", 0.02, 1e6 / fastest, guess=0.2e6 / fastest),
    ]
    deepest = max(reads, key=lambda each: (each.depth, -each.bytes))
    if deepest.depth >= _DEEP:
        found.append(
            Parameter(
                "host.link_bytes_per_s",
                *(0.97 * bytes_per_s, 4 * bytes_per_s),
                whole=True,
                guess=1.03 * bytes_per_s,
                # Where dies or channels are what limits reads, the link is faster than them.
                other_guess=2 * bytes_per_s,
            )
        )
        found.append(Parameter(DIES, choices=_die_choices(fastest * base_us / 1e6)))
    if deepest.depth >= _VERY_DEEP:
        found.append(_outstanding(first, deepest))
    if any(map(has_writes, conditions)):
        found += _program_parameters()
    return tuple(found)


def program_range(conditions: Sequence[Condition], dies: int, planes: int) -> Parameter:
    """Return how long a program can be for what was written to have been written."""
    written = max(
        rate * size_bytes(job, "write")
        for condition in conditions
        for job in condition.jobs
        if (rate := job.rate("write"))
    )
    longest_us = dies * planes * _WORDLINE_BYTES / written * 1e6
    return Parameter(PROGRAM, 0.2 * longest_us, 1.15 * longest_us, guess=0.9 * longest_us)


def _program_parameters() -> list[Parameter]:
    return [
        Parameter(_PLANES, choices=PLANES),
        Parameter(READS, choices=READS_PER_SUSPENSION),
        Parameter(WRITE_CONTROLLER, 0.5, 60),
        Parameter(PROGRAM, *ANY_PROGRAM_US),
        Parameter(STEPS, 2, 48, whole=True, guess=18, other_guess=9),
        Parameter(OVERHEAD, 0.3, 300, guess=20),
        Parameter("timing.t_buffer_us", 0.3, 300, guess=20),
        Parameter(BUFFER, 1 << 19, 1 << 24, whole=True, guess=4 << 20),
    ]


def _bus(reads: Sequence[Reading]) -> Parameter:
    """Return the time of a page on the channel: what a longer read takes more."""
    key = "timing.t_bus_us"
    shallow = min(each.depth for each in reads)
    by_size = {each.bytes: each.measured for each in reads if each.depth == shallow}
    small, large = min(by_size), max(by_size)
    if small == large:
        return Parameter(key, 4.0, 100.0)
    added_ns = by_size[large].percentile_ns[50.0] - by_size[small].percentile_ns[50.0]
    page_us = max(added_ns / 1e3 / (large - small) * _PAGE_BYTES, 4.0)
    # The link takes its share of it.
    return Parameter(key, 0.3 * page_us, 1.2 * page_us, guess=0.8 * page_us)


def _outstanding(first: Reading, deepest: Reading) -> Parameter:
    """Return how many commands the drive works on: the others wait, and all wait as long.

    What even the fastest of deep reads waits, times the rate, is how many wait (Little).
    """
    low = min(first.measured.percentile_ns)
    waits_ns = deepest.measured.percentile_ns[low] - first.measured.percentile_ns[low]
    waiting = waits_ns * 1e-9 * deepest.measured.iops
    inside = max(deepest.depth - waiting, 0.2 * deepest.depth)
    return Parameter(
        "host.outstanding", 0.4 * inside, 2.5 * deepest.depth, whole=True, guess=inside
    )


def _die_choices(busy: float) -> tuple[Value, ...]:
    """Return numbers of channels and dies a channel, given the mean number of busy dies."""
    powers = (1, 2, 4, 8, 16, 32)
    found = [
        f"{channels}x{dies}"
        for channels, dies in product((4, 8, 16), powers)
        if 0.55 * busy <= channels * dies <= 2.5 * busy
    ]
    return tuple(found) or ("8x4",)
