"""Columns and fields of the files that Reprieve writes, as `fields.toml` has them.

`columns.py` makes a page of these tables, and tests hold them against what is written.
"""

import itertools
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

_TEXT = tomllib.loads(files(__package__).joinpath("fields.toml").read_text("utf-8"))


class Column(NamedTuple):
    """A column of a table, or a field of a JSON file."""

    name: str
    unit: str
    """Empty where a number has none, or for text."""
    doc: str

    def names(self) -> Iterator[str]:
        """Write out the choices in braces."""
        pieces = [piece.split(",") for piece in re.split(r"[{}]", self.name)]
        yield from map("".join, itertools.product(*pieces))


def _rows(text: str) -> list[Column]:
    under, found = "", list[Column]()
    for line in text.splitlines():
        if line.startswith(" "):
            found[-1] = found[-1]._replace(doc=f"{found[-1].doc} {line.strip()}".strip())
        elif line.endswith(":"):
            under = f"{line[:-1]}.".lstrip(".")
        elif line.startswith("*"):
            own = _components() if line == "*components" else columns_of(line[1:])
            found += [column._replace(name=f"{under}{column.name}") for column in own]
        else:
            name, unit, doc = (cell.strip() for cell in line.split("|"))
            found.append(Column(f"{under}{name}", unit, doc))
    return found


def _components() -> list[Column]:
    """Return the mean times of requests by what they were spent on."""
    own = {"arrival_ns", "completion_ns", *(column.name for column in columns_of("blame"))}
    times = [each for each in columns_of("requests") if each.name.endswith("_ns")]
    return [
        Column(f"components_ns.{each.name.removesuffix('_ns')}", "ns", f"mean time {each.doc}")
        for each in times
        if each.name not in own
    ]


def columns_of(name: str) -> list[Column]:
    """Return a table by its name in `fields.toml`."""
    return _rows(_TEXT["tables"][name])


SUMMARY = {
    section["title"]: (" ".join(section.get("note", "").split()), _rows(section["rows"]))
    for section in _TEXT["summary"]
}
"""Sections of `summary.json` in its order: what holds for all of one, and its fields."""
