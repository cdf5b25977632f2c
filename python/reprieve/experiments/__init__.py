"""Experiments: many runs of a scenario, here or on a cluster, stored and never done twice."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve import frames, tables
from reprieve._native import UserError
from reprieve.extras import need_plots
from reprieve.latency import KINDS, Latency
from reprieve.notebook import step_bar

if TYPE_CHECKING:
    import pyarrow as pa

    from reprieve.experiments.plan import Plan

__all__ = ["Sweep", "sweep"]

# What a notebook shows of a data set.
_ROWS_MAX = 20


class Sweep:
    """The data set of a sweep, with its tables in pyarrow.

    Programs that take Arrow see the table of its points. Raises UserError, as each method and table
    does, if the directory holds no data set or pyarrow is not installed.

    >>> load = {"generator": "mixed", "requests": 500, "queue_depth": 8}
    >>> found = rp.sweep({
    ...     "scenario": {"device": "fast12-slc", "workload": load},
    ...     "design": "list",
    ...     "points": [{"workload.read_fraction": 0.5}, {"workload.read_fraction": 1.0}],
    ... })
    >>> found.latency("read", where="workload_read_fraction = 1.0").requests
    500
    """

    def __init__(self, directory: str | os.PathLike[str], *, _is_part: bool = False) -> None:
        self.directory = Path(directory)
        if not _is_part and not (self.directory / "runs.parquet").exists():
            raise UserError(
                f"{self.directory}: there is no data set here; name the directory of a sweep"
            )
        self._plan: Plan | None = None  # of a sweep that was run by this object's maker

    def __repr__(self) -> str:
        return f"<reprieve.Sweep: {self.directory}>"

    def _repr_html_(self) -> str:
        from reprieve.experiments.columns import figures, heading, told
        from reprieve.html import table
        from reprieve.tables import rows as rows_of

        found = tables.reader(self.directory / "points.parquet", group=0).read()
        first = rows_of(found, _ROWS_MAX)
        numbers = told(first)
        # The point and the keys that vary stand before the number of seeds.
        keys = found.names[: found.names.index("seeds")]
        columns = [*([str(row[key]) for row in first] for key in keys)]
        columns += [figures(first, name) for name in numbers]
        rows = list(zip(*columns, strict=True))
        more = f", the first {_ROWS_MAX}" if len(found) > _ROWS_MAX else ""
        heads = map(heading, numbers)
        return table(f"{len(found):,} points{more}", [*keys, *heads], rows)

    @property
    def runs(self) -> pa.Table:
        """A row a run: point, seed, name of the run, keys that vary, all numbers, histograms."""
        return self._read("runs")

    @property
    def points(self) -> pa.Table:
        """A row a point: means over its seeds, with 95 % intervals; `front` if there are goals."""
        return self._read("points")

    @property
    def differences(self) -> pa.Table:
        """A row for each measure of each point against its base, with 95 % intervals.

        Batches of the same requests under the same seeds are compared; with ten seeds or more,
        whole runs.
        """
        if not (self.directory / "differences.parquet").exists():
            raise UserError(
                f"{self.directory}: has no differences.parquet; a sweep of more than 10,000 points "
                "has none"
            )
        return self._read("differences")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        points = tables.reader(self.directory / "points.parquet")
        return points.__arrow_c_stream__(requested_schema)

    def _read(self, name: str) -> pa.Table:
        return frames.to_arrow(tables.read(self.directory / f"{name}.parquet"), name)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the page of the sweep, one HTML file that needs no network.

        Raises UserError if it cannot be written, or if the sweep ran without `reprieve[plots]` and
        has no page.
        """
        from reprieve.experiments.dataset import PAGE
        from reprieve.experiments.engine import Settings, sweep_into
        from reprieve.outputs import replace_file

        need_plots("a report")
        page = self.directory / PAGE
        if not page.exists():
            if self._plan is None:
                raise UserError(
                    f"{self.directory}: has no page, as reprieve[plots] was not installed; sweep "
                    "again into it, which repeats no run"
                )
            settings = Settings(collect=True, command=_command(self._plan))
            sweep_into(self._plan, self.directory, settings)
        replace_file(Path(path), page.read_text(encoding="utf-8"))

    def query(self, sql: str) -> pa.Table:
        """Query the tables `runs`, `points`, `differences`, `measured` and `buckets` in SQL.

        Raises UserError if the SQL is wrong.
        """
        from reprieve.experiments.query import query

        return query(sql, self.directory)

    def latency(self, what: str = "total", where: str = "true") -> Latency:
        """Merge the latencies of several runs: those for which an SQL condition holds.

        `what`: "read", "write" or "total".
        `where`: a condition on the columns of `runs`.

        The buckets are added up, so percentiles are as exact as those of one run. Raises UserError
        if the SQL is wrong.
        """
        from reprieve.experiments.merged import merge_rows

        if what not in KINDS:
            raise UserError(f'latency("{what}"): must be "read", "write" or "total"')
        return merge_rows(self.query(f"SELECT * FROM runs WHERE {where}"), what)


