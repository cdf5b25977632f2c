"""The families of checks, in the order of the report."""

import tomllib
from pathlib import Path

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
    waf,
)

_MODULES = (fifo, priority, ideal, cost, distributions, repeat, starvation, deferred, phases, waf,
            closed, saturation)  # fmt: skip
"""A family is one file and one name here, and its table in `families.toml`."""
_WORDS = tomllib.loads(Path(__file__).with_name("families.toml").read_text(encoding="utf-8"))
ABOUT: str = _WORDS["about"]
"""How to read their report."""
FAMILIES: tuple[Family, ...] = tuple(
    Family(name, of["title"], of["paragraphs"], Axes(**of["axes"]), one.experiments, one.curves)
    for one in _MODULES
    for name in (one.__name__.rpartition(".")[2],)
    for of in (_WORDS[name],)
)
