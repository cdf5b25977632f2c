"""How long a request keeps dies busy, by hand: what the drive can do at most."""

from dataclasses import dataclass

from reprieve_studies.zambelli21.paper import (
    TABLE_2_US,
    WRITE_AMPLIFICATION,
)
from reprieve_studies.zambelli21.readings import UNIT_BUS_US, Shape


@dataclass(frozen=True)
class Work:
    """Time of dies for a request of the host, on average, in µs."""

    host_reads: float
    programs: float
    moved_reads: float
    erases: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.host_reads + self.programs + self.moved_reads + self.erases


def work_us(shape: Shape, read_fraction: float, amplification: float = WRITE_AMPLIFICATION) -> Work:
    """Return the time of Table 2 and of the transfers; nothing is suspended or repeated."""
    writes = 1 - read_fraction
    read_us = TABLE_2_US["tREAD"] + UNIT_BUS_US
    program_us = TABLE_2_US["tPGM"] + shape.program_units * UNIT_BUS_US
    return Work(
        host_reads=read_fraction * read_us,
        programs=writes * amplification / shape.program_units * program_us,
        moved_reads=writes * (amplification - 1) * read_us,
        erases=writes * amplification / shape.units_per_block * TABLE_2_US["tERS"],
    )


def most_kiops(
    shape: Shape, read_fraction: float, amplification: float = WRITE_AMPLIFICATION
) -> float:
    """Return what all dies can do that never wait."""
    return 1e3 * shape.dies / work_us(shape, read_fraction, amplification).total
