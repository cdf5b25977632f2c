"""Order of arrival: a die is an M/D/1 queue of reads, an M/G/1 queue of reads and programs."""

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.one_die import PROGRAM_US, READ_US, classes_of, one_die
from reprieve_studies.theory.formulas import Class, fifo_wait, with_load


def alone(load: float, requests: int = 0) -> Point:
    """Return reads without programs."""
    reads = with_load(load, READ_US)
    drive = one_die({"policy": "fifo"}, reads, Class(0.0, PROGRAM_US), requests)
    return {"read wait": fifo_wait(reads)}, drive


def mixed(load: float, requests: int = 0) -> Point:
    """Return reads and programs, which wait alike."""
    classes = classes_of(load)
    wait = fifo_wait(*classes)
    drive = one_die({"policy": "fifo"}, *classes, requests)
    return {"read wait": wait, "write wait": wait}, drive
