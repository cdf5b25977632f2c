"""An array of drives, by hand and beside single drives; mistakes; threads of Python."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reprieve as rp

ONE_DIE = {
    "device": "fast12-slc",
    "policy": "fifo",
    "geometry": {"channels": 1, "planes_per_die": 1, "blocks_per_plane": 64},
    "host": {"link_bytes_per_s": "none"},
}
PAGE = 2048
READ_NS, PROGRAM_NS = 30_000, 160_000
"""Of a page of the part: 10 and 140 us in the array, 20 us on the bus."""


def raid5(**choices: Any) -> rp.Array:
    return rp.Array(ONE_DIE, drives=5, parity=1, chunk_bytes=PAGE, **choices)


def test_small_writes_full_stripes_and_reads() -> None:
    array = raid5()
    # Out of order: a stripe of four pages, then one page of it, then the stripe again.
    at_ns = np.array([1_000_000, 0, 2_000_000])
    array.submit(at_ns, [True, True, False], [0, 0, 0], [PAGE, 4 * PAGE, 4 * PAGE])
    rows = array.run()
    assert rows.array("completion_ns").tolist() == [
        1_000_000 + READ_NS + 1000 + PROGRAM_NS,
        PROGRAM_NS,
        2_000_000 + READ_NS,
    ]
    assert rows["write"] == [True, True, False]
    assert (rows["drive_reads"], rows["drive_writes"]) == ([2, 0, 4], [2, 5, 0])
    assert array.now_ns == 2_000_000 + READ_NS + 1
    summary = array.summary()
    assert (summary["drive_reads"], summary["drive_writes"]) == (6, 7)
    assert summary["requests"]["read"]["latency_ns"]["p99_99"] == READ_NS
    assert summary["requests"]["write"]["count"] == 2
    # Stripe 0 has parity on drive 4: nothing has read it but the small write.
    assert [one["requests"]["read"]["count"] for one in summary["drives"]] == [2, 1, 1, 1, 1]


def test_reads_without_a_drive_and_beside_a_slow_one() -> None:
    # Four reads of drive 0, and one of page 5, which is on drive 0 in stripe 1.
    load = [0] * 5, [False] * 5, [0] * 4 + [5 * PAGE], [PAGE] * 5
    array = raid5()
    array.submit(*load)
    assert array.run()["completion_ns"] == [READ_NS * turn for turn in (1, 2, 3, 4, 5)]
    array = raid5(read="hedged", hedge_after_us=100)
    array.submit(*load)
    rows = array.run()
    # At 100 us two reads are open. From drives 1 to 4 they come one after the other, at 130 and
    # 160 us, and from drive 0 at 120 and 150.
    assert rows["completion_ns"] == [READ_NS * turn for turn in (1, 2, 3, 4, 5)]
    assert (rows["hedged_reads"], rows["drive_reads"]) == ([0, 0, 0, 1, 1], [1, 1, 1, 5, 5])
    assert array.summary()["hedges_won"] == 0
    array = raid5(failed=[0])
    array.submit(*load)
    rows = array.run()
    assert rows["completion_ns"] == [READ_NS * turn for turn in (1, 2, 3, 4, 5)]
    assert (rows["reconstructed_reads"], rows["drive_reads"]) == ([1] * 5, [4] * 5)


def test_trims_flushes_and_a_closed_load() -> None:
    array = raid5()
    # A stripe is trimmed, so that its data takes no time to read; a write, and a flush behind it.
    array.submit(
        [0, 10_000, 20_000, 30_000],
        ["trim", "read", "write", "flush"],
        [0, 0, 4 * PAGE, 0],
        [4 * PAGE, PAGE, 4 * PAGE, 0],
    )
    rows = array.run()
    assert rows["completion_ns"] == [0, 10_000, 20_000 + PROGRAM_NS, 20_000 + PROGRAM_NS]
    assert rows["op"] == ["trim", "read", "write", "flush"]
    assert rows["write"] == [False, False, True, False]
    assert {op: one["count"] for op, one in array.summary()["requests"].items()} == {
        "read": 1,
        "write": 1,
        "trim": 1,
        "flush": 1,
    }
    load = {"generator": "mixed", "requests": 3, "read_fraction": 1, "queue_depth": 1}
    load["request_bytes"] = PAGE
    closed = rp.Array({**ONE_DIE, "workload": load}, drives=2, controller_ns=500, load=True)
    assert closed.run()["completion_ns"] == [READ_NS, 2 * READ_NS + 500, 3 * READ_NS + 1000]


def test_one_drive_is_a_drive_and_others_draw_apart() -> None:
    steady = {**ONE_DIE, "ftl": {"precondition": "steady", "over_provisioning": 0.3}}
    drive = rp.Drive(steady, seed=3)
    rng = np.random.default_rng(1)
    pages = rng.integers(0, drive.capacity_bytes // PAGE, 2_000)
    at_ns = np.cumsum(rng.integers(0, 400_000, 2_000))
    is_write = rng.random(2_000) < 0.5
    for page, at, write in zip(pages.tolist(), at_ns.tolist(), is_write.tolist(), strict=True):
        drive.submit("write" if write else "read", 4 * page, PAGE, at_ns=at)
    drive.run(1 << 61, 2_000)
    expected = {done.tag: done.completion_ns for done in drive.poll()}
    array = rp.Array(steady, seed=3, drives=1, chunk_bytes=PAGE)
    array.submit(at_ns, is_write, pages * PAGE, np.full(2_000, PAGE))
    assert array.run()["completion_ns"] == [expected[tag] for tag in range(2_000)]
    copies = rp.Array(steady, seed=3, drives=2, mirrors=2, chunk_bytes=PAGE)
    # Both copies have the same operations.
    copies.submit(at_ns, np.full(2_000, True), pages * PAGE, np.full(2_000, PAGE))
    copies.run()
    flash = [one["flash"] for one in copies.summary()["drives"]]
    assert flash[0]["host_programs"] == flash[1]["host_programs"] == 2_000
    assert flash[0]["gc_programs"] != flash[1]["gc_programs"]


def test_another_thread_of_python_runs_meanwhile() -> None:
    array = rp.Array({"device": "fast12-slc"}, drives=4, threads=2)
    count = 200_000
    zeros = np.zeros(count, np.int64)
    array.submit(np.arange(count) * 1000, zeros > 0, zeros, np.full(count, 4096))
    running = threading.Thread(target=array.run)
    running.start()
    steps = 0
    while running.is_alive():
        steps += 1
    running.join()
    assert steps > 100
    assert array.summary()["requests"]["read"]["count"] == count


def test_mistakes_are_sentences() -> None:
    array = raid5()
    good: tuple[Any, ...] = ([5], [False], [0], [PAGE])
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: raid5(mirrors=5), "mirrors = 5: must be 1 with parity"),
        (lambda: raid5(failed=[1, 2]), r"failed = \[1, 2\]: data is lost"),
        (lambda: raid5(failed=[-1]), "failed = -1: must be from 0 to 4"),
        (lambda: raid5(failed=["3"]), "failed = .*3.*: must be a whole number"),
        (lambda: raid5(threads=-1), "threads = -1: must be from 0"),
        (lambda: raid5(mirrors=None), "mirrors = None: must be a whole number"),
        (lambda: raid5(rebuild_stripes="9"), "rebuild_stripes = '9': must be a whole number"),
        (lambda: raid5(hedge_after_us="9"), "hedge_after_us = '9': must be a number"),
        (lambda: raid5(busy_window_us=math.nan), "busy_window_us = NaN: must be from 0.001"),
        (lambda: raid5(parity_log="no"), "parity_log = 'no': must be True or False"),
        (lambda: raid5(read="hedge"), 'read = "hedge": must be one of "direct"'),
        (lambda: raid5(read="hedged"), "needs hedge_after_us"),
        (lambda: raid5(read="hedged", hedge_after_us=-1), "hedge_after_us = -1.0: must be from"),
        (lambda: raid5(hedge_after_us=5), 'only read = "hedged" has it'),
        (lambda: raid5(timing__t_reed_us=3), "^timing.t_reed_us: unknown key; did you mean"),
        (lambda: array.submit([5], ["raed"], [0], [PAGE]), "write: must be a sequence of True"),
        (lambda: array.submit([5], [1], [0], [PAGE]), "write: must be a sequence of True"),
        (lambda: raid5(collecting_drives=5), "collecting_drives = 5: must be at least 1 and below"),
        (lambda: array.submit([5.5], [False], [0], [PAGE]), "arrival_ns: must be a sequence"),
        (lambda: array.submit([5, 6], [False], [0], [PAGE]), "arrival_ns has 2 values, and write"),
        (lambda: array.submit([5], [False], [-512], [PAGE]), "offset = -512: must not be negative"),
        (lambda: array.submit([5], [False], [0], [100]), "request 0: bytes = 100: must be a pos"),
    ]
    for call, sentence in wrong:
        with pytest.raises(rp.UserError, match=sentence):
            call()
    raid5(failed=np.array([3]), rebuild=np.int64(3), threads=np.uint8(1))
    assert len(array.run()) == 0
    array.submit(*good)
    assert array.run()["completion_ns"] == [5 + READ_NS]
