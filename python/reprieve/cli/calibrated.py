"""Work and results of `reprieve calibrate`, with what takes a while to load."""

from collections.abc import Sequence
from contextlib import closing
from glob import escape
from pathlib import Path

from reprieve import calibration
from reprieve.calibration.calibrate import as_json, split
from reprieve.calibration.figure import percentile_chart
from reprieve.calibration.measured import by_name
from reprieve.calibration.measured_tables import read_table
from reprieve.calibration.parameters import parse_fix, parse_free
from reprieve.calibration.plan import job_files
from reprieve.calibration.replay import ignored_places
from reprieve.cli.console import overall, say, show, table
from reprieve.drives import load
from reprieve.outputs import ResultDirectory
from reprieve.registries import device
from reprieve.units import share

_FAR_OFF = 4.0
"""Multiple of the noise above which differences are attributed to the model."""


def task_of(
    results: Sequence[Path],
    start: str,
    free: Sequence[str],
    fix: Sequence[str],
    hold_out: Sequence[str],
    quick: bool,
) -> calibration.Task:
    """Return what is to be fitted, to what; UserError if a file or an option is wrong."""
    device(start)
    conditions, predicted = _conditions(results)
    fitted, held = split(conditions, hold_out or predicted)
    zones = sorted({place for each in conditions for place in ignored_places(each)})
    if zones:
        say(f"zones are not simulated; left out: {', '.join(zones)}")
    sizes = calibration.QUICK_TASK if quick else {}
    parameters, fixed = [*map(parse_free, free)], dict(map(parse_fix, fix))
    return calibration.Task(fitted, held, start, parameters, fixed, **sizes)


def _conditions(results: Sequence[Path]) -> tuple[list[calibration.Condition], list[str]]:
    """Return all conditions, and patterns of those that a drive's folder does not fit."""
    found: list[calibration.Condition] = []
    predicted: list[str] = []
    for path in results:
        if path.is_dir():
            drive = load(path)
            found += drive.conditions
            predicted += [escape(each.name) for each in drive.predicted_conditions if drive.fitted]
        else:
            is_table = path.suffix in (".csv", ".parquet")
            found += read_table(path) if is_table else calibration.read_results([path])
    return [*by_name(found).values()], predicted


def answer(task: calibration.Task, out: Path, workers: int | None) -> None:
    """Say whether the drive suspends; `out` keeps what was simulated."""
    with overall() as step, closing(task.evaluator(out, workers)) as evaluator:
        conditions, fixed = task.conditions, dict(task.fixed or {})
        found = calibration.judge(conditions, task.parameters(), fixed, evaluator, task.depth, step)
    shown = table("assumption", ["", "programs make way", "BIC above the best"])
    means = [sum(each.criterion) / len(each.criterion) for each in found.judged]
    for each, mean in zip(found.judged, means, strict=True):
        suspends = "yes" if each.assumption.suspends else "no"
        shown.add_row(each.assumption.sentence, suspends, f"{mean - min(means):.0f}")
    show(shown)
    say(calibration.sentence(found))


def fit(task: calibration.Task, out: Path, workers: int | None) -> None:
    """Fit the device, write it and what is known of it, and show that."""
    from reprieve.plot import Figure

    with overall() as step:
        found = calibration.calibrate(task, out, workers, step)
    compared = [*found.fitted, *found.predicted]
    conditions = [*task.conditions, *task.held_out]
    names = [condition.name for condition in task.conditions]
    figure = Figure(lambda theme: percentile_chart(conditions, compared, names, theme))
    with ResultDirectory(out) as results:
        results.write("device.toml", calibration.device_file(found, out.name))
        results.write("calibration.json", as_json(found))
        results.write("percentiles.svg", figure.svg("page"))
        results.commit()
    _show(found)
    say(f"wrote {out}/device.toml, calibration.json, percentiles.svg")


def write_plan(folder: Path) -> None:
    """Write the job files of fio that reveal most of a drive."""
    files = job_files()
    with ResultDirectory(folder) as results:
        for name, text in files.items():
            results.write(name, text)
        results.commit()
    say(f"wrote {len(files)} files to {folder}; read {folder}/run.sh before you run it")


def _show(found: calibration.Calibration) -> None:
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


def _show_errors(
    title: str, compared: Sequence[calibration.Term], conditions: Sequence[calibration.Condition]
) -> None:
    if not conditions:
        return
    shown = table(f"{title}: relative error over {len(conditions)} runs", ["", "median", "9 of 10"])
    figures = {"p50 to p99": ("p50", "p90", "p99"), "p99.9": ("p99.9",), "p99.99": ("p99.99",)}
    for name, whats in (figures | {"IOPS": ("iops",)}).items():
        found = calibration.errors((term for term in compared if term.direction == "read"), whats)
        if found is not None:
            shown.add_row(name, share(found.median), share(found.ninth_tenth))
    show(shown)
