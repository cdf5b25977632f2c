"""`reprieve what-if`: how much latencies change with tPROG, tR, the suspend time and others."""

from pathlib import Path
from typing import Annotated

import typer

from reprieve.cli.console import command_line, overall, say, sentence, show, table
from reprieve.cli.options import Force, Jobs, ScenarioFile, Sets, given, option, out_dir


def what_if(
    scenario: ScenarioFile,
    vary: Annotated[
        list[str] | None,
        given("Another key that is a number, such as ftl.over_provisioning.", "KEY", "--vary"),
    ] = None,
    by: Annotated[str, option("How much longer and shorter.", "SHARE")] = "10%",
    sets: Sets = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each variation.")] = 3,
    workers: Jobs = None,
    out: Annotated[Path | None, out_dir("out/what-if-SCENARIO")] = None,
    force: Force = False,
) -> None:
    """Make each time of the part longer and shorter, and say what the latencies do.

    An elasticity of 0.5 means that one percent more of a time makes a latency half a percent
    longer. Times are tR, tPROG, tBERS, those of a suspension, and the bus. Runs that are finished
    in DIR are never done again.
    """
    from reprieve.overwriting import inputs_of, may_write
    from reprieve.scenario import Source
    from reprieve.sensitivity import MEASURES, what_if_into
    from reprieve.tuning.question import share

    source = Source.read(scenario, sets or [])
    directory = Path("out", f"what-if-{scenario.stem}") if out is None else out
    may_write([], directory, inputs=inputs_of(source), force=force)
    command = command_line()
    with overall() as step:
        found = what_if_into(
            source, directory, vary or (), share(by), seeds, workers, step, command
        )
    shown = [each for each in MEASURES if any(row.measure == each for row in found.rows)]
    rows = table("Percent for one percent, and 95 % intervals", ["", *shown])
    for what in dict.fromkeys(row.what for row in found.rows):
        of = {row.measure: row for row in found.rows if row.what == what}
        cells = [(f"{of[m].value:+.2f}", f"{of[m].low:+.2f} to {of[m].high:+.2f}") for m in shown]
        rows.add_row(what, *(value for value, _ in cells))
        rows.add_row("", *(ends for _, ends in cells), style="dim")
    show(rows)
    for text in found.sentences:
        sentence(text)
    say(f"wrote {directory / 'what-if.json'}, {directory / 'report.html'}")
