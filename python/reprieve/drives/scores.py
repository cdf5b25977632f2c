"""Scores of a device: its simulated figures beside those that were measured of the drive."""

import json
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from reprieve._native import UserError, __version__
from reprieve.calibration.calibrate import Errors, errors
from reprieve.calibration.evaluate import Evaluator
from reprieve.calibration.measured import Condition
from reprieve.calibration.objective import Term, Weights
from reprieve.calibration.parameters import Value
from reprieve.calibration.replay import Effort
from reprieve.drives.folders import SCORE, MeasuredDrive
from reprieve.parallel import Step, silent
from reprieve.toml_values import read_toml

__all__ = ["Score", "body_errors", "score_text", "simulate", "stored"]

_KEYS = ("device", "reads", "seed", "version", "median_error", "figures")
_SECONDS_MAX = 60.0
_WRITTEN_BYTES = 24 << 20
_BODY = ("p50", "p75", "p90", "p95", "p99")
_KEPT = (*_BODY, "p99.9", "p99.99", "p99.999", "iops")


@dataclass(frozen=True)
class Score:
    """A device beside a measured drive, figure by figure."""

    drive: MeasuredDrive
    device: str
    reads: int
    seed: int
    version: str
    """Of Reprieve, by which it was simulated."""
    terms: tuple[Term, ...]

    @property
    def fitted(self) -> list[Term]:
        """Figures of conditions to which the device was fitted."""
        return [term for term in self.terms if term.condition in self.drive.fitted]

    @property
    def predicted(self) -> list[Term]:
        """Figures of all other conditions."""
        return [term for term in self.terms if term.condition not in self.drive.fitted]


def body_errors(compared: Iterable[Term]) -> Errors | None:
    """Sum up the relative errors of reads from p50 to p99; None without any."""
    return errors((term for term in compared if term.direction == "read"), _BODY)


def simulate(
    drive: MeasuredDrive,
    device: str | None = None,
    *,
    reads: int = 20_000,
    seed: int = 1,
    conditions: Iterable[Condition] | None = None,
    values: dict[str, Value] | None = None,
    workers: int | None = None,
    step: Step = silent,
) -> Score:
    """Simulate conditions of a drive on a device, side by side, and compare all figures.

    `device`: a built-in one or a file; None: the drive's own. `reads`: requests of the fastest
    measured job. `conditions`: None for all. `values`: keys of the scenario in place of the
    device's. Raises UserError if the drive has no device, or the device cannot be simulated.
    """
    name = device or drive.device
    if name is None:
        raise UserError(f"drives: {drive.key} has no device yet; must be given with --device")
    chosen = list(drive.conditions if conditions is None else conditions)
    base = {"device": name, **drive.scenario}
    effort = Effort(reads, _WRITTEN_BYTES, _SECONDS_MAX, seed)
    with closing(Evaluator(base, Weights(), None, workers, step)) as evaluator:
        found = evaluator.compare([values or {}], chosen, effort)[0]
        if found is None:
            raise UserError(f"drives: {drive.key} on {name}: {evaluator.why_refused()}")
    return Score(drive, name, reads, seed, __version__, tuple(found))


def stored(drive: MeasuredDrive) -> Score | None:
    """Return the score that the drive's folder has; None without one, UserError if it is wrong."""
    path = drive.folder / SCORE
    if not path.is_file():
        return None
    content = read_toml(path, "a score").table_of(_KEYS)
    found = []
    for row in content["figures"].items():
        condition, job, op, what, measured, simulated = row.items_of(6)
        values = (measured.number(above=0), simulated.number(least=0))
        found.append(Term(condition.text(), job.whole(), op.text(), what.text(), *values, 0.0))
    reads, seed = content["reads"].whole(least=1), content["seed"].whole(least=1)
    device, version = content["device"].text(), content["version"].text()
    return Score(drive, device, reads, seed, version, tuple(found))


def score_text(score: Score) -> str:
    """Write a score as its file, without percentiles below the median."""
    error = body_errors(score.predicted)
    figures = []
    for term in (each for each in score.terms if each.what in _KEPT):
        where = (term.condition, term.job, term.direction, term.what)
        figures.append([*where, term.measured, round(term.simulated, 1)])
    lines = [
        f"# Figures of {score.drive.key}, by `reprieve drives {score.drive.key} --run`.",
        f"device = {json.dumps(score.device)}",
        f"reads = {score.reads}",
        f"seed = {score.seed}",
        f"version = {json.dumps(score.version)}",
        *([] if error is None else [f"median_error = {error.median:.4f}"]),
        "# Condition, number of the job, direction, figure; measured, simulated: ns or per s.",
        "figures = [",
        *(f"    {json.dumps(figure, ensure_ascii=False)}," for figure in figures),
        "]",
    ]
    return "\n".join(lines) + "\n"
