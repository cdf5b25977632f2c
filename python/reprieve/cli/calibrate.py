"""`reprieve calibrate`: a device from fio's results of a real drive."""

from pathlib import Path
from typing import Annotated

import typer

from reprieve._native import UserError
from reprieve.cli.options import Force, Jobs, argument, flag, given, option
from reprieve.extras import need, need_plots
from reprieve.outputs import make_folder
from reprieve.overwriting import may_write, named_by

_QUESTIONS = ("suspension",)


def calibrate(
    results: Annotated[
        list[Path] | None,
        argument(
            "fio's results, written with --output-format=json; tables; or folders of drives.",
            "RESULTS…",
        ),
    ] = None,
    start: Annotated[str, option("The device whose other values are kept.", "DEVICE")] = "tlc-nvme",
    free: Annotated[
        list[str] | None,
        given("Fit this key, KEY=LO..HI or KEY=A|B|C; may be repeated.", "KEY=LO..HI", "--free"),
    ] = None,
    fix: Annotated[
        list[str] | None, given("Keep this key at a value; may be repeated.", "KEY=VALUE", "--fix")
    ] = None,
    hold_out: Annotated[
        list[str] | None,
        given("Predict the files whose names match, and do not fit them.", "GLOB", "--hold-out"),
    ] = None,
    question: Annotated[
        str | None,
        given("Answer a question instead: suspension, whether programs make way.", "QUESTION"),
    ] = None,
    plan: Annotated[
        Path | None, given("Write the job files of fio to measure a drive with, and end.", "DIR")
    ] = None,
    quick: Annotated[bool, flag("--quick", "Search less, and simulate shorter runs.")] = False,
    workers: Jobs = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where results go; a started one goes on.")
    ] = Path("out/calibration"),
    force: Force = False,
) -> None:
    """Fit a device to measurements of a real drive, and predict what was not fitted.

    A table, CSV or Parquet, has a TOML file of the same stem beside it, which says what was run.
    Without --hold-out, fit.toml of a drive's folder says which of its conditions are fitted.
    DIR/device.toml is the drive: `reprieve run` takes it as `device`. DIR/calibration.json has
    every value with its interval and every measured number beside the simulated one.
    """
    may_write([], plan or out, inputs=[*(results or ()), *named_by(Path(start))], force=force)
    if plan is not None:
        from reprieve.cli.calibrated import write_plan

        write_plan(plan)
        return
    if question is not None and question not in _QUESTIONS:
        raise UserError(f"--question {question}: must be {' or '.join(_QUESTIONS)}")
    if not results:
        raise UserError("calibrate: no results of fio are given; must be one file at least")
    need("scipy", "reprieve calibrate", "scipy", "calibrate")
    if question is None:
        need_plots("reprieve calibrate", "calibrate")
    from reprieve.cli.calibrated import answer, fit, task_of

    task = task_of(results, start, free or [], fix or [], hold_out or [], quick)
    make_folder(out)
    (fit if question is None else answer)(task, out, workers)
