"""An article: one HTML file of prose, tables and figures that needs no network."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from altair.utils.schemapi import debug_mode

from reprieve.outputs import ResultDirectory
from reprieve.plot import PAGE, Chart, Theme
from reprieve.plot import Figure as Picture
from reprieve.report.page import page
from reprieve_studies.verdicts import CAUSES, CLASSES, RELATIONS, Verdict, headline, verdicts_json


@dataclass(frozen=True)
class Table:
    """A table whose first `words` columns are words and whose others are numbers."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    folded: bool = False
    """Collapsed until opened: too long for the flow of the text."""


@dataclass(frozen=True)
class Figure:
    """A figure: a chart in the article, and files for a paper."""

    name: str
    """Of its files, unique in the article: letters, digits, hyphens."""
    title: str
    caption: str
    """Description of its content, also as alternative text."""
    draw: Callable[[Theme], Chart]


def numbered(number: int | str, title: str, caption: str, draw: Callable[[Theme], Chart]) -> Figure:
    """Return a figure of a paper in its form, with the number that it has there."""
    return Figure(f"figure-{number}", f"Figure {number}: {title}", caption, draw)


@dataclass(frozen=True)
class Section:
    """A heading and its content, in the order of the fields."""

    title: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Article:
    """All of it."""

    title: str
    command: str
    """Command line that repeats the study."""
    facts: Mapping[str, str]
    sections: Sequence[Section]
    verdicts: Sequence[Verdict] = field(default=())
    """Shown first, with a tally."""
    verdicts_title: str = "Verdicts"
    paper_word: str = "paper"
    """Name of the source of the expected numbers: "paper", "theory"."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Written beside it: text by its path, such as job files."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """By name, for those who quote them."""

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in order."""
        return [figure for section in self.sections for figure in section.figures]


# Without Altair's checks, which take as long as all else that draws a page; tests make them.
@debug_mode(False)
def render_article(article: Article) -> str:
    """Write the page."""
    return page(
        "article.html",
        title=article.title,
        command=article.command,
        facts=article.facts,
        specs={figure.name: _spec(figure) for figure in article.figures},
        package=__package__,
        article=article,
        headline=headline(article.verdicts),
        verdicts=[_cells(verdict) for verdict in sorted(article.verdicts, key=_order)],
    )


@debug_mode(False)
def write_article(out: ResultDirectory, article: Article) -> None:
    """Write `figures/NAME.svg` and `.png` for a white page, `report.html`, `verdicts.json`."""
    for figure in article.figures:
        picture = Picture(figure.draw)
        out.write(f"figures/{figure.name}.svg", picture.svg("page"))
        out.open(f"figures/{figure.name}.png").write(picture.png("page"))
    for path, text in article.files.items():
        out.write(path, text)
    out.write("report.html", render_article(article))
    out.write("verdicts.json", verdicts_json(article.verdicts))


def _spec(figure: Figure) -> dict[str, Any]:
    text = f"{figure.title}. {figure.caption}"
    return figure.draw(PAGE).properties(description=text).to_dict(validate=False)


_POINTS = {"%": "points"}
"""A difference of percentages is in points."""
_OUTCOMES = {True: "reproduced", False: "not reproduced", None: "not testable"}


def _order(verdict: Verdict) -> tuple[bool, int, bool]:
    """Put what the headline counts first, by class, and in each what has no verdict last."""
    place = list(CLASSES).index(verdict.of) if verdict.of else 0
    return not verdict.counts, place, verdict.reproduced is None


def _cells(verdict: Verdict) -> dict[str, str]:
    """Return the words of a verdict's row."""
    unit = verdict.unit
    outcome = "undecided" if verdict.undecided else _OUTCOMES[verdict.reproduced]
    return {
        "claim": verdict.claim,
        "source": verdict.source,
        "paper": _number(verdict.paper, verdict.unit, RELATIONS[verdict.relation]),
        "ours": _number(verdict.ours, verdict.unit) + _interval(verdict),
        "difference": _number(verdict.difference, _POINTS.get(unit, unit), signed=True),
        "tolerance": _number(verdict.tolerance, _POINTS.get(unit, unit)),
        "outcome": outcome,
        "style": outcome.replace(" ", "-"),
        "kind": verdict.kind,
        "note": "; ".join(_notes(verdict)),
    }


def _interval(verdict: Verdict) -> str:
    if verdict.low is None or verdict.high is None:
        return ""
    return f" ({verdict.low:,.4g} to {verdict.high:,.4g})"


def _notes(verdict: Verdict) -> list[str]:
    cause = CAUSES[verdict.cause] if verdict.cause and verdict.reproduced is False else ""
    null = "would hold without any effect of suspension" if verdict.null_model else ""
    return [note for note in (cause, null, verdict.lack, verdict.note) if note]


def _number(value: float | None, unit: str, relation: str = "", *, signed: bool = False) -> str:
    if value is None:
        return "–"
    text = f"{value:+,.4g}" if signed else f"{value:,.4g}"
    return f"{relation}{text}" + ("" if unit == "1" else f" {unit}")
