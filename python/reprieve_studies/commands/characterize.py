"""`reprieve characterize`: a part's programs suspended with every pair of delays."""

from pathlib import Path
from typing import Annotated

import typer

from reprieve.cli.console import command_line, say, show, table
from reprieve.cli.options import Force, Sets, argument, out_dir
from reprieve.overwriting import may_write, named_by
from reprieve_studies.commands.verdicts import show_verdicts


def characterize(
    part: Annotated[str, argument("A built-in part, or a path.", "PART")],
    sets: Sets = None,
    out: Annotated[Path | None, out_dir("out/characterize-PART")] = None,
    wordlines: Annotated[int, typer.Option(metavar="N", help="Drawn from a block.")] = 50,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of all that is drawn.")] = 1,
    alike: Annotated[
        bool, typer.Option("--alike", help="Wordlines differ in their numbers of iterations alone.")
    ] = False,
    force: Force = False,
) -> None:
    """Measure how a part's programs can be suspended, as a tester with a chip would.

    Writes runs.parquet, report.html, verdicts.json and figures/ (SVG and PNG) to DIR.
    """
    from reprieve.characterize import ALIKE, VARIETY, measure
    from reprieve_studies.characterize import characterize_into

    directory = Path("out", f"characterize-{Path(part).stem}") if out is None else out
    may_write([], directory, inputs=[*named_by(Path(part))], force=force)
    measured = measure(part, tuple(sets or ()), wordlines, seed, ALIKE if alike else VARIETY)
    article = characterize_into(measured, directory, command_line())
    rows = table(f"{part}: programs by suspensions", ["suspensions", "programs", "share"])
    counts = measured.suspensions()
    for number, count in counts.items():
        rows.add_row(str(number), f"{count:,}", f"{100 * count / sum(counts.values()):.2f} %")
    show(rows)
    show_verdicts("Beside the chip of Zambelli et al. (2021)", article.verdicts, "paper")
    names = ["runs.parquet", "report.html", "verdicts.json", "figures"]
    say("wrote " + ", ".join(str(directory / name) for name in names))
