"""Timelines against the request log and the summary of the same run, and against sums by hand."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.timeline import time_ns, told

from .drive import Reprieve
from .perfetto_trace import Slice, Timeline, read

PROGRAM_THEN_READ = [(0, "program", 0, 0, 0), (61_000, "read", 0, 1, 0)]

# A drive that collects garbage after some hundred writes; each request is one page.
DRIVE: dict[str, Any] = {
    "seed": 11,
    "device": "fast12-mlc",
    "policy": "pes-ipc",
    "geometry.channels": 2,
    "geometry.dies_per_channel": 2,
    "geometry.chips_per_channel": 2,
    "geometry.planes_per_die": 2,
    "geometry.blocks_per_plane": 24,
    "geometry.pages_per_block": 16,
    "ftl.precondition": "steady",
    "workload.generator": "mixed",
    "workload.requests": 1500,
    "workload.read_fraction": 0.6,
    "workload.request_bytes": 4096,
    "workload.addresses": "uniform",
    "workload.arrivals": "poisson",
    "workload.rate_iops": 3000,
}

ONE_PAGE: dict[str, dict[str, Any]] = {
    "ipc": {},
    "ips": {"policy": "pes-ips"},
    "fifo": {"policy": "fifo"},
    "page again over the channel": {"suspension.shadow_buffer": False},
    "cache register": {"timing.cache_register": True},
    "resume at array read": {"suspension.resume_at": "array_read"},
    "commands on the channel": {"timing.t_command_us": 2},
    "private channels": {"geometry.dies_per_channel": 1, "geometry.chips_per_channel": 1},
    "writes suspend erases": {"suspension.host_write_suspends": ["erase"]},
    "independent planes": {"parallelism.independent_plane_reads": True},
    "queue depth": {
        "workload.arrivals": "closed",
        "workload.queue_depth": 24,
        "workload.rate_iops": None,
    },
    "power": {"power.account": "on"},
    "background": {"ftl.gc_background": True, "workload.rate_iops": 900},
}

# These have more pages than one in a command, or requests that wait for something else.
OTHERS: dict[str, dict[str, Any]] = {
    "planes make way alone": {
        "parallelism.independent_plane_reads": True,
        "parallelism.multi_plane": "page",
        "suspension.multi_plane": "plane",
    },
    "multi-plane": {"parallelism.multi_plane": "page", "workload.request_bytes": 16384},
    "cache program": {"parallelism.cache_program": True},
    "write-back": {"buffer.acknowledge": "back"},
    "copyback": {"ftl.copyback": True},
    "demand": {"ftl.mapping": "demand"},
    "nvme": {"host.interface": "nvme"},
    "parts of pages": {"workload.request_bytes": 2048},
    "wordlines": {
        "timing.wordline_pages": 2,
        "ftl.over_provisioning": 0.65,
        "buffer.acknowledge": "back",
    },
    "iterations": {"part": "tlc3d-zambelli", "policy": None, "geometry.pages_per_block": 18},
    "sprinkler": {"scheduling.dispatch": "sprinkler"},
    "power and multi-plane": {"power.account": "on", "parallelism.multi_plane": "page"},
}


def scenario(changes: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the drive with these changes, of which None takes a key away: file, overrides."""
    keys = {key: value for key, value in (DRIVE | changes).items() if value is not None}
    return {key: keys.pop(key) for key in ("seed", "device")}, keys


def draw(
    folder: Path, changes: dict[str, Any], **asked: Any
) -> tuple[rp.Result, Timeline, list[dict[str, Any]]]:
    """Run the drive with these changes; return what came, its timeline and its request log."""
    whole, keys = scenario(changes)
    path = folder / "drawn.perfetto-trace"
    result = rp.run(whole, requests=True, timeline=path, **asked, **keys)
    return result, read(path), result.requests.to_pylist()


def by_track(slices: Iterable[Slice]) -> dict[int, list[Slice]]:
    """Slices of each track."""
    tracks: dict[int, list[Slice]] = {}
    for each in slices:
        tracks.setdefault(each.lane, []).append(each)
    return tracks


def check_nesting(slices: list[Slice]) -> None:
    """No two slices overlap, and what lies inside one stays there."""
    for before, after in pairwise(slices):
        assert before.end is not None
        assert before.end <= after.begin, (before, after)
    for each in slices:
        check_nesting(each.parts)
        if each.parts and each.end is not None:
            begin, end = each.span
            assert begin <= each.parts[0].begin
            assert each.parts[-1].span[1] <= end


