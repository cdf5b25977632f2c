"""A study as data: claims and readings are tables in a TOML file, and judged in one way."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from reprieve_studies.article import Table
from reprieve_studies.runs import Overrides
from reprieve_studies.seeds import Estimate
from reprieve_studies.verdicts import (
    CLASSES,
    EQUAL,
    RELATIONS,
    SEEDS_MIN,
    Cause,
    Class,
    Kind,
    Verdict,
)

Case = TypeVar("Case")


@dataclass(frozen=True)
class Claim:
    """A row of the table of claims: a sentence of the source, and how it is measured."""

    claim: str
    of: Class | None
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

    def accepts(self, ours: float, at: str = "") -> bool:
        """Return whether a number is the claim's, within its tolerance."""
        return bool(self.verdict(Estimate(ours), at=at, kind="derived").reproduced)

    def verdict(
        self,
        found: Estimate | None,
        *,
        where: str = "",
        at: str = "",
        seeds: Sequence[int] = (),
        kind: Kind = "measured",
        null: float | None = None,
        lack: str = "",
    ) -> Verdict:
        """Compare a measure with the claim; `where` stands before the sentence.

        `found`: None where its runs are not there. `null`: the measure if suspension had no effect;
        `lack`: what the runs have too few of.
        """
        ours, low, high = (found.mean, found.low, found.high) if found else (None, None, None)
        return Verdict(
            where + self.claim, self.source, self.unit, self.value[at], ours,
            self.margin(at), self.relation, self.note, kind=kind, seeds=seeds,
            low=low, high=high, of=self.of, null=null, lack=lack,
        )  # fmt: skip


def stated(claim: str, source: str, number: float, relation: str = EQUAL, **more: Any) -> Claim:
    """Return a claim of no class, whose number is calculated; `more`: other fields."""
    return Claim(claim, None, source, {"": number}, relation=relation, **more)


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


def facts(data: Data, plan: Any, **more: Any) -> dict[str, str]:
    """Return the facts of a study's file with the values of its plan, lists with commas, and more.

    `count` is the number of seeds.
    """
    given = {"count": len(getattr(plan, "seeds", ())), "paper": data.rest.get("paper")}
    given |= {**vars(plan), **more}
    joined = {name: ", ".join(map(str, value)) for name, value in given.items()
              if isinstance(value, list | tuple)}  # fmt: skip
    return {name: text.format(**{**given, **joined}) for name, text in data["facts"].items()}


def read(path: Path) -> Data:
    """Read the tables of a study: `[[claim]]`, `[[reading]]`, and others of its own.

    Both may be written in groups, as `listed` reads them. A reading that is `from` another has what
    that has, and its own keys win.
    """
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    paper = document.get("paper", "")
    claims = tuple(_claim(row, paper) for row in listed(document.pop("claim", [])))
    readings: dict[str, Reading] = {}
    for row in listed(document.pop("reading", [])):
        base = readings[row.pop("from")] if "from" in row else Reading("", "", "")
        own = {name: {**getattr(base, name), **row.pop(name, {})} for name in ("sets", "options")}
        known = {"question": base.question, "source": base.source, **row}
        assert row["name"] not in readings, row["name"]
        readings[row["name"]] = Reading(**{**known, **own})
    return Data(claims, readings, document)


