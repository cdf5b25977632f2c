"""`reprieve sweep` and `reprieve query`: many runs, and questions to what they gave."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from reprieve._native import UserError
from reprieve.cli import options
from reprieve.cli.console import command_line, overall, say, show, table, warn
from reprieve.cli.options import argument, flag, given, out_dir
from reprieve.cli.signals import INTERRUPTED, save
from reprieve.experiments.columns import column, figures, heading, told
from reprieve.experiments.plan import Plan, read_plan
from reprieve.extras import has_plots, missing
from reprieve.named_policies import trust
from reprieve.overwriting import inputs_of, may_write, named_by
from reprieve.units import NOTHING, alike
from reprieve.words import printable

# What a screen takes in; the data set has all.
_ROWS_MAX = 40
# Of the answer to a question; a file has all.
_ASKED_DIGITS = 6


def sweep(
    file: Annotated[Path, argument("The sweep file.", "SWEEP.toml")],
    workers: options.Jobs = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time, each in a process of its own.")
    ] = None,
    scheduler: options.Scheduler = None,
    part: Annotated[
        str | None,
        given(
            "Do the K-th of N parts and write no data set; --collect writes it after the last.",
            "K/N",
        ),
    ] = None,
    out: Annotated[Path | None, out_dir("out/SWEEP")] = None,
    collect: Annotated[
        bool, flag("--collect", "Run nothing: write the data set of the finished runs.")
    ] = False,
    retry_failed: Annotated[bool, flag("--retry-failed", "Do failed runs again.")] = False,
    minutes: options.Minutes = None,
    allow_python: options.AllowPython = False,
    force: options.Force = False,
) -> None:
    """Run a scenario at many points: a grid, a list, drawn points, or a search for a front.

    Runs that are finished in DIR are never done again: start an interrupted sweep once more, and
    it goes on. A run that fails is a row with the sentence in its column `error`.
    DIR/runs.parquet has a row a run, DIR/points.parquet a row a point. DIR/report.html, written
    where the extra `plots` is installed, says which point is best, and shows all.
    """
    from reprieve.experiments.engine import Settings, sweep_into

    plan = read_plan(file)
    directory = Path("out", file.stem) if out is None else out
    read = [*named_by(file), *inputs_of(plan.source)]
    trust(is_trusted=allow_python)
    may_write([], directory, inputs=read, force=force)
    with overall() as step:
        settings = Settings(
            workers, scheduler, processes, collect, None if part is None else _part(part),
            retry_failed, minutes, step, warn, command_line(), save,
        )  # fmt: skip
        outcome = sweep_into(plan, directory, settings)
    if part is None:
        _show(plan, directory)
    failed = f", {outcome.failed:,} failed" if outcome.failed else ""
    say(f"{outcome.runs:,} runs, of which {outcome.ran:,} were done now{failed}")
    if part is not None:
        place = "" if out is None else f" --out {shlex.quote(str(out))}"
        after = f"after the last: reprieve sweep {shlex.quote(str(file))}{place} --collect"
        say(f"part {part} is not done" if outcome.left else f"part {part} is done; {after}")
    else:
        say("wrote " + ", ".join(str(path) for path in outcome.files))
        if not has_plots():
            say(missing("report.html", "altair", "plots"))
    if outcome.is_partial:
        raise typer.Exit(INTERRUPTED)


def _part(text: str) -> tuple[int, int]:
    """Read K/N; UserError if it is none."""
    part, slash, parts = text.partition("/")
    is_whole = bool(slash) and part.isdecimal() and parts.isdecimal()
    if not is_whole or not 1 <= int(part) <= int(parts):
        raise UserError(f"--part {text}: must be K/N with K from 1 to N, such as 3/16")
    return int(part), int(parts)


def _show(plan: Plan, directory: Path) -> None:
    from reprieve.tables import reader, rows

    keys = [column(key) for key in plan.keys]
    # Of a search all are needed to sort its front; of others, the first row group.
    found = reader(directory / "points.parquet", group=None if plan.goals else 0).read()
    shown = [row for row in rows(found) if row["error"] is None]
    title = "Means over seeds, and 95 % intervals" if "read_count_low" in found.names else ""
    if plan.goals:
        numbers = [goal.column for goal in plan.goals]
        first = plan.goals[0]
        # Every point of the front has a value for each goal.
        shown = [row for row in shown if row["front"]]
        shown.sort(key=lambda row: float(row[first.column]), reverse=first.is_max)
        title = f"Points that none beats in all goals. {title}".strip()
        count = len(shown)
    else:
        numbers = told(shown)
        # Of a million points one column is read to count those that did not fail.
        count = reader(directory / "points.parquet", ("error",)).read()["error"].count(None)
    shown, words = shown[:_ROWS_MAX], ["point", *plan.keys]
    made = table(title, [*words, *map(heading, numbers)], len(words))
    columns = [figures(shown, name) for name in numbers]
    for place, row in enumerate(shown):
        cells = (one[place] for one in columns)
        made.add_row(*(_word(row[name]) for name in ("point", *keys)), *cells)
    show(made)
    if count > len(shown):
        say(f"and {count - len(shown):,} more; `reprieve query` finds them")


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def query(
    sql: Annotated[
        str, argument("A question to the tables runs, points, measured and buckets.", "SQL")
    ],
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory of a sweep.")
    ] = Path(),
    csv: Annotated[Path | None, given("Write CSV.")] = None,
    json: Annotated[Path | None, given("Write JSON.")] = None,
    parquet: Annotated[Path | None, given("Write Parquet.")] = None,
    force: options.Force = False,
) -> None:
    """Ask the data set of a sweep in SQL, and print or write what it finds."""
    from reprieve.experiments.export import KINDS, export
    from reprieve.experiments.query import query as ask

    asked = [(kind, path) for kind, path in zip(KINDS, (csv, json, parquet), strict=True) if path]
    if len(asked) > 1:
        raise UserError("query: --csv, --json and --parquet write the same; give one of them")
    may_write((path for _, path in asked), inputs=directory.glob("*.parquet"), force=force)
    found = ask(sql, directory)
    for kind, path in asked:
        export(found, path, kind)
        say(f"wrote {path}")
    if not asked:
        rows = table("", [*map(printable, found.column_names)], 0)
        for row in zip(*(_asked(column.to_pylist()) for column in found.columns), strict=True):
            rows.add_row(*row)
        show(rows)


def _asked(values: Sequence[Any]) -> list[str]:
    """Write a column that was asked for: numbers that are not whole with six digits."""
    numbers = [value for value in values if isinstance(value, float)]
    if not numbers or any(not isinstance(value, float | None) for value in values):
        return [NOTHING if value is None else printable(str(value)) for value in values]
    return alike(values, digits=_ASKED_DIGITS)
