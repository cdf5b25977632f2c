"""The report: tails of reads of arrays, by technique and by what the drives suspend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reprieve_studies.arrays.claims import COLUMNS
from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import Dots
from reprieve_studies.seeds import shown

_ARMS = {"none": "no suspension", "suspension": "suspension", "deadline": "deadline"}
_HEADS = (
    "read p50, µs",
    "p95, µs",
    "p99, µs",
    "p99.9, µs",
    "p99.99, µs",
    "write mean, µs",
    "p99, µs",
)


def sections(numbers: Mapping[str, Any]) -> Sequence[Section]:
    """Return the sections of the report."""
    cells = [
        (one["title"], _ARMS[arm], technique, of)
        for one in numbers["loads"].values()
        for arm, techniques in one["arms"].items()
        for technique, of in techniques.items()
    ]
    rows = [
        [title, arm, technique, *(f"{of[column]:,.0f}" for column in COLUMNS), shown(of["gain"])]
        for title, arm, technique, of in cells
    ]
    columns = ["load", "drives", "reads", *_HEADS, "direct without suspension over it, p99.9"]
    table = Table("Means over seeds; ratios of pairs of a seed, 95 % intervals", columns, rows, 3)
    values = {
        (title, f"{arm}, {technique}"): of["read_p99_9"]
        for title, arm, technique, of in cells
        if technique != "around-writes" and arm != _ARMS["deadline"]
    }
    caption = "p99.9 of reads, mean over the seeds; around writes as direct, deadline in the table."
    dots = Dots(values, "p99.9 of reads, µs", log=True)
    figure = Figure("arrays", "Reads of an array beside its writes", caption, dots.draw)
    return [Section("Reads of arrays", figures=[figure], tables=[table])]
