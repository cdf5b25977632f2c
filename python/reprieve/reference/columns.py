"""The page of columns and fields: the contents of every file that Reprieve writes."""

import re
from collections.abc import Sequence

from reprieve.reference.files import SUMMARY, Column, columns_of
from reprieve.reference.markdown import plain, table

_HEAD = """# Columns and fields

The contents of every file that Reprieve writes. The guide shows how to [read the
results](../guide/results.md). Times are nanoseconds, shares lie between 0 and 1, rates are per
second of simulated time. A word in capitals stands for any name. Fields of a feature appear only
if the feature is on.
"""

_CUTS = [
    *columns_of("power_loss"),
    *(column._replace(name=f"recovery_{column.name}") for column in columns_of("recovery")),
]
_TABLES: list[tuple[str, str, str | Sequence[Column]]] = [
    ("`requests.parquet`", "One row a request, in order of completion; `--requests`.", "requests"),
    ("`power.csv`", "One row a bin, with `power.series_us`.", "power"),
    ("`compare.json`", "Written by `reprieve compare` for all runs.", "compare"),
    ("CSV of the rig", "One row a command; the first five columns are the commands.", "rig"),
    ("CSV of the rig's power", "One row a step; `reprieve rig --power`.", "rig_power"),
    ("`power_loss.csv`", "One row for each instant and policy; `reprieve power-loss`.", _CUTS),
    ("`runs.parquet`", "One row a program; `reprieve characterize`.", "bench"),
    (
        "`verdicts.json`",
        "A list of claims; `reprieve reproduce`, `validate` and `characterize`.",
        "verdicts",
    ),
]


def page() -> str:
    """Return the page."""
    parts = [_HEAD, "## `summary.json`\n", "All numbers of a run, in sections.\n"]
    for section, (note, columns) in SUMMARY.items():
        prefix = _prefix(columns)
        if section != "schema":
            parts.append(f"### {section}\n")
        parts += [f"{note}\n"] if note else []
        heads = f"field of `{prefix[:-1]}`" if prefix else "field"
        parts.append(_table(heads, [c._replace(name=c.name[len(prefix) :]) for c in columns]))
    for title, note, table_columns in _TABLES:
        own = columns_of(table_columns) if isinstance(table_columns, str) else table_columns
        parts += [f"## {title}\n", f"{note}\n", _table("column", own)]
    return "\n".join(parts)


def _prefix(columns: Sequence[Column]) -> str:
    """Return what all names begin with, up to a dot."""
    first = columns[0].name
    starts = [first[: dot.end()] for dot in re.finditer(r"\.", first)]
    fitting = [start for start in starts if all(c.name.startswith(start) for c in columns)]
    return fitting[-1] if fitting else ""


def _table(what: str, columns: Sequence[Column]) -> str:
    rows = [(_names(column), column.unit, plain(column.doc)) for column in columns]
    return table([what, "unit", "meaning"], rows)


def _names(column: Column) -> str:
    """Write the names out; of those that differ at their end alone, the end."""
    first, *others = column.names()
    parent = first.rpartition(".")[0]
    siblings = parent and all(name.rpartition(".")[0] == parent for name in others)
    shown = [name.removeprefix(parent) if siblings else name for name in others]
    return ", ".join(f"`{name}`" for name in (first, *shown))