def _command(plan: Plan) -> str:
    """Return what a page shows as what repeats a sweep."""
    return f"reprieve.sweep({plan.path})"


def sweep(
    sweep: str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    processes: int | None = None,
    scheduler: str | None = None,
    part: tuple[int, int] | None = None,
    retry_failed: bool = False,
    minutes: float | None = None,
) -> Sweep:
    """Run what is missing of a sweep, here or on a cluster, and return its data set.

    `sweep`: path of a sweep file, or a dictionary of the same form, whose paths are relative to
    the working directory and whose `scenario` may itself be a dictionary.
    `out`: the directory of the data set, of its page `report.html` where `reprieve[plots]` is
    installed, and of finished runs, which are never done again; without it they go with the object
    that is returned, whose `report` writes the page.
    `workers`: runs at a time; by default one a core.
    `processes`: runs at a time, each in a process of its own, which suits policies in Python.
    `scheduler`: address of a Dask scheduler whose workers do the runs instead.
    `part`: `(K, N)` does the K-th of N parts into `out` and writes no data set; a last call
    without it does.
    `retry_failed`: do failed runs again.
    `minutes`: start no run after this time.

    A run that fails is a row with the sentence in its column `error`. Raises UserError, before
    anything runs, if the plan is wrong or the first 1,000 points all are; and if every run fails.

    >>> load = {"generator": "mixed", "requests": 500, "queue_depth": 8}
    >>> found = rp.sweep({
    ...     "scenario": {"device": "fast12-slc", "workload": load},
    ...     "design": "grid",
    ...     "seeds": 2,
    ...     "axes": {"workload.read_fraction": [0.5, 0.9]},
    ... })
    >>> len(found.points), len(found.runs)
    (2, 4)
    >>> found.points.column("workload_read_fraction").to_pylist()
    [0.5, 0.9]
    """
    from reprieve.experiments.engine import Settings, sweep_into
    from reprieve.experiments.plan import read_plan

    plan = read_plan(sweep)
    # A data set that is deleted with the object gets no page unless it is requested.
    command = None if out is None else _command(plan)
    if part is not None and out is None:
        raise UserError("part: parts of a sweep share a directory; name it with out")
    directory = tempfile.mkdtemp(prefix="reprieve-sweep-") if out is None else os.fspath(out)
    try:
        with step_bar() as step:
            settings = Settings(
                workers, scheduler, processes, False, part, retry_failed, minutes, step,
                command=command,
            )  # fmt: skip
            sweep_into(plan, Path(directory), settings)
        made = Sweep(directory, _is_part=part is not None)
        made._plan = plan
    except BaseException:
        if out is None:
            shutil.rmtree(directory, ignore_errors=True)
        raise
    if out is None:
        weakref.finalize(made, shutil.rmtree, directory, ignore_errors=True)
    return made
