"""The questions of examples/timeline.sql, against the run's own log, summary and by hand."""

from __future__ import annotations

import re
import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .perfetto_trace import Slice, Timeline
from .test_timeline import ONE_PAGE, PROGRAM_THEN_READ, draw, operations, rig
from .timeline_tables import tables

_ROOT = Path(__file__).parents[2]
MOST_SUSPENDED, BEHIND_COLLECTION, SHARES = re.findall(
    r"^(?:WITH|SELECT)\b.*?;$", (_ROOT / "examples/timeline.sql").read_text(), re.S | re.M
)

ERASE_THEN_READS = [
    (0, "erase", 0, 0, 0),
    (500_000, "read", 0, 1, 0),
    (900_000, "read", 0, 1, 1),
]


def test_the_guide_has_the_first_question() -> None:
    (shown,) = re.findall(
        r"^```sql\n(.*?)^```$", (_ROOT / "docs/guide/report.md").read_text(), re.S | re.M
    )
    assert shown.rstrip() == MOST_SUSPENDED.removesuffix(";")


def ask(database: sqlite3.Connection, sql: str) -> list[dict[str, Any]]:
    return [dict(row) for row in database.execute(sql)]


def test_an_erase_that_is_suspended_twice(tmp_path: Path) -> None:
    """SLC: it runs 0 to 504, 534 to 904 and 934 to 1584; two reads take 30 each."""
    database = tables(rig(tmp_path, "fast12-slc", ERASE_THEN_READS, "pes-ipc"))
    most = {"die": "die 0", "operation": "erase", "plane": 0, "block": 0, "page": None}
    assert ask(database, MOST_SUSPENDED) == [most | {"suspensions": 2, "last_resumed_ns": 934_000}]
    shares = {"reading": 60 / 1584, "programming": 0, "suspended": 60 / 1584}
    shares["erasing"] = (504 + 370 + 650) / 1584
    (found,) = ask(database, SHARES)
    assert found.pop("die") == "die 0"
    assert found == pytest.approx(shares)


def test_a_program_that_is_suspended_once(tmp_path: Path) -> None:
    """MLC: it runs 0 to 84 and 149 to 768; the read takes 84 to 149."""
    database = tables(rig(tmp_path, "fast12-mlc", PROGRAM_THEN_READ, "pes-ips"))
    (found,) = ask(database, MOST_SUSPENDED)
    assert (found["operation"], found["suspensions"]) == ("program", 1)
    assert found["last_resumed_ns"] == 149_000
    (shares,) = ask(database, SHARES)
    assert shares["programming"] == pytest.approx((84 + 619) / 768)
    assert shares["reading"] == shares["suspended"] == pytest.approx(65 / 768)
    assert shares["erasing"] == 0


def a_slice(track: str, name: str, begin: int, end: int, **notes: int) -> Slice:
    return Slice(track, hash(track), name, begin, end, notes, [], is_last=False)


def test_waits_behind_collection_by_hand() -> None:
    """Reads arrive at 40 and 90 and begin at 120 and 230: they wait 60 + 10, and 50 for the next.

    Neither a program of the host, nor another die, nor what a read does not overlap counts.
    """
    slices = [
        a_slice("requests", "read", 40, 130, request=1),
        a_slice("requests", "read", 90, 240, request=2),
        a_slice("requests", "write", 0, 170, request=3),
        a_slice("requests", "read", 90, 240, request=4),
        a_slice("die 3", "gc program", 0, 100),
        a_slice("die 3", "read", 120, 130, request=1),
        a_slice("die 3", "program", 130, 170, request=3),
        a_slice("die 3", "gc program", 170, 220),
        a_slice("die 3", "read", 230, 240, request=2),
        a_slice("die 3", "gc program", 250, 300),
        a_slice("die 2", "gc program", 90, 230),
        a_slice("die 2", "read", 230, 240, request=4),
    ]
    (found,) = ask(tables(Timeline(slices, {}, {})), BEHIND_COLLECTION)
    assert found == {"reads": 2, "waited_ns": 60 + 10 + 50}


def test_waits_behind_collection_are_those_of_the_log(tmp_path: Path) -> None:
    """Without suspension a read waits for the whole of what its die does; each has its channel."""
    own = {"geometry.channels": 4, "geometry.dies_per_channel": 1, "geometry.chips_per_channel": 1}
    _, timeline, log = draw(tmp_path, ONE_PAGE["fifo"] | own | {"workload.rate_iops": 1500})
    (found,) = ask(tables(timeline), BEHIND_COLLECTION)
    behind = [row["by_gc_program_ns"] for row in log if row["op"] == "read" and row["die"] == 3]
    behind = [ns for ns in behind if ns]
    assert len(behind) > 20
    assert found == {"reads": len(behind), "waited_ns": sum(behind)}


@pytest.mark.parametrize("case", ["ipc", "writes suspend erases", "queue depth"])
def test_answers_are_those_of_the_summary(tmp_path: Path, case: str) -> None:
    result, timeline, log = draw(tmp_path, ONE_PAGE[case])
    database = tables(timeline)
    (most,) = ask(database, MOST_SUSPENDED)
    assert most["suspensions"] == max(len(pieces) - 1 for pieces in operations(timeline)) > 1
    shares = ask(database, SHARES)
    assert [row["die"] for row in shares] == [f"die {number}" for number in range(4)]
    (whole_ns,) = database.execute("SELECT MAX(ts + dur) - MIN(ts) FROM slice").fetchone()
    device = result.summary["device"]
    busy_ns = sum(row["reading"] + row["programming"] + row["erasing"] for row in shares) * whole_ns
    # What is at work when the run ends has no length yet.
    open_at_ns = [each.begin for each in timeline.on("die ") if each.end is None]
    busy_ns += sum(device["simulated_ns"] - at_ns for at_ns in open_at_ns)
    assert busy_ns / 4 / device["simulated_ns"] == pytest.approx(device["die_busy_share"], rel=1e-9)
    # Of the host's programs the log has how long they were suspended; the others are added up.
    paused_ns = sum(row["suspended_ns"] for row in log if row["op"] == "write")
    others = [pieces for pieces in operations(timeline) if pieces[0].name != "program"]
    paused_ns += sum(b.begin - a.span[1] for pieces in others for a, b in pairwise(pieces))
    assert sum(row["suspended"] for row in shares) * whole_ns == pytest.approx(paused_ns, rel=1e-6)
