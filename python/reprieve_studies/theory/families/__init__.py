"""The families of checks, in the order of the report."""

from reprieve_studies.theory.checks import Family
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

FAMILIES: tuple[Family, ...] = (
    fifo.FAMILY,
    priority.FAMILY,
    ideal.FAMILY,
    cost.FAMILY,
    distributions.FAMILY,
    repeat.FAMILY,
    starvation.FAMILY,
    deferred.FAMILY,
    phases.FAMILY,
    waf.FAMILY,
    closed.FAMILY,
    saturation.FAMILY,
)
"""A family is one file and one line here."""
