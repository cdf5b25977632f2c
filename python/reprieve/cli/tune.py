"""`reprieve tune`: values of keys that meet bounds and do best in something else."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reprieve.cli import options
from reprieve.cli.console import command_line, overall, say, sentence, show, table, warn
from reprieve.cli.options import given, option, out_dir
from reprieve.cli.signals import INTERRUPTED, save
from reprieve.comparison import Axis
from reprieve.confidence import TOO_FEW
from reprieve.named_policies import trust
from reprieve.overwriting import inputs_of, may_write
from reprieve.scenario import Source
from reprieve.tuning import Settings, Tuning, check_values, tune_into
from reprieve.tuning.question import Question, question, share

_SHOWN = 4
"""Points beside each other, so that the table fits 80 columns."""


def tune(
    scenario: options.ScenarioFile,
    vary: Annotated[
        list[str] | None,
        given("A key and its values: LO..HI, LO..HI:log or A,B,C.", "KEY=VALUES", "--vary"),
    ] = None,
    arms: Annotated[
        list[str] | None,
        given(
            "A choice by name and all that it overrides, such as 'cancel policy=PES-IPC'; "
            "repeated.",
            "'NAME KEY=VALUE …'",
            "--arm",
        ),
    ] = None,
    where: Annotated[
        list[str] | None, given('A bound, such as "read.p99_9 <= 400us".', "BOUND", "--where")
    ] = None,
    most: Annotated[
        str | None, given("Number to maximise, such as iops.", "FIELD", "--max")
    ] = None,
    least: Annotated[
        str | None, given("Number to minimise, such as read.p99.", "FIELD", "--min")
    ] = None,
    sets: options.Sets = None,
    indifferent: Annotated[
        str, option("Difference from the best goal that does not matter.", "SHARE")
    ] = "2%",
    tries: Annotated[
        int, typer.Option(min=1, help="Points of a space of more than 256; a smaller one is whole.")
    ] = 48,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each point.")] = 3,
    minutes: options.Minutes = None,
    search_seed: Annotated[int, typer.Option(min=1, help="Seed of the search.")] = 1,
    workers: options.Jobs = None,
    scheduler: options.Scheduler = None,
    out: Annotated[Path | None, out_dir("out/tune-SCENARIO")] = None,
    allow_python: options.AllowPython = False,
    force: options.Force = False,
) -> None:
    """Find settings that meet your bounds and are best in something else.

    A space of up to 256 points is tried whole. Of a larger one, half of the points are spread
    evenly, half are where a model of them points, then come the neighbours of the best. Among
    settings that are as good, the one with the shortest tail is offered. DIR/report.html shows
    how far it is. Finished runs are never done again: start an interrupted one once more.
    """
    named = Axis.of_arms(arms or ()).arms
    asked = question(vary or [], where or [], most, least, share(indifferent), named)
    source = Source.read(scenario, sets or [])
    directory = Path("out", f"tune-{scenario.stem}") if out is None else out
    trust(is_trusted=allow_python)
    may_write([], directory, inputs=inputs_of(source), force=force)
    check_values(source, asked)
    command = command_line()
    settings = Settings(tries, seeds, search_seed, minutes, workers, scheduler, command=command)
    answered(source, asked, directory, settings)


def answered(source: Source, asked: Question, directory: Path, settings: Settings) -> None:
    """Search for the answer to a question and show it; of an interrupted search the best so far."""
    is_interrupted = False

    def interrupted() -> None:
        nonlocal is_interrupted
        is_interrupted = True
        save()

    with overall() as step:
        settings = replace(settings, step=step, interrupted=interrupted)
        try:
            found = tune_into(source, asked, directory, settings)
        except KeyboardInterrupt:
            warn(f"interrupted: {directory} has the runs so far; the same command goes on")
            raise
    _show(found)
    names = ("best.toml", "report.html", "tune.json")
    say("wrote " + ", ".join(str(directory / name) for name in names))
    if is_interrupted:
        sentence("interrupted: this is the best so far; the same command goes on")
        raise typer.Exit(INTERRUPTED)


def _show(found: Tuning) -> None:
    from reprieve.experiments.columns import has_requests
    from reprieve.tuning.answer import estimate

    best = found.answer.ranked[:_SHOWN]
    rows = table("", ["", *(str(place + 1) for place in range(len(best)))])
    asked = found.answer.question
    for what in found.answer.fields:
        cells = []
        for each in best:
            is_known = all(has_requests(row, what.column) for row in each.rows)
            cells.append(what.show(estimate(what, each).mean) if is_known else TOO_FEW)
        rows.add_row(what.said, *cells)
    for axis in asked.axes:
        values = [dict(each.point.values).get(axis.key, "–") for each in best]
        rows.add_row(axis.key, *(f"{v:.4g}" if isinstance(v, float) else str(v) for v in values))
    show(rows)
    for text in found.sentences:
        sentence(text)
    answer = found.answer
    space = "the whole space: " if answer.is_whole else ""
    space = "cut short: " if answer.is_cut_short else space
    count = len(answer.ranked) + len(answer.unreal)
    say(f"{space}{count} points tried, {answer.refused} refused; {found.ran:,} runs done now")
