"""A check: a number from theory beside the same number measured in a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reprieve.parallel import Watch
from reprieve_studies.theory.models import Model, Sets
from reprieve_studies.theory.statistics import Estimate
from reprieve_studies.verdicts import EQUAL, Verdict

ERRORS = 3.0
"""Standard errors within which theory has to lie."""
TOLERANCE_SHARE = 0.01
"""And within this share of it."""
_ROUNDING = 1e-9
ERROR_OF_TOLERANCE = 0.5
"""A standard error above this share of the tolerance proves nothing in favour of a model."""


@dataclass(frozen=True)
class Check:
    """One number."""

    claim: str
    theory: float
    unit: str
    quantity: str
    """Name of the estimate among those of the experiment."""
    source: str
    series: str = ""
    """Its line in the family's figure; empty: not shown there."""
    x: float = 0.0
    tolerance_share: float = TOLERANCE_SHARE
    is_limit: bool = False
    """Theory is a limit that a drive only comes near: the share counts, standard errors do not."""
    resolution: float = 0.0
    """Step of the grid on which theory is computed: it is not known better than that."""
    relation: str = EQUAL
    note: str = ""

    def verdict(self, found: Estimate) -> Verdict:
        """Judge an estimate."""
        limit = self.tolerance_share * abs(self.theory)
        notes = [self.note] if self.note else []
        untestable = False
        if found.error is not None:
            notes.append(f"standard error {found.error:.2g} of {found.samples:,} samples")
            rounding = max(_ROUNDING * abs(self.theory), self.resolution)
            chance = max(ERRORS * found.error, rounding)
            # Wide, and not even so far off that it must be wrong.
            wide = not found.error <= ERROR_OF_TOLERANCE * limit
            untestable = wide and not abs(found.mean - self.theory) > chance
            if untestable:
                notes.append("not enough samples")
            if self.relation != EQUAL:
                limit = chance
            elif not self.is_limit:
                limit = min(limit, chance)
        return Verdict(
            claim=self.claim,
            source=self.source,
            unit=self.unit,
            paper=self.theory,
            ours=None if math.isnan(found.mean) else found.mean,
            tolerance=limit,
            relation=self.relation,
            note="; ".join(notes),
            untestable=untestable,
        )


Point = tuple[Mapping[str, float], Model]
"""Theory, by quantity, and the simulation that is to show it."""


@dataclass(frozen=True)
class Experiment:
    """One simulation and the checks that it serves."""

    label: str
    model: Model
    checks: Sequence[Check]

    def run(self, watch: Watch, sets: Sets | None = None) -> list[Verified]:
        """Simulate, with some keys set otherwise if asked, and judge."""
        found = self.model.measure(watch, sets or {})
        return [
            Verified(check, found[check.quantity], check.verdict(found[check.quantity]))
            for check in self.checks
        ]


@dataclass(frozen=True)
class Verified:
    """A check with what came out."""

    check: Check
    found: Estimate
    verdict: Verdict


Curve = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axes:
    """Axes of a family's figure."""

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Family:
    """Checks of one kind, which share a figure."""

    name: str
    title: str
    paragraphs: Sequence[str]
    axes: Axes
    experiments: Callable[[bool], Sequence[Experiment]]
    """Those of a quick or of a full run."""
    curves: Callable[[], Mapping[str, Curve]]
    """Theory as lines, by series."""
