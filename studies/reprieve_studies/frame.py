"""A study as data: claims and readings are tables in a TOML file, and judged in one way."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from reprieve_studies.article import Table
from reprieve_studies.runs import Overrides
from reprieve_studies.seeds import Estimate
from reprieve_studies.verdicts import EQUAL, RELATIONS, Cause, Kind, Verdict

Class = Literal["mechanism", "headline", "absolute"]
"""An order or a sign that the mechanism makes; a relative gain that the source reports; a value in
the units of its drive."""


@dataclass(frozen=True)
class Claim:
    """A row of the table of claims: a sentence of the source, and how it is measured."""

    claim: str
    of: Class
    source: str
    value: Mapping[str, float]
    """By drive, or case, where the source has several; else by ""."""
    measure: str = ""
    """A name of the study's measures; empty: that of its class."""
    name: str = ""
    """Of its number, where pages quote it."""
    tolerance: float = 0.0
    """By how much ours may differ, in the unit; set before the first run."""
    tolerance_share: float = 0.0
    """Tolerance as a share of the value."""
    unit: str = "1"
    relation: str = EQUAL
    note: str = ""
    cause: Cause | None = None
    """Why it is not reproduced, where arithmetic says it cannot be; `why` has that."""
    why: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the measure."""

    def margin(self, at: str = "") -> float:
        """Return by how much ours may differ at a drive or case, in the unit."""
        return self.tolerance + self.tolerance_share * abs(self.value[at])

    def verdict(
        self,
        found: Estimate,
        *,
        where: str = "",
        at: str = "",
        seeds: Sequence[int] = (),
        kind: Kind = "measured",
    ) -> Verdict:
        """Compare a measure with the claim; `where` stands before the sentence."""
        return Verdict(
            where + self.claim, self.source, self.unit, self.value[at], found.mean,
            self.margin(at), self.relation, self.note, kind=kind, seeds=seeds,
            low=found.low, high=found.high,
        )  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """A row of the table of readings: an interpretation of what the source leaves open."""

    name: str
    title: str
    question: str
    source: str = "the paper does not say"
    """Where it leaves the question open, or what speaks for this answer."""
    sets: Overrides = field(default_factory=dict)
    """Keys of the scenario that it sets."""
    judged: bool = False
    """Every claim is judged under it; never taken from another reading."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that it changes beside the scenario."""

    def sets_of(self, beginnings: Sequence[str]) -> Overrides:
        """Return what it sets of the keys that begin so."""
        starts = tuple(beginnings)
        return {key: value for key, value in self.sets.items() if key.startswith(starts)}


@dataclass(frozen=True)
class Data:
    """The tables of a study, and everything else in its file."""

    claims: tuple[Claim, ...]
    readings: Mapping[str, Reading]
    rest: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        """Return another table of the file."""
        return self.rest[name]


def read(path: Path) -> Data:
    """Read the tables of a study: `[[claim]]`, `[[reading]]`, and others of its own.

    A reading that is `from` another has what that has, and its own keys win.
    """
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    claims = tuple(_claim(row, document["paper"]) for row in document.pop("claim"))
    readings: dict[str, Reading] = {}
    for row in document.pop("reading", []):
        base = readings[row.pop("from")] if "from" in row else Reading("", "", "")
        own = {name: {**getattr(base, name), **row.pop(name, {})} for name in ("sets", "options")}
        known = {"question": base.question, "source": base.source, **row}
        assert row["name"] not in readings, row["name"]
        readings[row["name"]] = Reading(**{**known, **own})
    return Data(claims, readings, document)


def _claim(row: dict[str, Any], paper: str) -> Claim:
    value = row["value"] if isinstance(row["value"], dict) else {"": row["value"]}
    source = ", ".join(part for part in (paper, row["source"]) if part)
    made = Claim(**{**row, "value": value, "source": source})
    assert made.of in get_args(Class), made.of
    assert made.relation in RELATIONS, made.relation
    return made


def explained(
    verdict: Verdict,
    claim: Claim,
    others: Mapping[str, Callable[[], Estimate | None]],
    at: str = "",
) -> Verdict:
    """Return a verdict with its cause, if it is not reproduced.

    `others`: measures under other readings, by their title; None where one was not run.
    """
    if verdict.reproduced is not False:
        return verdict
    if given := given_by(claim, others, at):
        unit = "" if claim.unit == "1" else f" {claim.unit}"
        said = [f"{title}: {value:,.4g}{unit}" for title, value in given.items()]
        note = "; ".join(part for part in (verdict.note, *said) if part)
        return replace(verdict, cause="reading", note=note)
    note = "; ".join(part for part in (verdict.note, claim.why) if part)
    return replace(verdict, cause=claim.cause, note=note)


def given_by(
    claim: Claim, others: Mapping[str, Callable[[], Estimate | None]], at: str = ""
) -> dict[str, float]:
    """Return the measures of other readings that give a claim, by title."""
    found = ((title, measure()) for title, measure in others.items())
    return {
        title: one.mean
        for title, one in found
        if one is not None and claim.verdict(one, at=at).reproduced
    }


def by_reading(
    caption: str,
    claims: Sequence[tuple[Claim, str]],
    readings: Sequence[str],
    found: Callable[[Claim, str, str], Estimate | None],
    titles: Mapping[str, str],
) -> Table:
    """Set every claim, at a drive or case, beside its measure under each reading."""
    rows = []
    for claim, at in claims:
        cells = [_cell(found(claim, at, name)) for name in readings]
        unit = "" if claim.unit == "1" else f", {claim.unit}"
        name = f"{at}: {claim.claim}{unit}" if at else claim.claim + unit
        rows.append([name, f"{RELATIONS[claim.relation]}{claim.value[at]:,.4g}", *cells])
    columns = ["claim", "source", *(titles[name] for name in readings)]
    return Table(f"{caption}, means over the seeds", columns, rows)


def _cell(found: Estimate | None) -> str:
    if found is None:
        return "–"
    half = "" if found.high is None else f" ± {found.high - found.mean:,.3g}"
    return f"{found.mean:,.4g}{half}"
