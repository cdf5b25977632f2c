"""`reprieve calibrate`: a device from fio's results of a real drive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reprieve._native import UserError
from reprieve.cli.console import overall, say, show, table
from reprieve.cli.options import Force, Jobs, argument, flag, given, option
from reprieve.extras import need, need_plots
from reprieve.outputs import ResultDirectory, make_folder
from reprieve.overwriting import may_write, named_by
from reprieve.units import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reprieve.calibration.calibrate import Calibration, Task
    from reprieve.calibration.evaluate import Step
    from reprieve.calibration.hypotheses import Answer
    from reprieve.calibration.measured import Condition
    from reprieve.calibration.objective import Term

_QUESTIONS = ("suspension",)
_FAR_OFF = 4.0
"""Multiple of the noise above which differences are attributed to the model."""


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
        _write_plan(plan)
        return
    if question is not None and question not in _QUESTIONS:
        raise UserError(f"--question {question}: must be {' or '.join(_QUESTIONS)}")
    if not results:
        raise UserError("calibrate: no results of fio are given; must be one file at least")
    need("scipy", "reprieve calibrate", "scipy", "calibrate")
    if question is None:
        need_plots("reprieve calibrate", "calibrate")
    from reprieve.calibration.calibrate import calibrate as fitted

    task = _task(results, start, free or [], fix or [], hold_out or [], quick)
    make_folder(out)
    with overall() as step:
        if question is not None:
            _show_answer(_answer(task, out, workers, step))
            return
        found = fitted(task, out, workers, step)
    _write(found, out)
    _show(found)
    say(f"wrote {out}/device.toml, calibration.json, percentiles.svg")


def _task(
    results: Sequence[Path],
    start: str,
    free: Sequence[str],
    fix: Sequence[str],
    hold_out: Sequence[str],
    quick: bool,
) -> Task:
    from reprieve.calibration.calibrate import QUICK_TASK, Task, split
    from reprieve.calibration.parameters import parse_fix, parse_free
    from reprieve.calibration.replay import ignored_places
    from reprieve.registries import device

    device(start)
    conditions, predicted = _conditions(results)
    fitted, held = split(conditions, hold_out or predicted)
    zones = sorted({place for each in conditions for place in ignored_places(each)})
    if zones:
        say(f"zones are not simulated; left out: {', '.join(zones)}")
    return Task(
        fitted,
        held,
        start,
        [parse_free(each) for each in free],
        dict(parse_fix(each) for each in fix),
        **(QUICK_TASK if quick else {}),
    )


def _conditions(results: Sequence[Path]) -> tuple[list[Condition], list[str]]:
    """Return all conditions, and patterns of those that a drive's folder does not fit."""
    from glob import escape

    from reprieve.calibration.fio_results import read_results
    from reprieve.calibration.measured import by_name
    from reprieve.calibration.measured_tables import read_table
    from reprieve.drives import load

    found: list[Condition] = []
    predicted: list[str] = []
    for path in results:
        if path.is_dir():
            drive = load(path)
            found += drive.conditions
            predicted += [escape(each.name) for each in drive.predicted_conditions if drive.fitted]
        else:
            is_table = path.suffix in (".csv", ".parquet")
            found += read_table(path) if is_table else read_results([path])
    return [*by_name(found).values()], predicted


def _answer(task: Task, out: Path, workers: int | None, step: Step) -> Answer:
    from reprieve.calibration.hypotheses import judge

    evaluator = task.evaluator(out, workers)
    try:
        conditions, fixed = task.conditions, dict(task.fixed or {})
        return judge(conditions, task.parameters(), fixed, evaluator, task.depth, step)
    finally:
        evaluator.close()


def _write(found: Calibration, out: Path) -> None:
    from reprieve.calibration.calibrate import as_json, device_file
    from reprieve.calibration.figure import percentile_chart
    from reprieve.plot import Figure

    task, compared = found.task, [*found.fitted, *found.predicted]
    conditions = [*task.conditions, *task.held_out]
    names = [condition.name for condition in task.conditions]
    figure = Figure(lambda theme: percentile_chart(conditions, compared, names, theme))
    with ResultDirectory(out) as results:
        results.write("device.toml", device_file(found, out.name))
        results.write("calibration.json", as_json(found))
        results.write("percentiles.svg", figure.svg("page"))
        results.commit()


def _write_plan(folder: Path) -> None:
    from reprieve.calibration.plan import job_files

    files = job_files()
    with ResultDirectory(folder) as results:
        for name, text in files.items():
            results.write(name, text)
        results.commit()
    say(f"wrote {len(files)} files to {folder}; read {folder}/run.sh before you run it")


def _show(found: Calibration) -> None:
    shown = table("parameter", ["", "fitted", "95 % from", "to", ""])
    for each in found.known.intervals:
        note = "" if each.is_determined else "not determined"
        shown.add_row(each.key, f"{each.value:.5g}", f"{each.low:.4g}", f"{each.high:.4g}", note)
    for key, value in found.fit.values.items():
        if key not in {each.key for each in found.known.intervals}:
            shown.add_row(key, "none" if value is None else str(value), "", "", "")
    show(shown)
    for pair in found.known.pairs:
        say(f"{pair.first} and {pair.second} trade against each other: {pair.correlation:+.2f}")
    for advice in found.advice:
        left = 100 * advice.narrower
        say(f"measure {advice.condition}: {advice.key} would keep {left:.0f} % of its interval")
    if found.known.inflation > _FAR_OFF:
        say(
            f"the differences are {found.known.inflation:.0f} times what noise leaves: the drive "
            "does something that the model does not; intervals are wider by the root of that"
        )
    _show_errors("fitted", found.fitted, found.task.conditions)
    _show_errors("predicted, not fitted", found.predicted, found.task.held_out)


def _show_errors(title: str, compared: Sequence[Term], conditions: Sequence[Condition]) -> None:
    from reprieve.calibration.calibrate import errors

    if not conditions:
        return
    shown = table(f"{title}: relative error over {len(conditions)} runs", ["", "median", "9 of 10"])
    figures = {"p50 to p99": ("p50", "p90", "p99"), "p99.9": ("p99.9",), "p99.99": ("p99.99",)}
    for name, whats in (figures | {"IOPS": ("iops",)}).items():
        found = errors((term for term in compared if term.direction == "read"), whats)
        if found is not None:
            shown.add_row(name, share(found.median), share(found.ninth_tenth))
    show(shown)


def _show_answer(answer: Answer) -> None:
    from reprieve.calibration.hypotheses import sentence

    shown = table("assumption", ["", "programs make way", "BIC above the best"])
    means = [sum(each.criterion) / len(each.criterion) for each in answer.judged]
    for each, mean in zip(answer.judged, means, strict=True):
        suspends = "yes" if each.assumption.suspends else "no"
        shown.add_row(each.assumption.sentence, suspends, f"{mean - min(means):.0f}")
    show(shown)
    say(sentence(answer))
