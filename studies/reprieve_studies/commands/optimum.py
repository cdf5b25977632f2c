"""`reprieve optimum`: how far the suspension policies are from the best that one die could do."""

from typing import Annotated

import typer

from reprieve.cli.console import overall, say, sentence, show, table
from reprieve.cli.options import Jobs


def optimum(
    read_us: Annotated[float, typer.Option(metavar="US", help="Time of a read.")] = 60.0,
    program_us: Annotated[float, typer.Option(metavar="US", help="Time of a program.")] = 1000.0,
    entry_us: Annotated[
        float, typer.Option(metavar="US", help="From a suspension to the free array.")
    ] = 20.0,
    resume_us: Annotated[float, typer.Option(metavar="US", help="Cost of going on.")] = 50.0,
    load: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the die's time that reads take.")
    ] = 0.3,
    slo_us: Annotated[float, typer.Option(metavar="US", help="Service level of a read.")] = 500.0,
    late: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of reads that may take longer.")
    ] = 0.001,
    step_us: Annotated[float, typer.Option(metavar="US", help="Step of the grid.")] = 5.0,
    reads: Annotated[
        int, typer.Option(metavar="N", min=10_000, help="Reads of each simulation.")
    ] = 100_000,
    jobs: Jobs = None,
) -> None:
    """Compare policies with the fewest suspensions that keep one die's reads in time.

    Writes always wait, and reads are Poisson. The optimum is solved on a grid and then simulated,
    as the others are.
    """
    from reprieve_studies.optimum import Die, Settings
    from reprieve_studies.optimum import optimum as find

    die = Die(read_us, program_us, entry_us, resume_us, load, slo_us)
    with overall() as step:
        found = find(Settings(die, late, step_us, reads, jobs), step)
    title = f"Suspensions needed for at most {late:.3g} of the reads above {slo_us:g} µs"
    rows = table(
        title, ["policy", "best choice", "suspensions/s", "late reads", "programs/s"], left=2
    )
    for row in found.rows:
        measured = row.measured
        rows.add_row(
            row.kind,
            row.choice,
            f"{measured.suspensions_per_s:,.0f}",
            f"{100 * measured.late_share:.3f} %",
            f"{measured.programs_per_s:,.0f}",
        )
    show(rows)
    if found.solved is None:
        say("The grid has no policy that keeps so many reads in time.")
        raise typer.Exit(1)
    solved = found.solved
    sentence(
        f"A near-optimum on a grid of {step_us:g} µs, not a proof: the grid expects "
        f"{solved.suspensions_per_s:,.0f} suspensions/s and {100 * solved.late_share:.3f} % late "
        f"reads; the residual of its equation is {abs(solved.residual):.1g} suspensions a program."
    )