def listed(tables: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield tables; one that has `columns` and `rows` is a group of as many tables as it has rows.

    A row has the cells of its columns, of which it may leave out the last, or after all of them a
    table of further keys, and the other keys of the group. A column `options.op` is the key `op`
    of the table `options`.
    """
    for table in tables:
        shared = {key: value for key, value in table.items() if key not in ("columns", "rows")}
        columns = table.get("columns", ())
        for cells in table.get("rows", [[]]):
            row = dict(shared)
            further = cells[len(columns)] if len(cells) > len(columns) else {}
            for column, cell in (*zip(columns, cells, strict=False), *further.items()):
                outer, _, key = column.partition(".")
                own = {key: cell} if key else cell
                row[outer] = {**row.get(outer, {}), **own} if isinstance(own, dict) else own
            yield row


def _claim(row: dict[str, Any], paper: str) -> Claim:
    value = row["value"] if isinstance(row["value"], dict) else {"": row["value"]}
    source = ", ".join(part for part in (paper, row["source"]) if part)
    made = Claim(**{"of": None, **row, "value": value, "source": source})
    assert made.of in (None, *CLASSES), made.of
    assert made.relation in RELATIONS, made.relation
    return made


PICKS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "most": max,
    "least": min,
    "count": lambda held: float(sum(held)),
    "range": lambda values: max(values) - min(values),
}
"""How the numbers of several pairs become one."""
_EACH: Mapping[str, Callable[[float, float], float]] = {
    "difference": lambda of, to: of - to,
    "percent": lambda of, to: 100 * (of - to) / to,
    "rises": lambda of, to: of > to,
    "falls": lambda of, to: of < to,
}
_OF_RATIO: Mapping[str, Callable[[float], float]] = {
    "ratio": float,
    "above": lambda ratio: 100 * (ratio - 1),
    "below": lambda ratio: 100 * (1 - ratio),
}
"""In per cent, but for the ratio."""


def contrast(how: str, pairs: Sequence[tuple[float, float]], pick: str = "mean") -> float:
    """Compare a measure of one run with that of another, for several pairs of runs.

    `how`: "difference" or "percent" of a pair, or whether it "rises" or "falls" (1 or 0), and of
    these the `pick`; or the picked "ratio", and in per cent how far it is "above" or "below" one.
    """
    if how in _EACH:
        return PICKS[pick]([_EACH[how](of, to) for of, to in pairs])
    return _OF_RATIO[how](PICKS[pick]([of / to if to else nan for of, to in pairs]))


def evaluate(
    claim: Claim,
    cases: Sequence[Case],
    value: Callable[[Case, Any], float],
    instead: Mapping[Any, Any] | None = None,
) -> float:
    """Return the number of a claim over some cases, such as loads.

    Its options name the run that it is `of`, whose mean is returned; or also the run that this is
    compared `to`, `how`, and what to `pick`. `value`: the measure in a case of a run by its name.
    `instead`: runs that stand in the place of others.
    """
    options, instead = claim.options, instead or {}

    def values(run: Any) -> list[float]:
        return [value(case, instead.get(run, run)) for case in cases]

    found = values(options["of"])
    if "to" not in options:
        return fmean(found)
    others = values(options["to"])
    pairs = list(zip(found, others, strict=True))
    return contrast(options["how"], pairs, options.get("pick", "mean"))


def few(seeds: Sequence[int]) -> str:
    """Return that there are too few seeds to decide a claim, if there are."""
    return f"{len(seeds)} of {SEEDS_MIN} seeds" if len(seeds) < SEEDS_MIN else ""


def without_effect(
    claim: Claim,
    maps: Iterable[Sequence[tuple[Any, Any]]],
    measured: Callable[[Mapping[Any, Any]], Estimate | None],
) -> float | None:
    """Measure a claim as if what it is about had no effect.

    `maps`: pairs of a run and the run that it would equal, for suspension first, then for what else
    is claimed; the first that has a run of the claim holds. None where none has.
    """
    runs = {claim.options.get("of"), claim.options.get("to")}
    equal = next((dict(one) for one in maps if not runs.isdisjoint(dict(one))), None)
    found = None if equal is None else measured(equal)
    return None if found is None else found.mean


def multiple(claim: Claim, at: str = "") -> float:
    """Return the number of a claim as a multiple: of the run that it compares to, or of one."""
    value, how = claim.value[at], claim.options["how"]
    multiples = {"below": 1 - value / 100, "above": 1 + value / 100, "share": value / 100}
    return multiples.get(how, value)


def questions(readings: Iterable[Reading]) -> list[str]:
    """Return what each reading asks, as a paragraph of a report."""
    return [f"{one.title}: {one.question} ({one.source})" for one in readings]


Measured = Callable[[str], Estimate | None]
"""A measure of a claim by the name of a reading; None where that was not run."""


def explained(
    verdict: Verdict, claim: Claim, measured: Measured, others: Iterable[Reading], at: str = ""
) -> Verdict:
    """Return a verdict with its cause, if it is not reproduced; `others`: other readings."""
    if verdict.reproduced is not False:
        return verdict
    if given := given_by(claim, measured, others, at):
        unit = "" if claim.unit == "1" else f" {claim.unit}"
        said = [f"{title}: {value:,.4g}{unit}" for title, value in given.items()]
        note = "; ".join(part for part in (verdict.note, *said) if part)
        return replace(verdict, cause="reading", note=note)
    note = "; ".join(part for part in (verdict.note, claim.why) if part)
    return replace(verdict, cause=claim.cause, note=note)


def given_by(
    claim: Claim, measured: Measured, others: Iterable[Reading], at: str = ""
) -> dict[str, float]:
    """Return the measures of other readings that give a claim, by title."""
    found = ((one.title, measured(one.name)) for one in others)
    return {
        title: one.mean for title, one in found if one is not None and claim.accepts(one.mean, at)
    }


def judged(
    claim: Claim,
    measured: Callable[[str, Mapping[Any, Any]], Estimate | None],
    reading: str,
    data: Data,
    seeds: Sequence[int],
    *,
    kind: Kind | None = None,
    null: float | None = None,
    lack: str = "",
    others: Iterable[Reading] = (),
    where: str = "",
    at: str = "",
) -> Verdict:
    """Judge a claim under a reading over seeds, with its cause if it is not reproduced.

    `measured` takes the name of a reading, and runs that others stand in the place of, which is how
    `null` is found unless it is given. `kind`: by default whether it is a duplicate.
    """
    if null is None:
        null = without_effect(claim, data["null"], lambda equal: measured(reading, equal))
    verdict = claim.verdict(
        measured(reading, {}), where=where, at=at, seeds=seeds, null=null,
        kind=kind or ("duplicate" if claim.options.get("again") else "predicted"),
        lack=few(seeds) or lack,
    )  # fmt: skip
    return explained(verdict, claim, lambda name: measured(name, {}), others, at)


def by_reading(
    caption: str,
    claims: Sequence[tuple[Claim, str]],
    titles: Mapping[str, str],
    found: Callable[[Claim, str, str], Estimate | None],
) -> Table:
    """Set every claim, at a drive or case, beside its measure under each reading by its title."""
    rows = []
    for claim, at in claims:
        cells = [cell(found(claim, at, name)) for name in titles]
        unit = "" if claim.unit == "1" else f", {claim.unit}"
        name = f"{at}: {claim.claim}{unit}" if at else claim.claim + unit
        rows.append([name, f"{RELATIONS[claim.relation]}{claim.value[at]:,.4g}", *cells])
    columns = ["claim", "source", *titles.values()]
    return Table(f"{caption}, means over the seeds", columns, rows)


def cell(found: Estimate | None) -> str:
    """Return a measure and half of its interval, for a table."""
    if found is None:
        return "–"
    half = "" if found.high is None else f" ± {found.high - found.mean:,.3g}"
    return f"{found.mean:,.4g}{half}"