def check_tracks(timeline: Timeline) -> None:
    for slices in by_track(timeline.slices).values():
        # Of what is at work when the run ends only the begin is drawn, at the end of its track.
        check_nesting(slices)


def operations(timeline: Timeline) -> list[list[Slice]]:
    """Return the pieces of each program and erase that has ended, one or more."""
    found = []
    for slices in by_track(timeline.on("die ")).values():
        open_flows: dict[int, list[Slice]] = {}
        for each in slices:
            if each.name.endswith("read") or each.end is None:
                continue
            if not each.flows:
                found.append([each])
                continue
            (flow,) = each.flows
            pieces = open_flows.setdefault(flow, [])
            assert each.notes.get("suspensions", 0) == len(pieces)
            pieces.append(each)
        found += [pieces for pieces in open_flows.values() if pieces[-1].is_last]
    return found


def kind(piece: Slice) -> str:
    """Say what the summary counts it as."""
    return "erase" if piece.name == "erase" else "program"


def length(slices: Iterable[Slice], name: str) -> int:
    """Total length of the parts of that name, those within a stop included."""
    parts = [part for each in slices for part in each.parts]
    return sum(part.ns for part in parts if part.name == name) + (
        length(parts, name) if parts else 0
    )


# ---- A run against its own log and summary -----------------------------------------------------


@pytest.mark.parametrize("case", ONE_PAGE)
def test_every_slice_is_that_of_the_log(tmp_path: Path, case: str) -> None:
    changes = ONE_PAGE[case]
    result, timeline, log = draw(tmp_path, changes)
    check_tracks(timeline)
    assert result.summary["timeline"]["slices"] == len(list(timeline.all()))
    assert result.summary["timeline"]["cut_ns"] is None
    check_requests(timeline, log)
    command_ns = 1000 * int(changes.get("timing.t_command_us", 0))
    reads = {each.notes["request"]: each for each in timeline.on("die ") if each.name == "read"}
    programs = {
        pieces[0].notes["request"]: pieces
        for pieces in operations(timeline)
        if pieces[0].name == "program"
    }
    transfers = by_track(timeline.on("channel "))
    outs = {span for slices in transfers.values() for span in spans(slices, "data out")}
    # A read that finds its page in the write buffer needs no die.
    assert set(reads) == {row["id"] for row in log if row["op"] == "read" and row["array_ns"]}
    assert set(programs) == {row["id"] for row in log if row["op"] == "write"}
    for row in log:
        if row["op"] == "read" and row["array_ns"]:
            check_read(row, reads[row["id"]], command_ns, outs, changes)
        elif row["op"] == "write":
            check_program(row, programs[row["id"]], command_ns)
    assert sum(len(pieces) > 1 for pieces in programs.values()) > 20 or case == "fifo"


def spans(slices: Iterable[Slice], name: str) -> list[tuple[int, int]]:
    return [each.span for each in slices if each.name == name]


def check_requests(timeline: Timeline, log: list[dict[str, Any]]) -> None:
    """Check that requests are drawn as logged, and how many are open follows from that."""
    drawn = {each.notes["request"]: each for each in timeline.on("requests")}
    assert len(drawn) == len(timeline.on("requests")) == len(log)
    steps: Counter[int] = Counter()
    for row in log:
        each = drawn[row["id"]]
        assert each.told() == (row["op"], row["arrival_ns"], row["completion_ns"])
        assert (each.notes["lba"], each.notes["bytes"]) == (row["lba"], row["bytes"])
        steps[row["arrival_ns"]] += 1
        steps[row["completion_ns"]] -= 1
    assert timeline.counters["open requests"] == heights(steps)


def heights(steps: Counter[int]) -> list[tuple[int, float]]:
    """Where a number changes by these steps, and what it is from there on."""
    height = 0
    found: list[tuple[int, float]] = []
    for at in sorted(steps):
        if steps[at]:
            height += steps[at]
            found.append((at, height))
    return found


def check_read(
    row: dict[str, Any],
    drawn: Slice,
    command_ns: int,
    outs: set[tuple[int, int]],
    changes: dict[str, Any],
) -> None:
    begin, end = drawn.span
    sense = drawn.parts[0]
    assert begin == row["arrival_ns"] + row["queue_ns"] + row["suspend_wait_ns"]
    assert sense.told() == ("sense", begin + command_ns, begin + command_ns + row["array_ns"])
    out_begin = begin + command_ns + row["array_ns"] + row["bus_wait_ns"]
    out = (out_begin, out_begin + row["bus_ns"] - command_ns)
    assert out in outs
    assert out[1] == row["completion_ns"] - row["link_ns"]
    if "timing.cache_register" not in changes and "suspension.resume_at" not in changes:
        # The page lies in the page buffer until it has left.
        assert drawn.parts[1].told() == ("data out", *out)
        assert end == out[1]


