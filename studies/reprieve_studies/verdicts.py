"""Verdicts: what a paper or a theory says, what a simulation gave, and whether they agree."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

EQUAL, AT_MOST, AT_LEAST = "equal", "at most", "at least"
RELATIONS = {EQUAL: "", AT_MOST: "≤ ", AT_LEAST: "≥ "}
"""Sign before the number of a source, by relation."""

Kind = Literal["measured", "predicted", "derived", "input", "arithmetic", "duplicate", "vacuous"]
KINDS: Mapping[Kind, str] = {
    "measured": "simulated, with nothing fitted to the source's results",
    "predicted": "simulated with values that were fitted to other results of the source",
    "derived": "calculated from numbers that stand in other rows",
    "input": "a number of the source that the simulation was given",
    "arithmetic": "calculated from the source's own numbers, without a simulation",
    "duplicate": "said again of a number that stands in another row",
    "vacuous": "its mechanism never came to work in the runs",
}
"""Evidential value of a verdict: only the first two test the simulator and the source."""
HEADLINE: tuple[Kind, ...] = ("measured", "predicted")

Cause = Literal[
    "load", "reading", "substrate", "contradiction", "ill_posed", "defect", "unknown_parameter"
]
CAUSES: Mapping[Cause, str] = {
    "load": "the load is not the source's",
    "reading": "another reading of the source reproduces it",
    "substrate": "the source's simulator works in another way",
    "contradiction": "the source contradicts itself",
    "ill_posed": "no physical value gives it",
    "defect": "the simulator lacks what it rests on",
    "unknown_parameter": "the source keeps a value to itself",
}
"""Why a claim is not reproduced."""


@dataclass(frozen=True)
class Verdict:
    """A claim, and whether it was reproduced; numbers are in `unit`."""

    claim: str
    source: str
    """Where the claim stands: paper and section, table or figure; or the formula."""
    unit: str
    """"%", "µs", "ms", …; "1" for a plain number."""
    paper: float | None
    """Number of the source."""
    ours: float | None
    """Number that was simulated or calculated; None if none was."""
    tolerance: float | None
    """By how much `ours` may miss `paper`, in `unit`; set before the run."""
    relation: str = EQUAL
    """Claim of the source: its number is reached, not exceeded, or exceeded."""
    note: str = ""
    untestable: bool = False
    """The claim cannot be tested; `note` says why."""
    kind: Kind = "measured"
    """Evidential value: a name of `KINDS`."""
    cause: Cause | None = None
    """Why it is not reproduced, where that was found out: a name of `CAUSES`."""
    seeds: Sequence[int] = ()
    """Of the runs that `ours` is the mean of; none where nothing is drawn."""
    low: float | None = None
    high: float | None = None
    """95 % interval of `ours` over the seeds; None with fewer than two."""

    def __post_init__(self) -> None:
        """Refuse words that the file does not have."""
        assert self.kind in KINDS, self.kind
        assert self.cause is None or self.cause in CAUSES, self.cause

    @property
    def counts(self) -> bool:
        """Whether the headline counts it."""
        return self.kind in HEADLINE

    @property
    def decided(self) -> bool | None:
        """Whether the whole interval gives the same verdict; None without one."""
        if self.reproduced is None or self.low is None or self.high is None:
            return None
        ends = [self._holds(end) for end in (self.low, self.high)]
        return all(end == self.reproduced for end in ends)

    @property
    def difference(self) -> float | None:
        """Excess of `ours` over `paper`."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper

    @property
    def reproduced(self) -> bool | None:
        """Whether the claim holds within the tolerance; None if it cannot be tested."""
        if self.untestable or self.kind == "vacuous" or self.ours is None:
            return None
        return self._holds(self.ours)

    def _holds(self, ours: float) -> bool | None:
        """Return whether the claim would hold with this number."""
        if self.paper is None or self.tolerance is None:
            return None
        difference = ours - self.paper
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
            "kind": self.kind,
            "cause": None if self.reproduced else self.cause,
            "seeds": list(self.seeds),
            "low": self.low,
            "high": self.high,
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
    """Return the numbers of reproduced, not reproduced and untestable claims.

    Only measured and predicted ones count. A number that the simulation was given, or that
    follows from others, proves nothing when it is reproduced; `aside` counts those.
    """
    outcomes = [verdict.reproduced for verdict in verdicts if verdict.counts]
    return outcomes.count(True), outcomes.count(False), outcomes.count(None)


def aside(verdicts: Sequence[Verdict]) -> dict[Kind, int]:
    """Return the number of claims of each kind that the headline leaves out."""
    kinds = [verdict.kind for verdict in verdicts if not verdict.counts]
    return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}


def headline(verdicts: Sequence[Verdict]) -> str:
    """Say in a sentence or two what came out."""
    yes, no, untestable = tally(verdicts)
    said = f"{yes} reproduced, {no} not reproduced, {untestable} not testable"
    undecided = sum(verdict.decided is False for verdict in verdicts if verdict.counts)
    if undecided:
        said += f"; {undecided} could come out either way over the seeds"
    others = ", ".join(f"{count} {kind}" for kind, count in aside(verdicts).items())
    return said + (f". Not counted: {others}" if others else "")
