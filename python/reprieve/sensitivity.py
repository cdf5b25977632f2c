"""Sensitivity: how much latencies change when times of the part, or other numbers, do."""

import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprieve._native import UserError
from reprieve.confidence import FIGURES
from reprieve.elementary import log
from reprieve.notebook import step_bar
from reprieve.outputs import ResultDirectory
from reprieve.pairs import Run, paired, times_more
from reprieve.parallel import Step, silent
from reprieve.roles import at, is_environment
from reprieve.scenario import ScenarioLike, Source, toml_value
from reprieve.tuning.question import ARM, Question, field
from reprieve.tuning.search import Measured, Point, Scenarios

TIMES: Mapping[str, tuple[str, ...]] = {
    "read, tR": ("timing.t_read_us", "timing.t_read_us_by_type"),
    "program, tPROG": ("timing.t_program_pulse_us", "timing.t_verify_us"),
    "erase, tBERS": ("timing.t_erase_us",),
    "suspend": (
        "timing.t_suspend_overhead_us",
        "timing.t_erase_suspend_overhead_us",
        "timing.t_voltage_reset_us",
    ),
    "bus": ("timing.t_bus_us",),
}
"""Times by what they are of, and the keys that make each up, which change together."""
MEASURES = ("read.mean", "read.p99", "read.p99_9", "write.mean")
SEEDS = 3
_PLACES_NS = 3
_NONE = 0.005


