"""`reprieve database`: what transactions take on the served drive, by what reads may suspend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reprieve.cli.console import overall, say, show, table
from reprieve.cli.options import Force, argument, out_dir
from reprieve.cli.signals import save
from reprieve.overwriting import may_write

if TYPE_CHECKING:
    from reprieve_studies.databases import Outcome


def database(
    engine: Annotated[
        str, argument("Which: sqlite or postgresql, which read, or pgbench, which updates.")
    ],
    seconds: Annotated[
        int, typer.Option(min=1, metavar="S", help="Of transactions, with each setting.")
    ] = 60,
    time_scale: Annotated[
        int, typer.Option(min=1, metavar="X", help="How many times slower the model's clock runs.")
    ] = 20,
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Times that each setting is run, by turns.")
    ] = 1,
    same_block: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Which reads wait for a program: block, wordline, page."),
    ] = None,
    out: Annotated[Path | None, out_dir("out/database-ENGINE")] = None,
    force: Force = False,
) -> None:
    """Run a database on the served drive, in real time, beside a bulk load. Needs root.

    The drive is a small one of the slides' part; reads suspend nothing, erases, or programs too.
    """
    from reprieve_studies.databases import SAME_BLOCK, Plan, paired, run_into

    directory = Path("out", f"database-{engine}") if out is None else out
    may_write([], directory, inputs=[], force=force)
    plan = Plan(seconds, time_scale, seeds, same_block or SAME_BLOCK[:1])
    save()  # An interrupt unmounts and detaches, which may take seconds.
    with overall() as step:
        outcomes = run_into(engine, plan, directory, step)
    _show(engine, outcomes)
    if seeds > 1:
        _show_paired(engine, paired(outcomes))
    say(f"wrote {directory / 'transactions.json'} and a scenario of each setting")


def _show(engine: str, outcomes: list[Outcome]) -> None:
    columns = {
        "transactions": "transactions",
        "mean_us": "mean, µs",
        "p50_us": "p50, µs",
        "p90_us": "p90, µs",
        "p95_us": "p95, µs",
        "p99_us": "p99, µs",
        "p99.9_us": "p99.9, µs",
        "max_us": "longest, µs",
        # Each heading says all: the table is folded, and a column may begin a part.
        "drive_read_mean_us": "drive's reads, mean, µs",
        "drive_read_p99_us": "drive's reads, p99, µs",
        "late_mean_us": "late, mean, µs",
        "late_p99_us": "late, p99, µs",
    }
    # A setting that is run several times has as many rows.
    turns = ["seed"] if len({outcome.seed for outcome in outcomes}) > 1 else []
    rows = table(
        f"Transactions of {engine}, by the model's clock",
        ["suspended", *turns, *columns.values(), "programs suspended", "erases suspended"],
        left=1 + len(turns),
    )
    for outcome in outcomes:
        told = outcome.told
        rows.add_row(
            outcome.arm.title,
            *(f"{told[key]}" for key in turns),
            *("–" if told[key] is None else f"{told[key]:,.0f}" for key in columns),
            f"{told['program_suspensions']:,}",
            f"{told['erase_suspensions']:,}",
        )
    show(rows)


def _show_paired(engine: str, found: list[dict[str, Any]]) -> None:
    from reprieve_studies.databases import COMPARED

    columns = ("mean", "p95", "drive's reads, mean", "drive's reads, p99")
    rows = table(
        f"{engine}: over no suspension, {found[0]['seeds']} seeds, with intervals of 95 %",
        ["suspended", "same", *columns],
        left=2,
    )
    for one in found:
        cells = [one[what] for what in COMPARED]
        rows.add_row(
            one["suspended"],
            one["same_block"],
            *(
                "–" if cell is None
                else f"{cell['ratio']:.2f} ({cell['low']:.2f} to {cell['high']:.2f})"
                for cell in cells
            ),
        )  # fmt: skip
    show(rows)
