"""The power fails at many instants of a run: what each policy saves, and what it takes."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve._native import UserError
from reprieve.extras import has_plots, need_plots
from reprieve.frames import flat
from reprieve.outputs import ResultDirectory
from reprieve.scenario import ScenarioLike, Source
from reprieve.simulation import Watch, opened, unwatched

if TYPE_CHECKING:
    from reprieve.plot import Figure

_STEP_REQUESTS = 1 << 14


@dataclass(frozen=True)
class PowerLoss:
    """The effects of power losses at several points of a run, under each policy.

    >>> few = {"workload__requests": 500, "geometry__dies_per_channel": 1}
    >>> found = rp.power_loss("examples/power-loss.toml", cuts=2, **few)
    >>> [(row["policy"], row["lost_pages"]) for row in found.rows[:4]]
    [('wait', 0), ('suspend_erase', 0), ('suspend', 0), ('reset', 0)]
    """

    scenario: str
    """The resolved scenario as TOML."""
    rows: list[dict[str, Any]]
    """One row for each cut and policy, with the fields of `power_loss` in `summary.json`."""

    @property
    def policies(self) -> list[str]:
        """The policies that the part supports."""
        return list(dict.fromkeys(row["policy"] for row in self.rows))

    def summary(self) -> dict[str, Any]:
        """Return mean, p99 and maximum over the cuts, for each policy; units as in the names."""
        return {
            "schema": 1,
            "cuts": len(self.rows) // len(self.policies),
            "policies": {policy: self._of(policy) for policy in self.policies},
        }

    def _of(self, policy: str) -> dict[str, Any]:
        rows = [row for row in self.rows if row["policy"] == policy]
        told: dict[str, Any] = {
            key: _spread([row[key] for row in rows])
            for key in ("time_to_safety_ns", "energy_uj", "capacitance_uf")
        }
        told["recovery_ns"] = _spread([row["recovery"]["total_ns"] for row in rows])
        for key in ("dirty_pages", "programmed_pages", "saved_pages", "lost_pages"):
            told[key] = sum(row[key] for row in rows)
        told["cuts_with_losses"] = sum(row["lost_pages"] > 0 for row in rows)
        return told

    def plot(self) -> Figure:
        """Draw the time and energy until all data is safe, one line for each policy.

        Raises UserError without the packages of `reprieve[plots]`.
        """
        need_plots("a chart")
        from reprieve.plot import Figure, power_loss

        return Figure(lambda theme: power_loss.cuts(self.rows, theme))

    def csv(self) -> str:
        """Return the rows as CSV; the columns of the recovery begin with `recovery_`."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        rows = [flat(row) for row in self.rows]
        writer.writerow(key.replace(".", "_") for key in rows[0])
        for row in rows:
            cells = ["" if cell is None else json.dumps(cell).strip('"') for cell in row.values()]
            writer.writerow(cells)
        return text.getvalue()


def _spread(values: list[Any]) -> dict[str, float] | None:
    """Return mean, nearest-rank p99 and maximum; None where nothing is known."""
    if any(value is None for value in values):
        return None
    ordered = sorted(values)
    rank = ceil(0.99 * len(ordered))
    return {"mean": sum(ordered) / len(ordered), "p99": ordered[rank - 1], "max": ordered[-1]}


def power_loss(
    scenario: ScenarioLike, *, cuts: int = 100, watch: Watch = unwatched, **overrides: Any
) -> PowerLoss:
    """Evaluate a power loss at evenly spaced points of a run.

    `scenario` and `overrides`: as for `run`; `power_loss.mode` must be "on".
    `cuts`: the number of points; each is the middle of an equal part of the run.
    `watch`: called between cuts, with the share of the run done (0 to 1) and the number of cuts.

    The run continues after each cut as if nothing had happened. It is simulated twice: the first
    time gives its length.

    Raises UserError if the scenario is wrong.

    >>> few = {"workload__requests": 500, "geometry__dies_per_channel": 1}
    >>> found = rp.power_loss("examples/power-loss.toml", cuts=5, **few)
    >>> found.summary()["cuts"], len(found.rows)
    (5, 20)
    """
    return cut(Source.of(scenario, overrides), cuts, watch)


def cut(source: Source, cuts: int, watch: Watch = unwatched) -> PowerLoss:
    """Do the same with a source."""
    if cuts < 1:
        raise UserError(f"cuts = {cuts}: must be at least 1")
    resolved = tomllib.loads(source.resolve())
    if resolved["power_loss"]["mode"] == "off":
        raise UserError(
            f'{source.path}: power_loss.mode = "off": the drive is not prepared for a loss of '
            'power; must be "on", with the other keys of the section'
        )
    # The power may fail at any time, whatever of the run a summary would measure.
    whole = ['measure.warmup="none"', "measure.from_request=0", "measure.from_s=0"]
    source = source.with_sets(['power_loss.at_us="none"', *whole])
    length_ns = _length_ns(source)
    split, _, simulation = opened(source)
    while not simulation.is_preconditioned():
        split.ask(simulation.step, 1)
    rows: list[dict[str, Any]] = []
    for number in range(cuts):
        told = split.ask(simulation.power_loss, (2 * number + 1) * length_ns // (2 * cuts))
        if told is None:
            raise RuntimeError("the same run is shorter the second time")
        rows += json.loads(told)
        watch((number + 1) / cuts, number + 1)
    return PowerLoss(split.written(simulation.scenario), rows)


def _length_ns(source: Source) -> int:
    split, _, simulation = opened(source)
    while split.ask(simulation.step, _STEP_REQUESTS):
        pass
    length_ns = json.loads(simulation.summary())["device"]["simulated_ns"]
    assert isinstance(length_ns, int)
    return length_ns


def cut_into(
    source: Source, cuts: int, directory: Path, watch: Watch
) -> tuple[PowerLoss, list[Path]]:
    """Do it and write `power_loss.json`, `.csv`, `.svg` and `scenario.toml` to a directory.

    Without the extra `plots` there is no `.svg`.
    """
    with ResultDirectory(directory) as out:
        result = cut(source, cuts, watch)
        out.write("scenario.toml", result.scenario)
        out.write("power_loss.csv", result.csv())
        out.write("power_loss.json", json.dumps(result.summary(), indent=2) + "\n")
        if has_plots():
            out.write("power_loss.svg", result.plot().svg("page"))
        return result, out.commit()
