"""`reprieve drives`: measured drives, and how near their devices come."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reprieve._native import UserError
from reprieve.cli.completion import among
from reprieve.cli.console import overall, say, sentence, show, table
from reprieve.cli.options import Force, Jobs, argument, flag, given
from reprieve.drives import MeasuredDrive, load, names
from reprieve.drives.folders import SCORE
from reprieve.outputs import make_folder, replace_file
from reprieve.overwriting import may_write
from reprieve.toml_values import read_toml
from reprieve.units import NOTHING, share

if TYPE_CHECKING:
    from reprieve.calibration.measured import Condition
    from reprieve.drives.scores import Score

_SHOWN = ("p50", "p90", "p95", "p99", "p99.9", "iops")
_NAMED = 8
_WHOLE_FROM = 1000


def drives(
    name: Annotated[
        str | None,
        argument(
            "Show this one, or the one of a folder; without it, list all.", "[NAME]", among(names)
        ),
    ] = None,
    run: Annotated[bool, flag("--run", "Simulate its conditions on its device again.")] = False,
    fit: Annotated[bool, flag("--fit", "Fit its device to the conditions of fit.toml.")] = False,
    device: Annotated[
        str | None, given("With --run, a device in place of the drive's own.", "DEVICE")
    ] = None,
    reads: Annotated[
        int, typer.Option(min=1, help="Requests of the fastest measured job of a condition.")
    ] = 20_000,
    workers: Jobs = None,
    out: Annotated[
        Path | None,
        given("Write the figures of --run (score.toml of a folder), or the device of --fit."),
    ] = None,
    force: Force = False,
) -> None:
    """List the measured drives, or show one beside the device that was fitted to it.

    A device is fitted to some conditions of a drive and predicts the others. The score is the
    median error of reads from p50 to p99, of predicted conditions.
    """
    if run and fit:
        raise UserError("drives: --run and --fit: give one of them")
    for option, value in {"--device": device, "--out": out}.items():
        if value is not None and not run and not (fit and option == "--out"):
            raise UserError(f"drives: {option} must be given with --run")
    if name is None:
        if run or fit:
            raise UserError(f"drives: --{'run' if run else 'fit'} must have the name of a drive")
        _list()
        return
    if fit:
        _fit(load(name), workers, out or Path("out", f"{Path(name).name}-fit"), force)
        return
    from reprieve.drives.scores import score_text, simulate, stored

    drive = load(name)
    given_device = [Path(device)] if device is not None and device.endswith(".toml") else []
    may_write([out], inputs=[*drive.files, *given_device], force=force)
    if run:
        with overall() as step:
            score = simulate(drive, device, reads=reads, workers=workers, step=step)
        if out is not None:
            replace_file(out, score_text(score))
    _show(drive, score if run else stored(drive))


def _fit(drive: MeasuredDrive, workers: int | None, out: Path, force: bool) -> None:
    """Fit a device, and write it with what was simulated: the same command goes on from that."""
    from reprieve.calibration.evaluate import drive_text
    from reprieve.drives.fitted_device import fitted_text
    from reprieve.drives.fitting import fit

    device = out / "device.toml"
    may_write([device], out, inputs=drive.files, force=force)
    make_folder(out)
    with overall() as step:
        found = fit(drive, store=out, workers=workers, step=step)
    assert drive.device is not None, "a drive without a device is not fitted"
    rows = table("", ["parameter", "value", "95 %", ""], left=1)
    for each in found.intervals:
        said = "" if each.is_determined else "not determined"
        rows.add_row(each.key, f"{each.value:.4g}", f"{each.low:.4g} to {each.high:.4g}", said)
    show(rows)
    head = f"# {drive.name}: fitted by `reprieve drives {drive.key} --fit`."
    text = fitted_text(drive_text(drive.device), head, found.fit.values, found.intervals)
    replace_file(device, text)
    say(f"{found.figures} figures, {len(found.intervals)} parameters; wrote {device}")


def _joined(drive: MeasuredDrive) -> str:
    more = len(drive.fitted) - _NAMED
    return ", ".join(drive.fitted[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _list() -> None:
    rows = table("", ["drive", "device", "fitted", "predicted", "score"], left=2)
    for drive in map(load, names()):
        # Read by itself: the module of scores imports the simulator, which takes long.
        path = drive.folder / SCORE
        error = read_toml(path, "a score")["median_error"] if path.is_file() else None
        fitted = len(drive.fitted)
        counts = (f"{fitted}", f"{len(drive.condition_names) - fitted}")
        scored = share(error.number(least=0)) if error and error.is_there() else "not scored"
        rows.add_row(drive.key, drive.device or NOTHING, *counts, scored)
    show(rows)


def _show(drive: MeasuredDrive, score: "Score | None") -> None:
    from reprieve.drives.scores import body_errors

    noise = ", ".join(f"{figure} {share(each, 2)}" for figure, each in drive.noise.items())
    for text in (
        f"{drive.name}, {drive.capacity_bytes / 1e9:,.0f} GB",
        f"source: {drive.source}",
        f"licence: {drive.licence}",
        *([drive.notes] if drive.notes else []),
        f"device: {score.device if score else drive.device or 'none yet'}",
        f"fitted to: {_joined(drive) or 'nothing yet'}",
        f"noise floor: {noise or 'unknown'}",
        *([] if score else ["not scored: --run simulates its conditions"]),
    ):
        sentence(text)
    columns = ["condition", "figure", "measured", "simulated", "error"]
    columns += ["noise"] if drive.noise else []
    groups = {"fitted": drive.fitted_conditions, "predicted": drive.predicted_conditions}
    for title, conditions in groups.items():
        rows = table(f"{title}: latencies in µs", columns, left=2)
        for condition in conditions:
            for cells in _rows(drive, condition, score):
                rows.add_row(condition.name, *cells[: len(columns) - 1])
        if conditions:
            show(rows)
    for what, some in (("fitted", score.fitted), ("predicted", score.predicted)) if score else ():
        if (found := body_errors(some)) is not None:
            median, most = share(found.median), share(found.ninth_tenth)
            say(f"{what}: reads from p50 to p99: median error {median}, nine tenths within {most}")


def _rows(
    drive: MeasuredDrive, condition: "Condition", score: "Score | None"
) -> Iterator[list[str]]:
    """Yield figure, measured and simulated value, error and noise floor."""
    terms = {
        (term.job, term.direction, term.what): term
        for term in (score.terms if score else ())
        if term.condition == condition.name
    }
    for number, op, measured in condition.figures():
        figures = {f"p{percent:g}": ns / 1e3 for percent, ns in measured.percentile_ns.items()}
        figures |= {"iops": measured.iops} if measured.has_rate else {}
        for what in (each for each in _SHOWN if each in figures):
            term = terms.get((number, op, what))
            noise = drive.noise.get(f"{op}.{what}")
            unit = 1.0 if what == "iops" else 1e3
            yield [
                f"{condition.job_name(number)} {op} {what}",
                _number(figures[what]),
                NOTHING if term is None else _number(term.simulated / unit),
                NOTHING if term is None else f"{100 * term.difference:+.1f} %",
                NOTHING if noise is None else share(noise),
            ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= _WHOLE_FROM else f"{value:.1f}"