def check_program(row: dict[str, Any], pieces: list[Slice], command_ns: int) -> None:
    assert pieces[-1].span[1] == row["completion_ns"]
    on_channel = length(pieces, "data in")
    assert on_channel == row["bus_ns"]
    assert sum(piece.ns for piece in pieces) - on_channel == row["array_ns"]
    gaps = [after.begin - before.span[1] for before, after in pairwise(pieces)]
    assert sum(gaps) == row["suspended_ns"]
    waited = row["link_ns"] + row["buffer_ns"] + row["queue_ns"] + row["suspend_wait_ns"]
    assert pieces[0].begin == row["arrival_ns"] + waited
    assert command_ns <= on_channel


# Of which a slice can be of several pages.
SEVERAL_PAGES = (
    *("multi-plane", "planes make way alone", "power and multi-plane"),
    *("wordlines", "iterations"),
)


@pytest.mark.parametrize("case", ONE_PAGE | OTHERS)
def test_tracks_add_up_to_the_summary(tmp_path: Path, case: str) -> None:
    result, timeline, log = draw(tmp_path, (ONE_PAGE | OTHERS)[case], timeline_phases=True)
    check_tracks(timeline)
    check_requests(timeline, log)
    flash, device = result.summary["flash"], result.summary["device"]
    pieces = operations(timeline)
    if case not in SEVERAL_PAGES:
        done = Counter(each[0].name for each in pieces)
        reads = Counter(each.name for each in timeline.on("die ") if each.name.endswith("read"))
        assert done["program"] == flash["host_programs"]
        assert done["erase"] == flash["erases"]
        assert done["gc program"] + done["gc copyback"] == flash["gc_programs"]
        assert reads["read"] == flash["host_reads"]
        assert reads["gc read"] + done["gc copyback"] == flash["gc_reads"]
    # Of the pieces of an operation all but the last end in a suspension.
    joined = [each for each in timeline.on("die ") if each.flows]
    for name in ("program", "erase"):
        pieces_of = [each for each in joined if kind(each) == name]
        suspensions = sum(not each.is_last for each in pieces_of)
        assert suspensions == flash["suspensions"][name]
    simulated_ns = device["simulated_ns"]
    carried = sum(min(each.span[1], simulated_ns) - each.begin for each in timeline.on("channel "))
    channels = len(by_track(timeline.on("channel ")))
    busy_share = device["channel_busy_share"]
    assert carried / simulated_ns / channels == pytest.approx(busy_share, abs=1e-9)
    if not any("plane" in each.track for each in timeline.slices):
        busy = sum((each.end or simulated_ns) - each.begin for each in timeline.on("die "))
        dies = sum(name.startswith("die ") for name in timeline.parents)
        assert busy / simulated_ns / dies == pytest.approx(device["die_busy_share"], abs=1e-9)


@pytest.mark.parametrize("case", ONE_PAGE | OTHERS)
def test_a_timeline_changes_no_number(tmp_path: Path, case: str) -> None:
    changes = (ONE_PAGE | OTHERS)[case]
    result, _, log = draw(tmp_path, changes)
    whole, keys = scenario(changes)
    bare = rp.run(whole, requests=True, **keys)
    assert log == bare.requests.to_pylist()
    drawn = {key: value for key, value in result.summary.items() if key != "timeline"}
    assert drawn | {"run": 0} == bare.summary | {"run": 0}


@pytest.mark.parametrize("case", ["ipc", "fifo", "queue depth", "private channels"])
def test_what_waits_is_what_the_log_has_queued(tmp_path: Path, case: str) -> None:
    _, timeline, log = draw(tmp_path, ONE_PAGE[case])
    rows = {row["id"]: row for row in log}
    steps: dict[str, Counter[int]] = {}
    for each in timeline.on("die "):
        row = rows.get(each.notes.get("request", -1))
        if row is None or each.notes.get("suspensions"):
            continue
        waited = row["queue_ns"] + row["suspend_wait_ns"]
        changed = steps.setdefault(each.track, Counter())
        changed[each.begin - waited] += 1
        changed[each.begin] -= 1
    for die, changed in steps.items():
        drawn = timeline.counters[f"waiting for {die}"]
        assert drawn[0][1] == 0 or drawn[0] == heights(changed)[0]
        # A die of which nothing has waited yet says so, or says nothing.
        assert drawn[drawn[0][1] == 0 :] == heights(changed)


