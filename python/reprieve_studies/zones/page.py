"""The report: latencies of reads beside zones' resets and writes, with suspension and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import Dots
from reprieve_studies.seeds import shown

_ARMS = {
    "none": "nothing suspends", "erase": "erases suspend", "program": "programs suspend",
    "both": "both suspend",
}  # fmt: skip


def sections(numbers: Mapping[str, Any]) -> Sequence[Section]:
    """Return the sections of the report."""
    rows = [
        [one["title"], _ARMS[arm],
         *(f"{of[f'read_{name}_us']:,.0f}" for name in ("p50", "p99", "p99_9")),
         _gain(one, arm), _number(of["reset_ms"]), _number(of["write_us"])]
        for one in numbers["loads"].values()
        for arm, of in one["arms"].items()
    ]  # fmt: skip
    columns = ["load", "arm", "read p50, µs", "p99, µs", "p99.9, µs", "none over it, p99.9",
               "reset, ms", "write, µs"]  # fmt: skip
    table = Table(
        "Means over seeds; ratios of pairs of a seed with 95 % intervals", columns, rows, 2
    )
    values = {
        (one["title"], _ARMS[arm]): of["read_p99_9_us"]
        for one in numbers["loads"].values()
        for arm, of in one["arms"].items()
    }
    caption = "p99.9 of reads by load, mean over the seeds, and by what may be suspended."
    dots = Dots(values, "p99.9 of reads, µs", log=True)
    figure = Figure("zones", "Reads beside resets and writes of zones", caption, dots.draw)
    return [Section("Reads beside zones", figures=[figure], tables=[table])]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}"


def _gain(one: Mapping[str, Any], arm: str) -> str:
    return shown(one["gains"][arm]["p99_9"]) if arm in one["gains"] else "–"
