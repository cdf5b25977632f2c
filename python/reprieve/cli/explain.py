"""`reprieve explain`: why the slowest requests of a run were slow."""

from pathlib import Path
from typing import Annotated

import typer

from reprieve import tables
from reprieve._native import UserError
from reprieve.blame import SHARES
from reprieve.cli.console import progress, say, sentence, show, table
from reprieve.cli.options import argument, flag
from reprieve.confidence import is_known
from reprieve.explanation import Explanation, trial_words, with_trials
from reprieve.latency import percent_of
from reprieve.request_log import CAUSES
from reprieve.result import Result
from reprieve.units import share

_FIGURES = {"mean": "mean", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99"}


def explain(
    directory: Annotated[Path, argument("Results of `reprieve run --requests`.", "DIR")],
    slowest: Annotated[
        int, typer.Option(min=0, metavar="N", help="List the N slowest reads and writes.")
    ] = 5,
    counterfactual: Annotated[
        bool,
        flag(
            "--counterfactual", "Simulate again: as it was, and with a remedy for each main cause."
        ),
    ] = False,
) -> None:
    """Say why the slowest reads and writes of a run were slow, and what would help.

    Every nanosecond that a request waited has one cause: what stood in its way.
    """
    found = Explanation.read(directory)
    for kind in found.kinds():
        for text in found.sentences(kind, are_tried=counterfactual):
            sentence(text)
        say("")
        _table(found, kind)
        say("")
        if slowest:
            _list(found, kind, slowest)
            say("")
        if slowest and not found.notes():
            where, command = found.where_to_look(kind)
            sentence(where)
            # Whole on a line of its own, for those who copy it.
            say(f"{command}\n" if command else "")
    if counterfactual:
        _counterfactual(found)


def _table(found: Explanation, kind: str) -> None:
    blame = found.summary["blame"][kind]
    titles = ["all" if part == "all" else f"slowest {percent_of(part)}" for part in SHARES]
    rows = table(f"Where the time of {kind}s went", ["", *titles])
    rows.add_row("requests", *(f"{blame[part]['requests']:,}" for part in SHARES))
    means = [blame[part]["latency_ns"] / max(blame[part]["requests"], 1) for part in SHARES]
    rows.add_row("mean latency, µs", *(f"{mean / 1000:,.1f}" for mean in means))
    shares = {part: found.shares(kind, part) for part in SHARES}
    for cause in sorted(CAUSES, key=lambda cause: -shares[found.part(kind)][cause]):
        if any(shares[part][cause] for part in SHARES):
            rows.add_row(short(cause), *(share(shares[part][cause]) for part in SHARES))
    own = [share(1 - sum(shares[part].values())) for part in SHARES]
    rows.add_row("not waiting", *own, style="dim")
    show(rows)


def short(cause: str) -> str:
    """Return the name of a cause for a table: "by_gc_program_ns" → "gc program"."""
    return cause.removeprefix("by_").removesuffix("_ns").replace("_", " ")


def _list(found: Explanation, kind: str, count: int) -> None:
    columns = ["request", "came at, ms", "die", "latency, µs", "behind", "share"]
    rows = table(f"The slowest {kind}s", columns)
    for row in tables.rows(found.slowest(kind, count)):
        latency_ns = row["completion_ns"] - row["arrival_ns"]
        cause = max(CAUSES, key=lambda cause: row[cause])
        rows.add_row(
            str(row["id"]),
            f"{row['arrival_ns'] / 1e6:,.6f}",
            "–" if row["die"] is None else str(row["die"]),
            f"{latency_ns / 1000:,.1f}",
            short(cause) if row[cause] else "–",
            share(row[cause] / max(latency_ns, 1), 0),
        )
    show(rows)


def _counterfactual(found: Explanation) -> None:
    trials = found.triable()
    if not trials:
        sentence("No key of the scenario is against a cause with 5 % of the tail or more.")
        return
    if notes := found.notes():
        raise UserError(
            f"{found.directory / 'scenario.toml'}: {notes[0]}; --counterfactual runs what the file "
            "alone says, so leave it out"
        )
    with progress() as bars:
        was, others = with_trials(found.scenario, trials, bars)
    for cause, tried in zip(trials, others, strict=True):
        _difference(found, cause, trial_words(cause, trials[cause]), was, tried)
        say("")
    sentence("–: too few requests for a 95 % interval of the difference.")


def _difference(found: Explanation, cause: str, words: str, was: Result, tried: Result) -> None:
    from reprieve.pairs import latency, nearest, paired

    pairs, shown = paired([tried], [was]), {}
    title = f"As it was, and with {words}; latency in µs"
    rows = table(title, ["", "as it was", "tried", "difference", "95 % from", "to"])
    for kind in found.kinds():
        for figure, name in _FIGURES.items():
            ends = [run.summary["requests"][kind]["latency_ns"][figure] for run in (was, tried)]
            counts = [run.summary["requests"][kind]["count"] for run in (was, tried)]
            if not all(is_known(count, figure) for count in counts):
                continue
            pair = shown[f"{kind} {name}"] = pairs[latency(kind, figure)]
            bounds = [pair.get("low"), pair.get("high")]
            rows.add_row(
                f"{kind} {name}",
                *(f"{end / 1000:,.1f}" for end in ends),
                f"{(ends[1] - ends[0]) / 1000:+,.1f}",
                *("–" if bound is None else f"{bound / 1000:+,.1f}" for bound in bounds),
            )
    show(rows)
    if more := nearest(shown):
        sentence(f"Not every difference is significant{more}.")
    collected = tried.summary["flash"]["gc_programs"]
    if cause in {"by_gc_read_ns", "by_gc_program_ns"} and collected:
        sentence(
            f"Collection has not gone away: it moved {collected:,} pages, where it moved "
            f"{was.summary['flash']['gc_programs']:,} before."
        )
