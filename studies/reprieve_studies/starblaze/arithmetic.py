"""What follows from the slides' numbers by hand, without any simulation."""

from dataclasses import dataclass

from reprieve_studies.starblaze.paper import Case
from reprieve_studies.starblaze.readings import Shape


@dataclass(frozen=True)
class Little:
    """What Little's law says of a case."""

    outstanding_before: float
    outstanding_after: float
    """The sum over reads and writes of rate and mean latency."""
    think_us: float
    """Of a thread between two requests, if nothing but latency and this made the rate."""
    iops_after: float
    """What these threads would have reached with the latencies after."""


def little(case: Case) -> Little:
    """Apply it."""
    iops = case.read.iops + case.write.iops
    before = (case.read.iops * case.read.before_us + case.write.iops * case.write.before_us) / 1e6
    after = (case.read.iops * case.read.after_us + case.write.iops * case.write.after_us) / 1e6
    cycle_us = 1e6 * case.threads / iops
    think_us = cycle_us - 1e6 * before / iops
    return Little(before, after, think_us, 1e6 * case.threads / (think_us + 1e6 * after / iops))


def expected_us_max(limit_us: float, waits: float) -> float:
    """Return the mean of the longest of so many waits, each uniform up to a limit."""
    return limit_us * waits / (waits + 1)


def waits_behind(us_max: float, limit_us: float) -> float:
    """Return of how many such waits a longest is to be expected; infinite if it is above."""
    share = us_max / limit_us
    return share / (1 - share) if share < 1 else float("inf")


@dataclass(frozen=True)
class Wait:
    """What reads of a case wait for at the dies, if nothing is suspended."""

    program_share: float
    """Of the dies' time in programs."""
    program_us: float
    """Mean wait of a read behind one."""
    erase_us: float
    reads_behind_erases: float
    """In a minute."""
    reads_behind_programs: float
    """In a minute."""


def wait(shape: Shape, case: Case, amplification: float) -> Wait:
    """Return them: a read finds a die in an operation by its share, and waits for half of it."""
    times = shape.times
    programmed = case.write.iops * amplification
    programs = programmed / shape.program_units
    program_us = 1e3 * times.t_program_ms[0] + shape.load_us
    program_share = programs * program_us / 1e6 / shape.dies
    erases = programmed / shape.units_per_block
    erase_us = 1e3 * times.t_erase_ms[0]
    erase_share = erases * erase_us / 1e6 / shape.dies
    return Wait(
        program_share,
        program_share * program_us / 2,
        erase_share * erase_us / 2,
        60 * case.read.iops * erase_share,
        60 * case.read.iops * program_share,
    )


def alone_us(shape: Shape, command_us: float, link_us: float) -> float:
    """Return what a read takes that meets nothing."""
    return command_us + shape.times.t_read_us[0] + shape.unit_bus_us + link_us