def test_power_adds_up_to_the_energy(tmp_path: Path) -> None:
    result, timeline, _ = draw(tmp_path, ONE_PAGE["power"])
    steps = timeline.counters["power of all dies"]
    ends = [at for at, _ in steps[1:]] + [result.summary["device"]["simulated_ns"]]
    # A milliwatt for a nanosecond is a picojoule.
    drawn_pj = sum(mw * (end - at) for (at, mw), end in zip(steps, ends, strict=True))
    energy_uj = result.summary["power"]["energy_uj"]
    # To resume takes this part no energy beside the power of its phases.
    assert drawn_pj / 1e6 == pytest.approx(energy_uj["total"], rel=1e-9)


# ---- By hand: model.md's worked examples on one die ------------------------------------------


def rig(folder: Path, device: str, commands: list[tuple[Any, ...]], policy: str) -> Timeline:
    path = folder / "die.perfetto-trace"
    rp.rig(device, commands, timeline=path, policy=policy)
    return read(path)


def us(*parts: tuple[str, float, float]) -> list[tuple[str, int, int]]:
    return [(name, round(begin * 1000), round(end * 1000)) for name, begin, end in parts]


def told_all(slices: Iterable[Slice]) -> list[Any]:
    return [each.told() for each in slices]


def iterations(begin: float, count: int) -> list[tuple[str, int, int]]:
    """As many pulses of 20 and verifies of 24, one after the other."""
    found = []
    for at in range(count):
        from_us = begin + 44 * at
        found += us(("program pulse", from_us, from_us + 20))
        found += us(("program verify", from_us + 20, from_us + 44))
    return found


def test_ips_by_hand(tmp_path: Path) -> None:
    """Data in 0 to 40, pulse to 60, verify to 84, which ends; read 25 + 40; restore 3."""
    timeline = rig(tmp_path, "fast12-mlc", PROGRAM_THEN_READ, "pes-ips")
    first, between, last = timeline.on("die 0")
    assert told_all([first, between, last]) == us(
        ("program", 0, 84), ("read", 84, 149), ("program", 149, 768)
    )
    assert told_all(first.parts) == us(
        ("data in", 0, 40),
        ("program pulse", 40, 60),
        ("program verify", 60, 61),
        ("to suspension point", 61, 84),
    )
    assert told_all(first.parts[-1].parts) == us(("program verify", 61, 84))
    assert told_all(between.parts) == us(("sense", 84, 109), ("data out", 109, 149))
    assert told_all(last.parts) == us(("restore", 149, 152)) + iterations(152, 14)
    assert first.flows == last.flows != []
    assert (first.notes, last.notes) == (
        {"plane": 0, "block": 0, "page": 0, "request": 0},
        {"plane": 0, "block": 0, "page": 0, "request": 0, "suspensions": 1},
    )
    assert between.notes == {"plane": 0, "block": 1, "page": 0, "request": 1}
    channel = timeline.on("channel 0")
    assert told_all(channel) == us(("data in", 0, 40), ("data out", 109, 149))
    assert [each.notes for each in channel] == [{"die": 0}] * 2
    assert sorted(told_all(timeline.on("requests"))) == us(("program", 0, 768), ("read", 61, 149))
    assert timeline.counters["open requests"] == [(0, 1), (61_000, 2), (149_000, 1), (768_000, 0)]
    assert timeline.counters["waiting for die 0"] == [(0, 0), (61_000, 1), (84_000, 0)]


def test_ipc_by_hand(tmp_path: Path) -> None:
    """The verify is cancelled at 61, a reset of 4; it is done again, whole, after the restore."""
    timeline = rig(tmp_path, "fast12-mlc", PROGRAM_THEN_READ, "pes-ipc")
    first, between, last = timeline.on("die 0")
    assert told_all([first, between, last]) == us(
        ("program", 0, 65), ("read", 65, 130), ("program", 130, 773)
    )
    assert told_all(first.parts) == us(
        ("data in", 0, 40),
        ("program pulse", 40, 60),
        ("program verify", 60, 61),
        ("voltage reset", 61, 65),
    )
    assert told_all(last.parts) == (
        us(("restore", 130, 133), ("program verify", 133, 157)) + iterations(157, 14)
    )


