"""A timeline as the tables of Perfetto's trace processor, in SQLite, on which that builds too."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .perfetto_trace import Slice, Timeline, read

_TABLES = """
CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE slice (
  id INTEGER PRIMARY KEY, ts INTEGER, dur INTEGER, track_id INTEGER, name TEXT, depth INTEGER,
  parent_id INTEGER, arg_set_id INTEGER);
CREATE TABLE flow (id INTEGER PRIMARY KEY, slice_out INTEGER, slice_in INTEGER);
CREATE TABLE args (arg_set_id INTEGER, key TEXT, int_value INTEGER);
CREATE INDEX keys ON args (arg_set_id, key);
"""


def tables(trace: Path | Timeline) -> sqlite3.Connection:
    """Return a database with a trace's slices, tracks, flows and arguments, and EXTRACT_ARG."""
    timeline = read(trace) if isinstance(trace, Path) else trace
    found = sqlite3.connect(":memory:")
    found.row_factory = sqlite3.Row
    found.executescript(_TABLES)
    # Tracks are numbered anew, and slices in order of time, as the trace processor does.
    lanes = {each.lane: each.track for each in timeline.slices}
    tracks = {lane: number for number, lane in enumerate(lanes)}
    found.executemany("INSERT INTO track VALUES (?, ?)", enumerate(lanes.values()))
    rows = [row for each in timeline.slices for row in _inside(each, 0, None)]
    rows.sort(key=lambda row: (row[0].begin, row[1]))
    ids = {id(each): number for number, (each, _, _) in enumerate(rows)}
    for each, depth, parent in rows:
        number = ids[id(each)]
        length = -1 if each.end is None else each.end - each.begin
        outer = None if parent is None else ids[id(parent)]
        found.execute(
            "INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, each.begin, length, tracks[each.lane], each.name, depth, outer, number),
        )
        notes = [(number, f"debug.{key}", value) for key, value in each.notes.items()]
        found.executemany("INSERT INTO args VALUES (?, ?, ?)", notes)
    _arrows(found, [each for each, _, _ in rows], ids)

    def argument(arg_set_id: int, key: str) -> int | None:
        asked = "SELECT int_value FROM args WHERE arg_set_id = ? AND key = ?"
        row = found.execute(asked, (arg_set_id, key)).fetchone()
        return None if row is None else int(row[0])

    found.create_function("EXTRACT_ARG", 2, argument)
    return found


def _inside(
    each: Slice, depth: int, parent: Slice | None
) -> Iterator[tuple[Slice, int, Slice | None]]:
    yield each, depth, parent
    for part in each.parts:
        yield from _inside(part, depth + 1, each)


def _arrows(found: sqlite3.Connection, slices: list[Slice], ids: dict[int, int]) -> None:
    """Join each slice of a flow to the one before it; a flow that ends may begin anew."""
    last: dict[int, int] = {}
    for each in slices:
        for flow in each.flows:
            number = ids[id(each)]
            if flow in last:
                pair = (last[flow], number)
                found.execute("INSERT INTO flow (slice_out, slice_in) VALUES (?, ?)", pair)
            last[flow] = number
            if each.is_last:
                del last[flow]
