"""A drive in simulated time: `rp.Drive`, by hand, as a run has it, and as SimPy drives it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import simpy

import reprieve as rp

READ_NS = 30_000
"""Of a page of the part: 10 us in the array, 20 us on the bus."""

ONE_DIE = {
    "device": "fast12-slc",
    "policy": "fifo",
    "geometry": {"channels": 1, "planes_per_die": 1, "blocks_per_plane": 64},
    "host": {"link_bytes_per_s": "none"},
}

BUSY = {
    "device": "fast12-slc",
    "policy": "pes-ipc",
    "geometry": {"channels": 2, "blocks_per_plane": 24, "pages_per_block": 8},
    "ftl": {"over_provisioning": 0.35, "precondition": "sequential"},
}

Asked = tuple[int, str, int, int]


def requests(count: int, sectors: int) -> list[Asked]:
    """Return reads and writes at random times from 0 on, some at one instant."""
    rng = random.Random(7)
    at_ns = 0
    asked = []
    for number in range(count):
        at_ns += rng.choice([0, 1, 2_000, 90_000]) if number else 0
        op = rng.choice(["read", "write"])
        length = rng.randint(1, 16)
        asked.append((at_ns, op, rng.randrange(sectors - length), length * 512))
    return asked


def finish(drive: rp.Drive) -> list[rp.Completion]:
    done = []
    while (at_ns := drive.next()) is not None:
        drive.advance(at_ns)
        done += drive.poll()
    return done


def told(done: list[rp.Completion]) -> list[tuple[int, int, int]]:
    return [(one.tag, one.arrival_ns, one.completion_ns) for one in done]


def test_two_reads_of_one_die() -> None:
    drive = rp.Drive(ONE_DIE)
    assert drive.next() is None
    late = drive.submit("read", 0, 2048, at_ns=20)
    early = drive.submit("read", 400, 2048, at_ns=10, tag=77)
    assert (late, early) == (0, 77)
    assert drive.next() == 10
    assert drive.open_requests == 2
    done = finish(drive)
    assert told(done) == [(77, 10, 10 + READ_NS), (0, 20, 10 + 2 * READ_NS)]
    assert [(one.number, one.op, one.latency_ns) for one in done] == [
        (0, "read", READ_NS),
        (1, "read", 2 * READ_NS - 10),
    ]
    assert drive.open_requests == 0
    assert drive.submit("flush") == 78
    assert drive.now_ns == 10 + 2 * READ_NS


def test_a_trace_completes_as_in_its_run(tmp_path: Path) -> None:
    drive = rp.Drive(BUSY)
    asked = requests(2_000, drive.capacity_bytes // 512)
    rows = [f"{at},{op},{lba},{size},0,0,0" for at, op, lba, size in asked]
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n" + "\n".join(rows))
    workload = {"trace": str(trace), "format": "recording"}
    result = rp.run({**BUSY, "workload": workload}, requests=True)
    log = result.requests
    expected = {int(row["id"]): int(row["completion_ns"]) for row in log.to_pylist()}
    done: dict[int, int] = {}
    for at_ns, op, lba, size in asked:
        drive.submit(op, lba, size, at_ns=at_ns)  # type: ignore[arg-type]
    while drive.open_requests:
        drive.run(1 << 62)
        done |= {one.number: one.completion_ns for one in drive.poll()}
    assert done == expected


def test_mistakes_are_sentences_and_leave_no_trace() -> None:
    drive = rp.Drive(ONE_DIE)
    drive.submit("read", 0, 2048, at_ns=100)
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: drive.advance(101), "advance to 101 ns: something happens at 100 ns"),
        (
            lambda: drive.submit("reed", 0, 512),  # type: ignore[arg-type]
            'op = "reed": must be one of "read"',
        ),
        (lambda: drive.submit("read", 0, 100), "must be a positive multiple of 512"),
        (lambda: drive.submit("read", drive.capacity_bytes, 512), "the drive has"),
        (lambda: drive.submit("read", -1, 512), "lba = -1: must be a whole number from 0 to 184"),
        (lambda: drive.submit("read", 0, -512), "bytes = -512: must be .* from 0 to 4294967295"),
        (lambda: drive.submit("read", 0, 512, at_ns=1 << 64), "at_ns = 18446744073709551616: must"),
        (lambda: drive.advance(-1), "to_ns = -1: must be a whole number"),
        (lambda: drive.run(-1), "until_ns = -1: must be a whole number"),
        (lambda: drive.poll(-1), "max = -1: must be a whole number"),
        (lambda: drive.submit("read", 0, 512, fua=True), "only a write"),
        (lambda: rp.Drive({"device": "none-such"}), "none-such"),
        (lambda: rp.Drive(ONE_DIE, timing__t_reed_us=3), "t_read_us"),
        (lambda: rp.Drive(ONE_DIE, from_state="none.state"), "none.state: cannot read the state"),
        (lambda: rp.Drive.restore(b"no drive"), "cut off or changed"),
    ]
    for call, sentence in wrong:
        with pytest.raises(rp.UserError, match=sentence):
            call()
    assert told(finish(drive)) == [(0, 100, 100 + READ_NS)]
    with pytest.raises(rp.UserError, match="must not be earlier"):
        drive.submit("read", 0, 512, at_ns=5)


def test_a_drive_is_saved_in_mid_flight() -> None:
    drive = rp.Drive(BUSY, seed=3)
    asked = requests(600, drive.capacity_bytes // 512)
    for at_ns, op, lba, size in asked:
        drive.submit(op, lba, size, at_ns=at_ns)  # type: ignore[arg-type]
    seen = []
    while drive.now_ns < asked[300][0]:
        drive.advance(drive.next() or 0)
        seen += drive.poll(2)
    again, clone = rp.Drive.restore(drive.save()), drive.clone()
    assert again.open_requests == clone.open_requests == drive.open_requests > 0
    assert again.scenario == drive.scenario
    rest = finish(again)
    assert told(rest) == told(finish(drive)) == told(finish(clone))
    assert sorted(one.number for one in seen + rest) == list(range(600))
    assert again.summary() == drive.summary()


def test_a_drive_starts_in_a_saved_state(tmp_path: Path) -> None:
    state = tmp_path / "drive.state"
    load = {"generator": "mixed", "requests": 1, "read_fraction": 1.0, "queue_depth": 1}
    rp.run({**BUSY, "workload": load}, save_state=state, save_state_at="start")
    ends = []
    for drive in rp.Drive(BUSY), rp.Drive(BUSY, from_state=state):
        for at_ns, op, lba, size in requests(300, drive.capacity_bytes // 512):
            drive.submit(op, lba, size, at_ns=at_ns)  # type: ignore[arg-type]
        ends.append(told(finish(drive)))
    assert ends[0] == ends[1]


def test_a_process_of_simpy_waits_for_the_drive() -> None:
    env = simpy.Environment()
    drive = rp.SimpyDrive(env, rp.Drive(ONE_DIE))
    seen = []

    def reader(name: str, think_ns: int) -> simpy.events.ProcessGenerator:
        for _ in range(2):
            done = yield drive.request("read", 0, 2048)
            seen.append((name, env.now, done.latency_ns))
            yield env.timeout(think_ns)

    env.process(reader("a", 5_000))
    env.process(reader("b", 100_000))
    env.run()
    # b waits behind a; a thinks, and waits behind b; b comes when nobody else does.
    assert seen == [
        ("a", 30_000, 30_000),
        ("b", 60_000, 60_000),
        ("a", 90_000, 55_000),
        ("b", 190_000, 30_000),
    ]


def test_simpy_counts_whole_nanoseconds() -> None:
    env = simpy.Environment(initial_time=0.5)
    drive = rp.SimpyDrive(env, rp.Drive(ONE_DIE))
    with pytest.raises(rp.UserError, match=r"now = 0\.5: the environment's unit"):
        drive.request("read", 0, 2048)


def test_drives_of_one_process_do_not_meet() -> None:
    drives = [rp.Drive(ONE_DIE) for _ in range(3)]
    for number, drive in enumerate(drives):
        for _ in range(number + 1):
            drive.submit("read", 0, 2048)
    ends = [max(one.completion_ns for one in finish(drive)) for drive in drives]
    assert ends == [READ_NS, 2 * READ_NS, 3 * READ_NS]


def test_a_request_takes_at_most_two_microseconds_of_the_processor() -> None:
    """The simulation included; of five times the least, as others use the processor too."""
    drive = rp.Drive({"device": "fast12-slc", "geometry": {"blocks_per_plane": 64}})

    def a_thousand_rounds_s() -> float:
        began_s = time.process_time()
        for _ in range(1000):
            for page in range(16):
                drive.submit("read", 4 * page, 2048)
            drive.run(1 << 62, 16)
            assert len(drive.poll()) == 16
        return time.process_time() - began_s

    assert min(a_thousand_rounds_s() for _ in range(5)) / 16_000 < 2e-6
