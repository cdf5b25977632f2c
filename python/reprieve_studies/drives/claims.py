"""Targets of the fits, judged on predicted conditions, and the question of suspension."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from reprieve.calibration import Term, errors
from reprieve_studies.drives.outcomes import PARTS, Outcome, Plan
from reprieve_studies.frame import stated
from reprieve_studies.seeds import Estimate, estimate, ratio
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

FIGURES = {
    **{f"read {what}": ("read", what) for what in ("p50", "p90", "p99", "p99.9")},
    "write p50": ("write", "p50"),
    "IOPS": (None, "iops"),
}
"""Direction and name of the figures of the score table."""
STATISTICS = {"median": "median", "ninth_tenth": "nine tenths"}
_RATIO = 2.0
"""Ratio of the errors without and with suspension from which the drive is said to suspend."""


@dataclass(frozen=True)
class Target:
    """A limit of an error: a row of `study.toml`, which explains its keys."""

    claim: str
    where: str
    direction: str
    figures: Sequence[str]
    statistic: str
    limits: Mapping[str, float]
    least_writes_per_s: Mapping[str, float] = field(default_factory=dict)

    def shares(self, outcome: Outcome) -> list[float]:
        """Return the error as a share, by seed; empty if no predicted condition has it."""
        least = self.least_writes_per_s.get(outcome.drive.key, 0.0)
        rates = {name: outcome.write_rates.get(name, least) for name in outcome.part("predicted")}
        chosen = [name for name in outcome.beyond if name in rates]
        if self.where == "below":
            chosen = [name for name in rates if name not in chosen and rates[name] >= least]
        chosen = chosen[-1:] if self.where == "knee" else chosen
        return _statistic(outcome.terms(chosen, self.direction, self.figures), self.statistic)

    def verdict(self, outcome: Outcome) -> Verdict:
        """Judge it on a drive; not testable without a device or such a condition."""
        shares, key = [100 * share for share in self.shares(outcome)], outcome.drive.key
        why = "no predicted condition has it" if outcome.runs else "the drive has no device"
        claim = stated(
            f"{key}: {self.claim}", "set before the fit", self.limits[key], AT_MOST, unit="%",
            note="" if shares else why,
        )  # fmt: skip
        found = estimate(shares) if shares else None
        verdict = claim.verdict(found, seeds=list(outcome.runs), kind="predicted")
        return replace(verdict, untestable=not shares)


DATA = tomllib.loads(Path(__file__).with_name("study.toml").read_text(encoding="utf-8"))
TARGETS = [Target(**row) for row in DATA["target"]]


def verdicts(outcomes: Sequence[Outcome]) -> list[Verdict]:
    """Judge every target of every drive, and its answer to the question of suspension."""
    targets = [
        target.verdict(outcome)
        for outcome in outcomes
        for target in TARGETS
        if outcome.drive.key in target.limits
    ]
    return targets + [_answer(each) for each in outcomes if each.drive.key in DATA["suspends"]]


def _answer(outcome: Outcome) -> Verdict:
    """Judge whether the errors say of a drive that it suspends, or that it does not."""
    suspends, asked = DATA["suspends"][outcome.drive.key], suspension(outcome)
    words = "suspends" if suspends else "does not suspend"
    claim = stated(
        f"{outcome.drive.key}: {words}, by the ratio of errors without suspension and with",
        "set before the fit", _RATIO if suspends else 1 / _RATIO,
        AT_LEAST if suspends else AT_MOST, note="" if asked else "the drive has no device",
    )  # fmt: skip
    found = Estimate(asked[0].mean) if asked else None
    verdict = claim.verdict(found, seeds=list(outcome.switched), kind="predicted")
    return replace(verdict, untestable=not asked)


def errors_of(outcome: Outcome, part: str, figure: str, statistic: str) -> list[float]:
    """Return a statistic of the errors of a figure in a part of the conditions, by seed."""
    direction, what = FIGURES[figure]
    return _statistic(outcome.terms(outcome.part(part), direction, (what,)), statistic)


def _statistic(seeds: Sequence[Sequence[Term]], statistic: str) -> list[float]:
    found = [errors(terms) for terms in seeds]
    return [getattr(each, statistic) for each in found if each is not None]


def suspension(outcome: Outcome) -> tuple[Estimate, str] | None:
    """Return the ratio of errors without and with suspension, and the answer in words."""
    pairs = [(without, suspending) for suspending, without in outcome.tails()]
    if not pairs:
        return None
    found = ratio(pairs)
    if found.mean >= _RATIO:
        return found, "suspends"
    return found, "does not suspend" if found.mean <= 1 / _RATIO else "cannot be told"


def numbers(outcomes: Sequence[Outcome], plan: Plan) -> dict[str, object]:
    """Return the numbers that the page quotes, by drive."""
    drives = {outcome.drive.key: _numbers(outcome) for outcome in outcomes}
    return {"reads": plan.reads, "seeds": plan.seeds, "switched": plan.switched, "drives": drives}


def _numbers(outcome: Outcome) -> dict[str, Any]:
    drive, asked = outcome.drive, suspension(outcome)
    sides = [fmean(side) for side in zip(*outcome.tails(), strict=True)]
    return {
        "name": drive.name,
        "device": drive.device,
        "conditions": {part: len(outcome.part(part)) for part in PARTS},
        "noise": dict(drive.noise),
        "errors": {
            part: {figure: {each: errors_of(outcome, part, figure, each) for each in STATISTICS}
                   for figure in FIGURES}
            for part in PARTS
        },
        "has_rates": bool(outcome.line_conditions),
        "knee": dict(zip(("measured", "simulated"), outcome.knee(), strict=True)),
        "suspension": asked
        and {"ratio": asked[0].mean, "answer": asked[1], "with": sides[0], "without": sides[1]},
    }  # fmt: skip
