"""Tables of HTML that notebooks show in place of an object's `repr`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from reprieve.confidence import FIGURES, cell_us, known


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column names its rows; every text is escaped."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    return (
        f"<table><caption>{escape(title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells(row: Sequence[str]) -> str:
    first, *others = row
    cells = (f'<td style="text-align: right">{escape(cell)}</td>' for cell in others)
    return f'<th style="text-align: left">{escape(first)}</th>{"".join(cells)}'


def latencies(title: str, summaries: Mapping[str, Mapping[str, Any]], what: str) -> str:
    """Return what requests of each summary took, in µs; `what` heads the column of names."""
    rows = []
    shown = known(group["count"] for group in summaries.values())
    for name, group in summaries.items():
        figures = (cell_us(group, key) for key in (*shown, "max"))
        rows.append([name, f"{group['count']:,}", *figures])
    columns = [what, "requests", *(f"{FIGURES[key]}, µs" for key in shown), "max, µs"]
    return table(title, columns, rows)
