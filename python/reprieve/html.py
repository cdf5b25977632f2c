"""Tables of HTML that notebooks show in place of an object's `repr`."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from reprieve.confidence import FIGURES, TOO_FEW, bounds_us, cell_us, is_known, known


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


def _told(group: Mapping[str, Any], figure: str) -> str:
    """Return a figure with its 95 % interval, or why it has none."""
    cell = cell_us(group, figure)
    if figure not in FIGURES or not is_known(group["count"], figure):
        return cell
    ends = bounds_us(group, figure)
    return f"{cell} (interval: {TOO_FEW})" if ends is None else f"{cell} ({' to '.join(ends)})"


def latencies(title: str, summaries: Mapping[str, Mapping[str, Any]], what: str) -> str:
    """Return what requests took, in µs, with 95 % intervals; `what` heads the column of names."""
    rows = []
    shown = known(group["count"] for group in summaries.values())
    for name, group in summaries.items():
        figures = (_told(group, key) for key in (*shown, "max"))
        rows.append([name, f"{group['count']:,}", *figures])
    columns = [what, "requests", *(f"{FIGURES[key]}, µs" for key in shown), "max, µs"]
    return table(title, columns, rows)
