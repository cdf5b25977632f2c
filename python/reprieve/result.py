"""Results of a run: summary, latency distributions, requests, plots."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reprieve import frames
from reprieve._native import ParquetReader, Table, UserError, empty_log
from reprieve.extras import need_plots
from reprieve.latency import KINDS, Latency
from reprieve.outputs import replace_file

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from reprieve.plot import Plots
    from reprieve.series import Series

_NO_LOG = "this run kept no log of its requests; run it with requests=True"

Which = Literal["requests", "latency", "summary", "power"]
"""Tables of a run."""


class Result:
    """Results of one run.

    To programs that take Arrow it is the table of its requests.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> result = rp.run({"device": "fast12-mlc", "workload": load}, requests=True)
    >>> latency_ns = result.column("completion_ns") - result.column("arrival_ns")
    >>> len(latency_ns), int(latency_ns.max()) == result.latency().max
    (2000, True)
    >>> result.summary["requests"]["total"]["count"]
    2000
    """

    def __init__(
        self,
        scenario: str,
        summary: dict[str, Any],
        buckets: Mapping[str, tuple[bytes, bytes]],
        requests: Table | Path | None,
        power: dict[str, NDArray[np.int64]] | None = None,
        series: Series | None = None,
        batches: dict[str, Any] | None = None,
        machine: dict[str, Any] | None = None,
    ) -> None:
        self.scenario = scenario
        """The resolved scenario as TOML; running it again gives identical results, but for policies
        of your own, which a comment at its head names."""
        self.summary = summary
        """`summary.json` as a dictionary; times in ns, rates per s, shares in [0, 1]."""
        self.machine = machine or {}
        """`run.json` as a dictionary: times in s, memory in bytes, which differ from run to run."""
        self.power = power
        """With `power.series_us`, energy over time: arrays `start_ns`, `length_ns`, `core_pj` and
        `io_pj`, an entry a bin."""
        self.series = series
        """Course of the run over time; None unless requested, as by a report."""
        self.batches = batches or {}
        """The complete batches of the run by column, for comparisons of pairs of runs."""
        self._buckets = buckets
        self._requests = requests

    def __repr__(self) -> str:
        total = self.summary["requests"]["total"]
        return (
            f"<reprieve.Result: {self.device}, {total['count']} requests, "
            f"mean {total['latency_ns']['mean'] / 1000:.1f} µs>"
        )

    def _repr_html_(self) -> str:
        from reprieve.html import latencies

        return latencies(self.device, self.summary["requests"], "")

    @property
    def device(self) -> str:
        """Name of the device: of a preset, of a file, or "custom"."""
        return str(tomllib.loads(self.scenario)["name"])

    def latency(self, what: str = "total") -> Latency:
        """Latencies of "read", "write" or "total" requests; raises UserError for another word."""
        if what not in self._buckets:
            raise UserError(f'latency("{what}"): must be "read", "write" or "total"')
        import numpy as np

        exact = self.summary["requests"][what]["latency_ns"]
        upper_ns, count = (np.frombuffer(part, np.int64) for part in self._buckets[what])
        return Latency(upper_ns, count, exact["mean"], exact["min"], exact["max"])

    def blame(self, what: str = "read", part: str = "all") -> dict[str, int]:
        """Return the time in ns that requests waited, by the cause of the wait.

        `what`: "read" or "write".
        `part`: "all", or the slowest per cent: "slowest_1", "slowest_0_1" or "slowest_0_01".

        Raises UserError for another word, and if the run kept no log of its requests.
        """
        told = self.summary.get("blame")
        if told is None:
            raise UserError(_NO_LOG)
        if what not in told:
            raise UserError(f'blame("{what}"): must be "read" or "write"')
        if part not in told[what]:
            raise UserError(f'blame(part="{part}"): must be one of {", ".join(told[what])}')
        found = told[what][part].items()
        return {name: int(ns) for name, ns in found if name.startswith("by_")}

    @property
    def requests(self) -> pa.Table:
        """One row a request, in order of completion.

        Raises UserError if the run kept no log, or if pyarrow is not installed; `column` needs only
        NumPy.
        """
        return frames.to_arrow(self, "requests")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._log(None).__arrow_c_stream__(requested_schema)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of `requests` as an array; raises UserError if the run kept no log.

        The unit is in the name, the shape is (requests,). `op` has strings. `die` has floats
        if no die served some of the requests, with NaN for those.
        """
        from reprieve.request_log import words

        if name not in (names := empty_log().names):
            raise UserError(f'column("{name}"): must be one of {", ".join(names)}')
        log = self._log([name])
        table = log if isinstance(log, Table) else log.read()
        return words(table) if name == "op" else table.array(name)

    def _log(self, names: Sequence[str] | None) -> Table | ParquetReader:
        """Return the rows with these columns at least; raises UserError if the run kept no log."""
        if self._requests is None:
            raise UserError(_NO_LOG)
        if isinstance(self._requests, Path):
            return ParquetReader(self._requests, names)
        return self._requests

    def to_arrow(self, table: Which = "requests") -> pa.Table:
        """Return a table of this run.

        `"requests"`: one row a request, in order of completion; the run must have kept them.
        `"latency"`: the histograms, columns `kind`, `upper_ns` and `count`.
        `"summary"`: one row, a column for each number of the summary, `requests.read.count`.
        `"power"`: one row a bin of power; with `power.series_us`.

        Raises UserError if pyarrow is not installed, or if the run did not keep the table.
        """
        pa = frames.pyarrow("to_arrow()")
        if table == "requests":
            return frames.to_arrow(self)
        if table == "latency":
            parts = [(kind, self.latency(kind).to_arrow()) for kind in KINDS]
            return pa.concat_tables(
                part.add_column(0, "kind", pa.array([kind] * part.num_rows, pa.string()))
                for kind, part in parts
            )
        if table == "summary":
            return pa.Table.from_pylist([frames.flat(self.summary)])
        if table != "power":
            raise UserError(
                f'table = {table!r}: must be "requests", "latency", "summary" or "power"'
            )
        if self.power is None:
            raise UserError("this run kept no power over time; give power.series_us")
        return pa.table(self.power)

    def to_pandas(self, table: Which = "requests") -> pd.DataFrame:
        """Return the same as a pandas frame; raises UserError if pandas is not installed."""
        return frames.to_pandas(lambda: self.to_arrow(table))

    def to_polars(self, table: Which = "requests") -> pl.DataFrame:
        """Return the same as a polars frame; raises UserError if polars is not installed."""
        return frames.to_polars(lambda: self.to_arrow(table))

    @property
    def plot(self) -> Plots:
        """Charts of this run; raises UserError without the packages of `reprieve[plots]`."""
        need_plots("a chart")
        from reprieve.plot import Plots

        return Plots({"this run": self})

    def report(self, path: str | Path) -> None:
        """Write the report, one HTML file that needs no network.

        It shows the run over time only if the run kept `series`. Raises UserError if the file
        cannot be written.
        """
        need_plots("a report")
        from reprieve.report.page import render

        replace_file(Path(path), render({self.device: self}, "reprieve run scenario.toml --report"))
