"""Read priority without suspension: two classes at a server that preempts nothing (Cobham)."""

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.one_die import classes_of, one_die
from reprieve_studies.theory.formulas import cobham_waits


def at(load: float, requests: int = 0) -> Point:
    """Return both classes under a load."""
    classes = classes_of(load)
    read_wait, write_wait = cobham_waits(*classes)
    drive = one_die({"policy": "rps"}, *classes, requests)
    return {"read wait": read_wait, "write wait": write_wait}, drive
