"""`reprieve validate`: the closed forms of queueing theory beside what the simulator gives."""

from pathlib import Path
from typing import Annotated

import typer

from reprieve.cli.console import command_line, overall, say, show, table
from reprieve.cli.options import Force, Jobs, flag
from reprieve.overwriting import may_write
from reprieve_studies.verdicts import tally


def validate(
    quick: Annotated[
        bool, flag("--quick", "Fewer points and shorter runs: about a minute.")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go.")] = Path(
        "out/validate"
    ),
    jobs: Jobs = None,
    force: Force = False,
) -> None:
    """Simulate queues that theory has formulas for, and compare.

    Verdicts, a report and its figures go to DIR. The exit status is 1 if a check fails.
    """
    from reprieve_studies.theory import Settings, validate_into
    from reprieve_studies.theory.article import cells

    may_write([], out, inputs=[], force=force)
    settings = Settings(quick, jobs, command_line())
    with overall() as step:
        validation = validate_into(out, settings, step)
    columns = ["check", "theory", "simulated", "standard error", "difference", "verdict"]
    rows = table("Theory and simulation", columns)
    for found in validation.families.values():
        for each in found:
            rows.add_row(*cells(each))
        rows.add_section()
    show(rows)
    agree, differ, _, unknown = tally(validation.verdicts)
    say(f"{agree} agree, {differ} differ, {unknown} without enough samples")
    say(f"wrote {out / 'verdicts.json'}, {out / 'report.html'}, {out / 'figures'}")
    if differ:
        raise typer.Exit(1)
