"""The families of checks, in the order of the report."""

from functools import partial

from reprieve_studies.theory.checks import Axes, Family
from reprieve_studies.theory.families import (
    closed,
    cost,
    deferred,
    distributions,
    fifo,
    ideal,
    phases,
    priority,
    repeat,
    saturation,
    starvation,
    tables,
    waf,
)

_MODULES = (fifo, priority, ideal, cost, distributions, repeat, starvation, deferred, phases, waf,
            closed, saturation)  # fmt: skip
"""A family is one file and one name here, and its table in `families.toml`."""
ABOUT: str = tables.TABLES["about"]
"""How to read their report."""
FAMILIES: tuple[Family, ...] = tuple(
    Family(
        name, of["title"], of["paragraphs"], Axes(**of["axes"]),
        getattr(one, "experiments", partial(tables.experiments, one, name)),
        getattr(one, "curves", partial(tables.curves, one, name)),
    )
    for one in _MODULES
    for name in (one.__name__.rpartition(".")[2],)
    for of in (tables.TABLES[name],)
)  # fmt: skip
