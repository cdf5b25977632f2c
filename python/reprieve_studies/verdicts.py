"""Verdicts: what a paper or a theory says, what a simulation gave, and whether they agree."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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

Class = Literal["mechanism", "headline", "absolute"]
CLASSES: Mapping[Class, str] = {
    "mechanism": "mechanisms",
    "headline": "headline magnitudes",
    "absolute": "absolute numbers",
}
"""An order or a sign that the mechanism makes; a relative gain that the source reports; a value in
the units of its drive. Each is counted apart."""
SEEDS_MIN = 5
"""Fewer seeds decide no claim about runs that are drawn."""
EVENTS_MIN = 100
"""Requests that lie beyond a percentile, in each run, before a claim about it is decided."""

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
    of: Class | None = None
    """Its class, where the source is a paper: a name of `CLASSES`."""
    null: float | None = None
    """Number of the same runs if suspension had no effect; None where that has no meaning."""
    lack: str = ""
    """Requests or seeds of which there are too few to decide it, in words."""

    def __post_init__(self) -> None:
        """Refuse words that the file does not have."""
        assert self.kind in KINDS, self.kind
        assert self.cause is None or self.cause in CAUSES, self.cause

    @property
    def null_model(self) -> bool | None:
        """Whether the claim would hold too if suspension had no effect; None where not known."""
        return None if self.null is None else self._accepts(self.null, self.null)

    @property
    def counts(self) -> bool:
        """Whether the headline counts it: it tests something, and rejects runs without effect."""
        return self.kind in HEADLINE and not self.null_model

    @property
    def undecided(self) -> bool:
        """Whether other seeds, or more requests, could turn the verdict."""
        return self._is_testable and self._outcome is None

    @property
    def difference(self) -> float | None:
        """Excess of `ours` over `paper`."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper

    @property
    def missed(self) -> float:
        """Distance of `ours` from the claim, in tolerances: at most 1 where it holds."""
        assert self.paper is not None and self.ours is not None and self.tolerance is not None
        excess = self.ours - self.paper
        if self.relation == EQUAL:
            excess = abs(excess)
        elif self.relation == AT_LEAST:
            excess = -excess
        if not self.tolerance:
            return 0.0 if excess <= 0 else math.inf
        return max(0.0, excess / self.tolerance)

    @property
    def reproduced(self) -> bool | None:
        """Whether the claim holds within the tolerance; None if undecided or not testable."""
        return self._outcome if self._is_testable else None

    @property
    def _is_testable(self) -> bool:
        has_numbers = None not in (self.lack or self.ours, self.paper, self.tolerance)
        return has_numbers and not self.untestable and self.kind != "vacuous"

    @property
    def _outcome(self) -> bool | None:
        if self.lack:
            return None
        assert self.ours is not None
        if self.low is None or self.high is None or not math.isfinite(self.ours):
            return self._accepts(self.ours, self.ours)
        return self._accepts(self.low, self.high)

    def _accepts(self, low: float, high: float) -> bool | None:
        """Return whether the claim holds over an interval; None if for a part of it."""
        if self.paper is None or self.tolerance is None:
            return None
        below, above = low - self.paper, high - self.paper
        if not math.isfinite(below) or not math.isfinite(above):
            return False
        least = -math.inf if self.relation == AT_MOST else -self.tolerance
        most = math.inf if self.relation == AT_LEAST else self.tolerance
        if least <= below and above <= most:
            return True
        return None if below <= most and above >= least else False

    @property
    def seeds_needed(self) -> int | None:
        """Seeds that would decide it if its mean stays: the interval shrinks with their root."""
        if not self.undecided or self.lack or not self.seeds or self.ours is None:
            return None
        assert self.paper is not None and self.tolerance is not None
        factor = 1.0
        edges = {AT_LEAST: self.paper - self.tolerance, AT_MOST: self.paper + self.tolerance}
        for edge in [edges[self.relation]] if self.relation in edges else edges.values():
            end = self.low if edge < self.ours else self.high
            if end is not None and (edge - end) * (edge - self.ours) < 0:
                factor = max(factor, ((end - self.ours) / (edge - self.ours)) ** 2)
        return math.ceil(factor * len(self.seeds)) if factor > 1 else None

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
            "note": "; ".join(part for part in (self.lack, self.note) if part),
            "kind": self.kind,
            "cause": self.cause if self.reproduced is False else None,
            "seeds": list(self.seeds),
            "low": self.low,
            "high": self.high,
            "class": self.of,
            "undecided": self.undecided,
            "seeds_needed": self.seeds_needed,
            "null_model": self.null_model,
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


class Tally(NamedTuple):
    """Numbers of claims by verdict."""

    reproduced: int
    not_reproduced: int
    undecided: int
    not_testable: int


def tally(verdicts: Sequence[Verdict]) -> Tally:
    """Count the claims that test something, by verdict.

    Only measured and predicted ones count, with a tolerance that rejects runs in which suspension
    has no effect. A number that the simulation was given, or that follows from others, proves
    nothing when it is reproduced; `aside` counts those.
    """
    counted = [verdict for verdict in verdicts if verdict.counts]
    outcomes = [verdict.reproduced for verdict in counted]
    undecided = sum(verdict.undecided for verdict in counted)
    untestable = outcomes.count(None) - undecided
    return Tally(outcomes.count(True), outcomes.count(False), undecided, untestable)


def tallies(verdicts: Sequence[Verdict]) -> dict[Class, Tally]:
    """Count each class of claims apart."""
    return {of: tally([one for one in verdicts if one.of == of])
            for of in CLASSES if any(one.of == of and one.counts for one in verdicts)}  # fmt: skip


def aside(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Return the number of claims of each kind that the headline leaves out."""
    kinds = [verdict.kind for verdict in verdicts if verdict.kind not in HEADLINE]
    found: dict[str, int] = {kind: kinds.count(kind) for kind in KINDS if kind in kinds}
    if blunt := sum(verdict.kind in HEADLINE and not verdict.counts for verdict in verdicts):
        found[NULL] = blunt
    return found


NULL = "that would hold without any effect of suspension"


def headline(verdicts: Sequence[Verdict]) -> str:
    """Say in a sentence or two what came out."""
    by_class = tallies(verdicts)
    if by_class:
        said = "; ".join(f"{CLASSES[of]}: {_counted(one)}" for of, one in by_class.items())
    else:
        said = _counted(tally(verdicts))
    known = [each.seeds_needed for each in verdicts if each.counts and each.seeds_needed]
    if known:
        few, many = min(known), max(known)
        said += f". About {few:,} seeds would decide the nearest of the undecided"
        said += f", {many:,} the farthest, if their means stay" if many > few else ""
    others = ", ".join(f"{count} {kind}" for kind, count in aside(verdicts).items())
    return said + (f". Not counted: {others}" if others else "")


def _counted(found: Tally) -> str:
    yes, no, undecided, untestable = found
    said = f"{yes} reproduced, {no} not reproduced"
    said += f", {undecided} undecided" if undecided else ""
    return said + (f", {untestable} not testable" if untestable else "")
