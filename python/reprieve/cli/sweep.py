"""`reprieve sweep` and `reprieve query`: many runs, and questions to what they gave."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reprieve._native import UserError
from reprieve.cli.console import overall, say, show, table
from reprieve.cli.options import argument, flag, given, out_dir
from reprieve.extras import has_plots, missing
from reprieve.sweeps.columns import FIGURES, heading, scale

if TYPE_CHECKING:
    import pyarrow as pa

    from reprieve.sweeps.plan import Plan

# What a screen takes in; the data set has all.
_ROWS_MAX = 40


def sweep(
    file: Annotated[Path, argument("The sweep file.", "SWEEP.toml")],
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time.", show_default="one a core")
    ] = None,
    scheduler: Annotated[
        str | None,
        given(
            "Let the workers of this Dask scheduler do the runs, such as tcp://host:8786.",
            "ADDRESS",
        ),
    ] = None,
    out: Annotated[Path | None, out_dir("out/SWEEP")] = None,
    collect: Annotated[
        bool, flag("--collect", "Run nothing: write the data set of what is finished.")
    ] = False,
) -> None:
    """Run a scenario at many points: a grid, a list, drawn points, or a search for a front.

    Runs that are finished in DIR are never done again: start an interrupted sweep once more, and
    it goes on. DIR/runs.parquet has a row a run, DIR/points.parquet a row a point. DIR/report.html,
    written where the extra `plots` is installed, says which point is best, and shows all.
    """
    from reprieve.sweeps.engine import Settings, sweep_into
    from reprieve.sweeps.plan import read_plan

    plan = read_plan(file)
    directory = Path("out", file.stem) if out is None else out
    with overall() as step:
        command = shlex.join(["reprieve", *sys.argv[1:]])
        settings = Settings(workers, scheduler, collect, step, command)
        outcome = sweep_into(plan, directory, settings)
    _show(plan, directory)
    runs = len({row.run for row in outcome.rows})
    say(f"{runs:,} runs, of which {outcome.ran:,} were done now")
    say("wrote " + ", ".join(str(path) for path in outcome.files))
    if not has_plots():
        say(missing("report.html", "altair", "plots"))


def _show(plan: Plan, directory: Path) -> None:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from reprieve.sweeps.columns import column

    if plan.design == "fleet":
        made = pq.read_table(directory / "fleet.parquet")
        names = [column(key) for key in plan.keys[:-1]]
        _print(made.select([*names, "runs", *FIGURES]), plan.keys[:-1], "The fleet as one")
        return
    points = pq.read_table(directory / "points.parquet")
    title = (
        "Means over seeds, and 95 % intervals" if "read_count_low" in points.column_names else ""
    )
    if plan.goals:
        figures = [goal.column for goal in plan.goals]
        points = points.filter(pc.field("front"))
        goal = plan.goals[0]
        points = points.sort_by([(goal.column, "descending" if goal.is_max else "ascending")])
        title = f"Points that none beats in all goals. {title}".strip()
    else:
        figures = [name for name in FIGURES if name in points.column_names]
    names = ["point", *(column(key) for key in plan.keys)]
    _print(_with_ends(points, names, figures), ["point", *plan.keys], title)


def _with_ends(points: pa.Table, names: list[str], figures: list[str]) -> pa.Table:
    """Write the interval behind each figure where the points have several seeds."""
    made = points.select(names)
    for figure in figures:
        values = points.column(figure).to_pylist()
        factor = scale(figure)
        cells = [_cell(value, factor) for value in values]
        if f"{figure}_high" in points.column_names:
            ends = (points.column(f"{figure}_{end}").to_pylist() for end in ("low", "high"))
            cells = [
                cell if high is None else f"{cell} ({_cell(low, factor)} to {_cell(high, factor)})"
                for cell, low, high in zip(cells, *ends, strict=True)
            ]
        made = made.append_column(figure, [cells])
    return made


def _print(found: pa.Table, words: Sequence[str], title: str) -> None:
    """Print a table whose first columns are words, under these names."""
    left = len(words)
    rows = table(title, [*words, *(heading(name) for name in found.column_names[left:])], left)
    for row in found.slice(0, _ROWS_MAX).to_pylist():
        cells = [
            _word(value) if place < left else _cell(value, scale(name))
            for place, (name, value) in enumerate(row.items())
        ]
        rows.add_row(*cells)
    show(rows)
    if len(found) > _ROWS_MAX:
        say(f"and {len(found) - _ROWS_MAX:,} more; `reprieve query` finds them")


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cell(value: Any, factor: float = 1.0) -> str:
    if value is None:
        return "–"
    if isinstance(value, int | float):
        value *= factor
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004
    return str(value)


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
) -> None:
    """Ask the data set of a sweep in SQL, and print or write what it finds."""
    from reprieve.sweeps.export import KINDS, export
    from reprieve.sweeps.query import query as ask

    asked = [(kind, path) for kind, path in zip(KINDS, (csv, json, parquet), strict=True) if path]
    if len(asked) > 1:
        raise UserError("query: --csv, --json and --parquet write the same; give one of them")
    found = ask(sql, directory)
    for kind, path in asked:
        export(found, path, kind)
        say(f"wrote {path}")
    if not asked:
        rows = table("", found.column_names, 0)
        for row in found.to_pylist():
            rows.add_row(*("–" if value is None else str(value) for value in row.values()))
        show(rows)