def test_read_within_data_in_by_hand(tmp_path: Path) -> None:
    """Data in is atomic: a read at 10 gets the array at 40, the first pulse follows 3 later."""
    commands = [(0, "program", 0, 0, 0), (10_000, "read", 0, 1, 0)]
    timeline = rig(tmp_path, "fast12-mlc", commands, "pes-ipc")
    first, _, last = timeline.on("die 0")
    assert told_all(first.parts) == us(("data in", 0, 10), ("to suspension point", 10, 40))
    assert told_all(first.parts[-1].parts) == us(("data in", 10, 40))
    assert told_all(last.parts) == us(("restore", 105, 108)) + iterations(108, 15)


def test_erase_by_hand(tmp_path: Path) -> None:
    """SLC: pulse 1500, verify 8; at 500 and 900 a reset of 4, a read of 30, a set-up of 4."""
    commands = [
        (0, "erase", 0, 0, 0),
        (500_000, "read", 0, 1, 0),
        (900_000, "read", 0, 1, 1),
    ]
    timeline = rig(tmp_path, "fast12-slc", commands, "pes-ipc")
    pieces = [each for each in timeline.on("die 0") if each.name == "erase"]
    assert told_all(pieces) == us(("erase", 0, 504), ("erase", 534, 904), ("erase", 934, 1584))
    assert told_all(pieces[0].parts) == us(("erase pulse", 0, 500), ("voltage reset", 500, 504))
    # 500 of the pulse are done; 362 more from 538 to 900.
    assert told_all(pieces[1].parts) == us(
        ("set-up", 534, 538), ("erase pulse", 538, 900), ("voltage reset", 900, 904)
    )
    # 1500 - 500 - 362 = 638 are left.
    assert told_all(pieces[2].parts) == us(
        ("set-up", 934, 938), ("erase pulse", 938, 1576), ("erase verify", 1576, 1584)
    )
    assert len({each.flows[0] for each in pieces}) == 1
    assert [each.notes for each in pieces] == [
        {"plane": 0, "block": 0, "request": 0},
        {"plane": 0, "block": 0, "request": 0, "suspensions": 1},
        {"plane": 0, "block": 0, "request": 0, "suspensions": 2},
    ]


def test_atomic_iteration_by_hand(tmp_path: Path) -> None:
    """A stop that outlasts a phase holds what is left of it and the phase after it."""
    path = tmp_path / "die.perfetto-trace"
    rp.rig(
        "fast12-mlc",
        [(0, "program", 0, 0, 0), (50_000, "read", 0, 1, 0)],
        timeline=path,
        **{
            "scheduling.policy": "rps",
            "suspension.program": "iteration",
            "timing.t_suspend_overhead_us": 7,
        },
    )
    first = read(path).on("die 0")[0]
    assert told_all(first.parts) == us(
        ("data in", 0, 40), ("program pulse", 40, 50), ("to suspension point", 50, 91)
    )
    # The verify ends at 84; the overhead of 7 counts to it, as it does for power.
    assert told_all(first.parts[-1].parts) == us(
        ("program pulse", 50, 60), ("program verify", 60, 91)
    )


# ---- Parts of a run, and its files -----------------------------------------------------------


def test_a_window_shows_what_overlaps_it(tmp_path: Path) -> None:
    _, whole, _ = draw(tmp_path, {})
    from_ns, for_ns = 200_000_000, 50_000_000
    _, part, _ = draw(tmp_path, {}, timeline_from_ns=from_ns, timeline_for_ns=for_ns)
    until_ns = from_ns + for_ns

    def overlaps(each: Slice) -> bool:
        return each.begin < until_ns and (each.end is None or each.end > from_ns)

    def seen(slices: Iterable[Slice]) -> list[Any]:
        return sorted((each.track, *each.told()[:2], sorted(each.notes.items())) for each in slices)

    assert seen(part.slices) == seen(each for each in whole.slices if overlaps(each))
    assert 500 < len(part.slices) < len(whole.slices) / 2
    for name, values in part.counters.items():
        before = [value for at, value in whole.counters[name] if at <= from_ns]
        inside = [step for step in whole.counters[name] if from_ns < step[0] < until_ns]
        assert values == [(from_ns, before[-1]), *inside] if before else inside