@dataclass(frozen=True)
class Elasticity:
    """The percent by which a measure changes for one percent of a time, at 95 %."""

    what: str
    """Of `TIMES`, or a key."""
    measure: str
    value: float
    low: float
    high: float
    up: float
    """Change of the measure, as a share, where the time is longer by the step."""
    down: float
    """Change where it is shorter."""

    @property
    def is_decided(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Sensitivity:
    """Elasticities of a scenario's latencies.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 1, "queue_depth": 1}
    >>> found = rp.what_if({"device": "fast12-mlc", "workload": load}, out="what", seeds=1)
    >>> found.sentences[0].startswith("read mean depends most on bus: 1 % more makes it 0.6")
    True
    """

    by: float
    """The step, as a share."""
    rows: tuple[Elasticity, ...]
    """One for each time and latency."""
    left_out: tuple[str, ...]
    """Sentences: what could not be changed, and why."""

    @property
    def sentences(self) -> list[str]:
        """The answer in words: on what each tail depends most."""
        found = []
        for measure in dict.fromkeys(row.measure for row in self.rows):
            rows = sorted((row for row in self.rows if row.measure == measure),
                          key=lambda row: -abs(row.value))  # fmt: skip
            most = rows[0]
            ends = f"{most.low:.2f} to {most.high:.2f}"
            if abs(most.value) < _NONE and not most.is_decided:
                found.append(f"{_said(measure)} depends on none of them")
                continue
            text = f"{_said(measure)} depends most on {most.what}: 1 % more makes it "
            text += f"{abs(most.value):.2f} % {'longer' if most.value >= 0 else 'shorter'} ({ends})"
            needs = times_more(most.value, most.low, most.high)
            found.append(text if most.is_decided else f"{text}, not significant{needs}")
        return [*found, *self.left_out] or ["runs of so few requests show no latency"]


def what_if(
    scenario: ScenarioLike,
    *,
    out: str | os.PathLike[str],
    vary: Sequence[str] = (),
    by: float = 0.1,
    seeds: int = SEEDS,
    workers: int | None = None,
    **overrides: Any,
) -> Sensitivity:
    """Return how much latencies change with tPROG, tR, tBERS, the suspend and the bus time.

    Each is made longer and shorter by a share, `by`, under the same seeds; the elasticity is the
    slope on logarithmic scales, with its 95 % interval from pairs of batches.

    `vary`: further keys that are numbers. `out`: the directory of the results and finished runs.
    `seeds`: the number of seeds of each run. `workers`: the number of runs at a time; by default
    one a core. `overrides` as for `run`. Raises UserError if a key is no number that can be
    changed.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 1, "queue_depth": 1}
    >>> found = rp.what_if({"device": "fast12-mlc", "workload": load}, out="what", seeds=1)
    >>> max(found.rows, key=lambda row: row.value).what
    'bus'
    """
    source = Source.of(scenario, overrides)
    with step_bar() as step:
        return what_if_into(source, Path(out), vary, by, seeds, workers, step, "rp.what_if")


def what_if_into(
    source: Source,
    directory: Path,
    vary: Sequence[str],
    by: float,
    seeds: int,
    workers: int | None,
    step: Step = silent,
    command: str = "",
) -> Sensitivity:
    """Run what is missing, and write the elasticities and their page into a directory."""
    from reprieve.experiments.engine import Settings as Places
    from reprieve.experiments.store import locked
    from reprieve.extras import has_plots

    if not 0 < by < 1:
        raise UserError(f"--by {by:g}: must be a share above 0 and below 1, or in %")
    drive = tomllib.loads(source.resolve())
    arms: dict[str, tuple[str, ...]] = {"as it is": ()}
    left_out = list[str]()
    for name, keys in {**TIMES, **{key: (key,) for key in vary}}.items():
        _check(name, drive)
        for word, factor in (("longer", 1 + by), ("shorter", 1 - by)):
            sets = _scaled(drive, keys, factor)
            try:
                source.with_sets(sets).resolve()
            except UserError as error:
                left_out.append(f"{name} is left out: {error}")
                sets = ()
            arms |= {f"{name} {word}": sets} if sets else {}
        if not any(_numbers(drive, key) for key in keys):
            left_out.append(f"{name} is left out: it is 0 here; set it first")
    asked = Question((), (), field(MEASURES[0]), is_max=False, arms=arms)
    first = int(drive["seed"])
    with locked(directory) as store:
        measured = Measured(
            store, Places(workers).executor(), Scenarios(source, asked), range(first, first + seeds)
        )
        runs = dict[str, list[Run]]()
        for place, name in enumerate(arms):
            step("variations", place, len(arms))
            (found,) = measured([Point(place, point := ((ARM, name),))])
            if isinstance(found, str):
                raise UserError(f"{name}: {found}")
            runs[name] = measured.runs(point)
    made = Sensitivity(by, tuple(_elasticities(runs, by)), tuple(dict.fromkeys(left_out)))
    with ResultDirectory(directory) as to:
        content = {
            "schema": 1,
            "by": by,
            "seeds": seeds,
            "sentences": made.sentences,
            "elasticities": [asdict(row) for row in made.rows],
        }
        to.write("what-if.json", json.dumps(content, indent=1) + "\n")
        if has_plots():
            to.write("report.html", _page(made, seeds, command))
        to.commit(stale=("report.html",))
    return made


def _check(name: str, drive: Mapping[str, Any]) -> None:
    """Refuse a key that is given, or is no number."""
    if name in TIMES:
        return
    if is_environment(name):
        raise UserError(f"--vary {name}: is given, not chosen; sweep it to see what it changes")
    if not _numbers(drive, name):
        raise UserError(f"--vary {name}: must be a key whose value here is a number above 0")


def _numbers(drive: Mapping[str, Any], key: str) -> list[float]:
    """Return the numbers above 0 of a key; nothing if it has none."""
    value = at(drive, key)
    values = value if isinstance(value, list) else [value]
    is_number = all(type(each) in (int, float) and each > 0 for each in values)
    return values if is_number else []


def _scaled(drive: Mapping[str, Any], keys: Sequence[str], factor: float) -> tuple[str, ...]:
    """Return overrides that multiply keys, times to whole nanoseconds."""
    sets = []
    for key in keys:
        numbers = [
            round(each * factor) if type(each) is int and not key.endswith("_us")
            else round(each * factor, _PLACES_NS if "_us" in key else 9)
            for each in _numbers(drive, key)
        ]  # fmt: skip
        is_list = "_by_type" in key
        if numbers:
            sets.append(f"{key}={toml_value(numbers if is_list else numbers[0])}")
    return tuple(sets)


def _elasticities(runs: Mapping[str, Sequence[Run]], by: float) -> Iterator[Elasticity]:
    span = float(log(np.array([(1 + by) / (1 - by)]))[0])
    base = runs["as it is"]
    for name in (each.removesuffix(" longer") for each in runs if each.endswith(" longer")):
        if f"{name} shorter" not in runs:
            continue
        up, down = (runs[f"{name} {word}"] for word in ("longer", "shorter"))
        slopes, changes = paired(up, down), [paired(side, base) for side in (up, down)]
        for measure in MEASURES:
            column = field(measure).column
            pair = slopes[column]
            low, high = pair.get("ratio_low"), pair.get("ratio_high")
            if not pair["ratio"] or not low or not high:
                continue
            ends = log(np.array([pair["ratio"], low, high])) / span
            shares = ((each[column]["ratio"] or math.nan) - 1 for each in changes)
            yield Elasticity(name, measure, *ends.tolist(), *shares)


def _said(measure: str) -> str:
    op, _, figure = measure.partition(".")
    return f"{op} {FIGURES[figure]}"


def _page(made: Sensitivity, seeds: int, command: str) -> str:
    from reprieve.plot.points import OTHERS, Key, Measure, Points
    from reprieve.report.points import Words, render

    names = list(dict.fromkeys(row.what for row in made.rows))
    measures = []
    for measure in dict.fromkeys(row.measure for row in made.rows):
        found = {row.what: row for row in made.rows if row.measure == measure}
        of = [found.get(name) for name in names]
        values, low, high = (
            [None if row is None else getattr(row, end) for row in of]
            for end in ("value", "low", "high")
        )
        measures.append(Measure(f"elasticity of {_said(measure)}", values, low, high, is_max=True))
    lead, *more = (f"{each[0].upper()}{each[1:]}." for each in made.sentences)
    words = Words(
        title="What if",
        command=command,
        facts={"Step": f"± {100 * made.by:g} %", "Seeds": str(seeds)},
        lead=lead,
        sentences=more,
        caption="Percent of change for one percent of a time, with 95 % intervals",
    )
    places = [str(place) for place in range(len(names))]
    points = Points(places, [Key("time", names, tuple(names))], measures, [OTHERS] * len(names))
    return render(points, words)
