"""Rows of charts as named datasets outside their specifications, written by column."""

from dataclasses import replace
from typing import Any

from reprieve.plot.charts import Chart
from reprieve.plot.rows import Row
from reprieve.plot.theme import PAGE


class NamedDatasets:
    """A page theme that stores the rows of its charts by name, and these rows."""

    def __init__(self) -> None:
        self.theme = replace(PAGE, store_rows=self._store)
        self._rows: dict[str, list[Row]] = {}

    def _store(self, rows: list[Row]) -> str:
        name = f"rows-{len(self._rows)}"
        self._rows[name] = rows
        return name

    def spec(self, chart: Chart, title: str, caption: str) -> dict[str, Any]:
        """Return the specification of a chart with its rows, title and caption."""
        described = chart.properties(description=f"{title}. {caption}".strip())
        spec: dict[str, Any] = described.to_dict(validate=False)
        named = [part["data"]["name"] for part in (spec, *spec.get("layer", ())) if "data" in part]
        spec["datasets"] = {name: compact(self._rows[name]) for name in named}
        return spec


def compact(rows: list[Row]) -> dict[str, Any]:
    """Write rows by column, strings as indices into a list: a third of the characters."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns: dict[str, Any] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        if values and all(isinstance(value, str) for value in values):
            words = list(dict.fromkeys(values))
            places = {word: index for index, word in enumerate(words)}
            columns[name] = {"words": words, "at": [places[value] for value in values]}
        else:
            columns[name] = values
    return {"columns": columns, "rows": len(rows)}