def test_command_line(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    done = reprieve("run", small, "--out", "o", "--timeline", "--timeline-for", "0.5s")
    assert (done.returncode, done.stderr) == (0, "")
    timeline = read(tmp_path / "o" / "timeline.perfetto-trace")
    count = len(list(timeline.all()))
    assert f"timeline: {count:,} slices" in done.stdout
    assert "timeline.perfetto-trace" in done.stdout.splitlines()[-1]
    assert {each.track for each in timeline.slices} >= {"die 0", "channel 1", "requests"}
    late = reprieve("run", small, "--out", "o", "--timeline", "--timeline-from", "500s")
    assert "the timeline is empty: the run ended at " in late.stdout
    assert reprieve("run", small, "--out", "o").returncode == 0
    assert not (tmp_path / "o" / "timeline.perfetto-trace").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--timeline", "--timeline-from", "12"),
            '--timeline-from "12" is no time; write a number and its unit, ns, us, ms or s: 1.5ms',
        ),
        (
            ("--timeline", "--timeline-for", "1.5ns"),
            '--timeline-for "1.5ns" is no whole number of nanoseconds',
        ),
        (
            ("--timeline", "--timeline-for", "0ms"),
            '--timeline-for "0ms" shows nothing; must be longer than 0',
        ),
        (
            ("--timeline-for", "2ms"),
            "--timeline-for says what a timeline shows, and no --timeline asks for one",
        ),
    ],
)
def test_wrong_options(
    reprieve: Reprieve, small: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = reprieve("run", small, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{sentence}\n")


@pytest.mark.parametrize(
    ("text", "ns"),
    [("7ns", 7), ("1.5us", 1500), ("2 µs", 2000), ("12ms", 12_000_000), ("0.1s", 100_000_000)],
)
def test_times(text: str, ns: int) -> None:
    assert time_ns("--timeline-from", text) == ns


def test_python_says_where_the_file_belongs(small: Path, tmp_path: Path) -> None:
    with pytest.raises(rp.UserError, match=r"^timeline = True: must be the path of a file"):
        rp.run(small, timeline=True)
    with pytest.raises(rp.UserError, match=r"^timeline_for_ns = 0: must be more than 0, and"):
        rp.run(small, timeline=tmp_path / "t", timeline_for_ns=0)
    with pytest.raises(rp.UserError, match=r"^timeline_from_ns = -1: must be 0 or more, and"):
        rp.run(small, timeline=tmp_path / "t", timeline_from_ns=-1)
    rp.run(small, timeline=True, out=tmp_path / "o")
    own = tmp_path / "own" / "my.perfetto-trace"
    rp.run(small, timeline=own, out=tmp_path / "p")
    assert own.read_bytes() == (tmp_path / "o" / "timeline.perfetto-trace").read_bytes()
    assert not (tmp_path / "p" / "timeline.perfetto-trace").exists()


def test_a_cut_is_told() -> None:
    timeline = {"slices": 5_000_000, "slices_max": 5_000_000, "cut_ns": 1_234_567_890}
    assert told({"timeline": timeline}) == (
        "the timeline is cut at 1,234.568 ms, where it has 5,000,000 slices, as many as the viewer "
        "takes; draw less with --timeline-from and --timeline-for"
    )


def test_an_interrupt_keeps_the_timeline_so_far(program: str, small: Path) -> None:
    endless = ["--set", "workload.requests=1000000000", "--timeline", "--out", "o"]
    process = subprocess.Popen(
        [program, "run", str(small), *endless],
        cwd=small.parent,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    partial = ".timeline.perfetto-trace.*.partial"
    while not any(path.stat().st_size for path in (small.parent / "o").glob(partial)):
        assert process.poll() is None, "the run ended before it began to write"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    kept = {path.name for path in (small.parent / "o").iterdir()}
    assert {"summary.json", "timeline.perfetto-trace"} <= kept
    assert not any("partial" in name for name in kept)


def test_the_rig_draws_what_it_prints(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(
        "arrival_ns,op,plane,block,page\n0,program,0,0,0\n61000,read,0,1,0\n"
    )
    arguments = ("rig", "--device", "fast12-slc", "--commands", "c.csv", "--out", "o.csv")
    done = reprieve(*arguments, "--set", "policy=pes-ips", "--timeline", "t.perfetto-trace")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "wrote o.csv, 2 commands\nwrote t.perfetto-trace\n"
    drawn = read(tmp_path / "t.perfetto-trace")
    # 61 lies in the pulse of 48 to 68; 68 + 30 = 98; then 3 + 8 + 3 × 28 = 95.
    assert told_all(drawn.on("die 0")) == us(
        ("program", 0, 68), ("read", 68, 98), ("program", 98, 193)
    )
