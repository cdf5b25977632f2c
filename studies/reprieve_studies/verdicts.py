"""Verdicts: what a paper or a theory says, what a simulation gave, and whether they agree."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

EQUAL, AT_MOST, AT_LEAST = "equal", "at most", "at least"
RELATIONS = {EQUAL: "", AT_MOST: "≤ ", AT_LEAST: "≥ "}
"""What stands before the number of a source."""


@dataclass(frozen=True)
class Verdict:
    """A claim, and whether it was reproduced; numbers are in `unit`."""

    claim: str
    source: str
    """Where the claim stands: paper and section, table or figure; or the formula."""
    unit: str
    """"%", "µs", "ms", …; "1" for a plain number."""
    paper: float | None
    """What the source says."""
    ours: float | None
    """What was simulated or calculated; None if it was not."""
    tolerance: float | None
    """By how much `ours` may miss `paper`, in `unit`; set before the run."""
    relation: str = EQUAL
    """What the source says of its number: that it is reached, not exceeded, or exceeded."""
    note: str = ""
    untestable: bool = False
    """The claim cannot be tested; `note` says why."""

    @property
    def difference(self) -> float | None:
        """What `ours` is above `paper`."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper

    @property
    def reproduced(self) -> bool | None:
        """Whether the claim holds within the tolerance; None if it cannot be tested."""
        difference = self.difference
        if self.untestable or difference is None or self.tolerance is None:
            return None
        if not math.isfinite(difference):
            return False
        if self.relation == AT_MOST:
            return difference <= self.tolerance
        if self.relation == AT_LEAST:
            return difference >= -self.tolerance
        return abs(difference) <= self.tolerance

    def row(self) -> dict[str, Any]:
        """Return the verdict as `verdicts.json` has it."""
        found = {
            "claim": self.claim,
            "source": self.source,
            "unit": self.unit,
            "relation": self.relation,
            "paper": self.paper,
            "ours": self.ours,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "reproduced": self.reproduced,
            "note": self.note,
        }
        return {name: finite(value) for name, value in found.items()}


def finite(value: Any) -> Any:
    """JSON has no infinities; a number that is none was not measured."""
    if isinstance(value, Mapping):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def verdicts_json(verdicts: Sequence[Verdict]) -> str:
    """`verdicts.json`: a list, in the order given."""
    rows = [verdict.row() for verdict in verdicts]
    return json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def tally(verdicts: Sequence[Verdict]) -> tuple[int, int, int]:
    """How many were reproduced, not reproduced, and could not be tested."""
    outcomes = [verdict.reproduced for verdict in verdicts]
    return outcomes.count(True), outcomes.count(False), outcomes.count(None)
