"""A drive in simulated time: `rp.Drive`, by hand, as a run has it, and as SimPy drives it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def test_details_are_the_columns_of_the_log(tmp_path: Path) -> None:
    drive = rp.Drive(BUSY)
    drive.keep_details()
    asked = requests(1_000, drive.capacity_bytes // 512)
    rows = [f"{at},{op},{lba},{size},0,0,0" for at, op, lba, size in asked]
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n" + "\n".join(rows))
    workload = {"trace": str(trace), "format": "recording"}
    log = rp.run({**BUSY, "workload": workload}, requests=True).requests
    for at_ns, op, lba, size in asked:
        drive.submit(op, lba, size, at_ns=at_ns)  # type: ignore[arg-type]
    done = sorted(finish(drive), key=lambda one: one.number)
    for one, row in zip(done, sorted(log.to_pylist(), key=lambda row: row["id"]), strict=True):
        assert one.components_ns is not None and one.causes_ns is not None
        told = {**one.components_ns, **one.causes_ns}
        assert told == {name: row[name] for name in told}
        assert (one.die, one.retries) == (row["die"], 0)
        assert sum(one.components_ns.values()) == one.latency_ns
    assert {one.die for one in done} > {0, 1}
    with pytest.raises(rp.UserError, match="has had requests"):
        other = rp.Drive(ONE_DIE)
        other.submit("flush")
        other.keep_details()


def test_of_two_reads_the_urgent_one_is_fetched_first() -> None:
    host = {"interface": "nvme", "queues": 2, "outstanding": 1, "link_bytes_per_s": "none"}
    host |= {"arbitration": "strict-priority", "queue_priorities": ["low", "urgent"]}
    routes: list[list[dict[str, Any]]] = [
        [{"queue": 0}, {"queue": 1}],
        [{"priority": "low"}, {"priority": "urgent"}],
    ]
    for choices in routes:
        drive = rp.Drive({**ONE_DIE, "host": host})
        for choice in choices:
            drive.submit("read", 0, 2048, **choice)
        assert told(finish(drive)) == [(1, 0, READ_NS), (0, 0, 2 * READ_NS)]


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
        (lambda: drive.submit("read", 0, 512, queue=1), "queue = 1: the drive has none"),
        (lambda: drive.submit("read", 0, 512, queue=-1), "queue = -1: must be a whole number"),
        (lambda: drive.submit("write", 0, 512, handle=0), "handle = 0: the drive has none"),
        (lambda: drive.submit("read", 0, 512, priority="low"), 'priority = "low": no queue'),
        (
            lambda: drive.submit("read", 0, 512, priority="lo"),  # type: ignore[arg-type]
            'priority = "lo": must be one of "urgent", "high"',
        ),
        (lambda: drive.submit("read", 0, 512, queue=0, priority="low"), "one of the two"),
        (lambda: drive.measure_from(1 << 63), "must be at most 2.62"),
        (lambda: rp.Drive({"device": "none-such"}), "none-such"),
        (lambda: rp.Drive(ONE_DIE, timing__t_reed_us=3), "^timing.t_reed_us: unknown key"),
        (lambda: rp.Drive(ONE_DIE, from_state="none.state"), "none.state: cannot read the state"),
        (lambda: rp.Drive.restore(b"no drive"), "cut off or changed"),
    ]
    for call, sentence in wrong:
        with pytest.raises(rp.UserError, match=sentence):
            call()
    assert told(finish(drive)) == [(0, 100, 100 + READ_NS)]
    with pytest.raises(rp.UserError, match="must not be earlier"):
        drive.submit("read", 0, 512, at_ns=5)
    with pytest.raises(rp.UserError, match="measure from 5 ns: the drive is at"):
        drive.measure_from(5)


def test_the_summary_counts_from_an_instant_on() -> None:
    drive = rp.Drive(ONE_DIE)
    for at_ns in 0, 10, 100_000:
        drive.submit("read", 0, 2048, at_ns=at_ns)
    drive.run(1 << 62)
    drive.measure_from()
    drive.run(1 << 62, 3)
    summary = drive.summary()
    # The second read had arrived before; its pages count, and it does not.
    assert summary["requests"]["read"]["count"] == 1
    assert summary["requests"]["read"]["latency_ns"]["max"] == READ_NS
    assert summary["flash"]["reads"] == 2
    assert summary["measure"]["requests_excluded"] == 2


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


class Stepped:
    """A drive in an environment that wakes it at each of its instants, behind all else."""

    def __init__(self, env: simpy.Environment, drive: rp.Drive) -> None:
        self.env, self.drive = env, drive
        self.waiting: dict[int, simpy.Event] = {}
        self.due_ns: int | None = None

    def request(self, op: Any, lba: int = 0, bytes: int = 0) -> simpy.Event:
        tag = self.drive.submit(op, lba, bytes, at_ns=int(self.env.now))
        self.waiting[tag] = self.env.event()
        self.plan()
        return self.waiting[tag]

    def plan(self) -> None:
        next_ns = self.drive.next()
        if next_ns is not None and (self.due_ns is None or next_ns < self.due_ns):
            self.due_ns = next_ns
            event = self.env.event()
            event._ok, event._value = True, None
            assert event.callbacks is not None
            event.callbacks.append(self.wake)
            behind: Any = 2
            self.env.schedule(event, behind, next_ns - self.env.now)

    def wake(self, _: simpy.Event) -> None:
        if self.due_ns == self.env.now:
            self.drive.advance(self.due_ns)
            self.due_ns = None
            for done in self.drive.poll():
                self.waiting.pop(done.tag).succeed(done)
            self.plan()


Seen = list[tuple[float, int, int]]


def seen_by_clients(make: Callable[..., Any], models: list[dict[str, Any]]) -> Seen:
    """Return what processes see of drives that think or do not, in runs of several lengths."""
    env, rng = simpy.Environment(), random.Random(5)
    drives = [make(env, rp.Drive(model)) for model in models]
    sectors = drives[0].drive.capacity_bytes // 512
    seen: Seen = []

    def client(rng: random.Random) -> simpy.events.ProcessGenerator:
        for _ in range(120):
            asks = [
                rng.choice(drives).request(
                    rng.choice(["read", "read", "write"]), rng.randrange(sectors - 8), 4096
                )
                for _ in range(rng.choice([1, 1, 3]))
            ]
            for ask in asks:
                done = yield ask
                seen.append((env.now, done.number, done.latency_ns))
            yield env.timeout(rng.choice([0, 1, 777, 10_000, 20_000, 60_000, 160_000]))

    def clock() -> simpy.events.ProcessGenerator:
        for _ in range(4_000):
            yield env.timeout(2_500.5)

    for _ in range(6):
        env.process(client(random.Random(rng.random())))
    env.process(clock())
    for until_ns in (50_000, 1_000_001, 30_000_000):
        env.run(until=until_ns)
        done: Any = env.run(until=drives[0].request("read", 0, 2048))
        seen.append((env.now, done.number, done.latency_ns))
        env.run(until=int(env.now) + 1)
    env.run()
    return seen


def test_simpy_sees_what_it_would_if_it_woke_the_drive_at_each_instant() -> None:
    # Without a link, requests often come when something happens on the drive.
    at_once: dict[str, Any] = {**BUSY, "host": {"link_bytes_per_s": "none"}}
    both: list[list[dict[str, Any]]] = [[at_once], [BUSY, {**BUSY, "seed": 2}]]
    for models in both:
        seen = seen_by_clients(rp.SimpyDrive, models)
        assert len(seen) > 800
        assert seen == seen_by_clients(Stepped, models)


def test_a_trace_in_simpy_completes_as_in_its_run(tmp_path: Path) -> None:
    # Without a link, arrivals often are instants of the drive.
    model = {**BUSY, "host": {"link_bytes_per_s": "none"}}
    env = simpy.Environment()
    drive = rp.SimpyDrive(env, rp.Drive(model))
    asked = requests(1_000, drive.drive.capacity_bytes // 512)
    asked = [(at // 10_000 * 10_000, op, lba, size) for at, op, lba, size in asked]
    rows = [f"{at},{op},{lba},{size},0,0,0" for at, op, lba, size in asked]
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns\n" + "\n".join(rows))
    workload = {"trace": str(trace), "format": "recording"}
    log = rp.run({**model, "workload": workload}, requests=True).requests
    expected = {int(row["id"]): int(row["completion_ns"]) for row in log.to_pylist()}
    ends: dict[int, float] = {}

    def source() -> simpy.events.ProcessGenerator:
        for at_ns, op, lba, size in asked:
            # The second timeout is younger than the drive's plan for the instant.
            yield env.timeout(max(at_ns - 5_000 - env.now, 0))
            yield env.timeout(at_ns - env.now)
            drive.request(op, lba, size).callbacks.append(  # type: ignore[arg-type]
                lambda event: ends.update({event.value.number: env.now})
            )

    env.process(source())
    env.run()
    assert ends == expected


def test_simpy_refuses_a_request_behind_what_the_drive_has_done() -> None:
    env = simpy.Environment()
    drive = rp.SimpyDrive(env, rp.Drive(ONE_DIE))
    drive.request("read", 0, 2048)
    env.timeout(1_000_000)
    env.step()
    with pytest.raises(rp.UserError, match="now = 0: the drive is simulated up to"):
        drive.request("read", 0, 2048)


def seconds_by_turns(one: Callable[[], None], other: Callable[[], None]) -> list[float]:
    """Return the least CPU time of each of two, as others use the processor too."""
    times_s: list[list[float]] = [[], []]
    for _ in range(7):
        for run, taken_s in zip((one, other), times_s, strict=True):
            began_s = time.process_time()
            run()
            taken_s.append(time.process_time() - began_s)
    return [min(taken_s) for taken_s in times_s]


def processes(drive: rp.Drive | None) -> None:
    """Run 16 processes of 250 reads each, or of as many timeouts."""
    env = simpy.Environment()
    served = rp.SimpyDrive(env, drive) if drive else None

    def reader(first: int) -> simpy.events.ProcessGenerator:
        for number in range(first, first + 250):
            yield served.request("read", 4 * number, 2048) if served else env.timeout(1)

    for process in range(16):
        env.process(reader(process * 131))
    env.run()


SMALL_SLC = {"device": "fast12-slc", "geometry": {"blocks_per_plane": 64}}


def test_a_request_takes_a_process_at_most_as_long_as_nine_timeouts() -> None:
    """Of about 0.9 us each: SimPy's own events and the simulation are included."""
    timeouts_s, reads_s = seconds_by_turns(
        lambda: processes(None), lambda: processes(rp.Drive(SMALL_SLC))
    )
    assert reads_s < 9 * timeouts_s


def test_drives_of_one_process_do_not_meet() -> None:
    drives = [rp.Drive(ONE_DIE) for _ in range(3)]
    for number, drive in enumerate(drives):
        for _ in range(number + 1):
            drive.submit("read", 0, 2048)
    ends = [max(one.completion_ns for one in finish(drive)) for drive in drives]
    assert ends == [READ_NS, 2 * READ_NS, 3 * READ_NS]


def test_a_request_takes_at_most_as_long_as_a_timeout_of_simpy() -> None:
    """Handing over, simulation and completion, of 16 requests at a time."""
    drive = rp.Drive(SMALL_SLC)

    def reads() -> None:
        for _ in range(250):
            for page in range(16):
                drive.submit("read", 4 * page, 2048)
            drive.run(1 << 62, 16)
            assert len(drive.poll()) == 16

    timeouts_s, reads_s = seconds_by_turns(lambda: processes(None), reads)
    assert reads_s < timeouts_s
