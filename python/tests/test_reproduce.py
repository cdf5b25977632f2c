"""Reproductions: what is measured, what is claimed, and the command as a user runs it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import reprieve as rp
from reprieve.cli import main
from reprieve.experiments.store import Record
from reprieve_studies.compress import compress
from reprieve_studies.fast12 import claims
from reprieve_studies.fast12.claims import (
    METRICS,
    SENTENCES,
    measured,
    suspended_increase,
    suspended_share,
    works,
)
from reprieve_studies.fast12.runs import (
    BASE,
    DATA,
    DEVICES,
    MAIN,
    Place,
    Plan,
    Results,
    Run,
    counterparts,
)
from reprieve_studies.loads import Recording
from reprieve_studies.runs import Job, Setup, bench
from reprieve_studies.seeds import Estimate, estimate

from .drive import Reprieve
from .vega import check_charts

NAMED = {claim.name: claim for claim in SENTENCES}
ROOT = Path(__file__).resolve().parents[2]


def unwatched(_share: float | None, _requests: int) -> None:
    """Nobody watches."""


def fake(read_us: float, write_us: float, programs: int = 0, erases: int = 0) -> Record:
    """Return the log kept of a run, with counts of suspended programs and erases."""
    requests = {
        op: {"count": 1, "latency_ns": {"mean": 1000 * us}}
        for op, us in (("read", read_us), ("write", write_us))
    }
    operations = suspended(programs, erases)
    flash = {"programs": 80, "erases": 20, "suspended_operations": operations}
    return Record({"requests": requests, "flash": flash}, {}, {}, {})


def suspended(programs: int, erases: int) -> dict[str, dict[str, float]]:
    """Programs of 160 µs that took 193, and erases of 1508 that took 1658.8."""
    return {
        "program": {
            "count": programs,
            "undisturbed_ns_mean": 160_000.0,
            "actual_ns_mean": 193_000.0,
            "suspended_ns_mean": 30_000.0,
            "increase_mean": 33 / 160,
        },
        "erase": {
            "count": erases,
            "undisturbed_ns_mean": 1_508_000.0,
            "actual_ns_mean": 1_658_800.0,
            "suspended_ns_mean": 30_000.0,
            "increase_mean": 0.1,
        },
    }


LATENCIES_US = {
    # read, write under two loads
    "FIFO": ((400, 1000), (1000, 2000)),
    "RPS": ((200, 1100), (250, 2000)),
    "PE0": ((100, 50), (100, 50)),
    "PES_IPC": ((101, 1200), (100, 2200)),
    "PES_IPS": ((111.1, 1150), (104, 2400)),
}


@pytest.fixture
def results() -> Results:
    """Two loads whose measures can be worked out by hand."""
    loads = counterparts({}, MAIN)[:2]
    found = {
        Run(Place(MAIN, "SLC", load.trace, 1), BASE, policy): fake(*latencies[index])
        for policy, latencies in LATENCIES_US.items()
        for index, load in enumerate(loads)
    }
    of_f1 = Run(Place(MAIN, "SLC", "F1", 1), BASE, "PES_IPC")
    found[of_f1] = fake(*LATENCIES_US["PES_IPC"][0], 6, 2)
    return Results(Plan({MAIN: loads}, [1], 1000), {}, found, device="SLC", seed=1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 200/400 and 250/1000: the mean of the ratios is 0.375, not that of the latencies.
        ("rps_read_reduction", 62.5),
        ("pe0_read_reduction", 100 * (1 - (0.25 + 0.1) / 2)),
        ("contention_left", (2.0 + 2.5) / 2),
        ("ipc_reduction_of_rps", 100 * (1 - (101 / 200 + 0.4) / 2)),
        ("ipc_reduction_of_fifo", 100 * (1 - (101 / 400 + 0.1) / 2)),
        ("ipc_above_pe0", 1.0),
        ("ips_above_ipc", (10 + 4) / 2),
        ("ips_above_ipc_f1", 10.0),
        ("rps_write_overhead", 5.0),
        ("rps_write_overhead_most", 10.0),
        ("ips_write_overhead", 17.5),
        ("ips_write_overhead_most", 20.0),
        ("ipc_write_overhead", 15.0),
        ("ipc_write_overhead_most", 20.0),
        # Six programs by 33/160 and two erases by a tenth; nothing under F2.
        ("suspended_increase", 100 * (6 * 33 / 160 + 2 * 0.1) / 8 / 2),
        # Eight of a hundred, and none.
        ("suspended_share", 4.0),
    ],
)
def test_measures_by_hand(results: Results, name: str, expected: float) -> None:
    found = measured(results, NAMED[name])
    assert found is not None
    assert found.mean == pytest.approx(expected)


def test_an_interval_is_that_of_student() -> None:
    # Mean 3, variance 2.5, t of 4 degrees of freedom at 97.5 %: 2.776.
    found = estimate([1, 2, 3, 4, 5])
    half = 2.776445 * math.sqrt(2.5 / 5)
    assert (found.mean, found.low, found.high) == pytest.approx((3, 3 - half, 3 + half), rel=1e-6)
    assert estimate([2.0]) == Estimate(2.0)


def test_a_claim_about_suspension_needs_suspensions(results: Results) -> None:
    assert not works(results, NAMED["ipc_reduction_of_rps"])  # PES_IPS suspended nothing
    assert works(results, NAMED["rps_read_reduction"])
    assert works(results, NAMED["pe0_read_reduction"])


def test_the_simulators_drive_need_not_be_full() -> None:
    # Each load also runs on a drive where every page has a place, which the reading leaves out.
    load = counterparts({}, "characterised")[0]
    simulator = DATA.readings[BASE].sets
    full = {**simulator, "ftl.precondition": "sequential"}
    for policy in ("fifo", "pes-ipc"):
        setup = load.setup("fast12-mlc", 2000, 1)
        setup = setup.with_overrides({"policy": policy, "workload.time_scale": 0.02})
        empty, filled = (
            setup.with_overrides(one).simulate().summary["requests"] for one in (simulator, full)
        )
        assert empty == filled


def test_every_claim_has_its_measure() -> None:
    known = {*METRICS, *claims.OF_TABLE_1, "fifo_ms", "figure_3", "queue"}
    assert {*METRICS} < {*claims.MEASURES} < known
    assert {claim.measure for claim in DATA.claims} == known
    assert len(SENTENCES) == 16


def test_share_and_increase_of_suspended_operations() -> None:
    result = fake(1, 1, programs=1)
    assert suspended_share(result) == 0.01
    assert suspended_increase(result) == pytest.approx(33 / 160)


def test_the_formulas_give_the_papers_numbers() -> None:
    # (20² + 8²) / 56 and (20² + 24²) / 88; cancellation: 4 − (16/2 + 16/2) / 28 and / 44.
    expected = {"SLC": (464 / 56, 4 - 16 / 28), "MLC": (976 / 88, 4 - 16 / 44)}
    for name, (equation_1_us, cancellation_us) in expected.items():
        assert claims.OF_TABLE_1["equation_1_us"](name) == pytest.approx(equation_1_us)
        assert claims.wait_us(name, "pes-ips") == pytest.approx(equation_1_us, abs=0.001)
        for inside, wait in ((True, cancellation_us), (False, 4.0)):
            sets = {"suspension.reset_inside_phase": inside}
            found_us = claims.wait_us(name, "pes-ipc", **sets)
            assert found_us == pytest.approx(wait, abs=0.001)


@pytest.mark.parametrize(
    ("of", "end"), [("characterised", "-flows"), ("calibrated", "-calibrated")]
)
def test_counterparts_never_bear_the_name_of_their_trace(tmp_path: Path, of: str, end: str) -> None:
    found = counterparts({}, of)
    assert [load.trace for load in found] == list(DATA["traces"])
    assert all(load.label.endswith(end) and not load.genuine for load in found)
    file = tmp_path / "f1.spc"
    file.write_text("")
    genuine = {load.trace: load for load in counterparts({"F1": Recording(file)}, of)}
    assert genuine["F1"].genuine
    assert genuine["F1"].label == "F1"
    assert not genuine["F2"].genuine


def test_compression_ends_where_theory_has_it() -> None:
    # One die that only reads, each request a page: it idles for 1 − rate × S, S = 30 µs, so that
    # it idles for 70 % at 10,000 requests a second, ten times as fast as this load.
    workload = {
        "generator": "mixed",
        "requests": 100_000,
        "read_fraction": 1.0,
        "request_bytes": 2048,
        "arrivals": "poisson",
        "rate_iops": 1000,
    }
    geometry = {"channels": 1, "planes_per_die": 1}
    setup = Setup({"device": "fast12-slc", "geometry": geometry, "workload": workload}, {})
    setup = setup.with_overrides({"host.link_bytes_per_s": "none", "policy": "fifo"})
    for of_dies, near in ((False, None), (True, None), (False, 0.3), (False, 0.08), (True, 0.1)):
        found = compress(setup, 0.7, lambda *_: None, of_dies=of_dies, near=near)
        assert found.speed == pytest.approx(10, rel=0.02)
        assert found.die_idle_share == pytest.approx(0.7, abs=0.002)
        # One die, one channel: both meanings of idle are the same here.
        assert found.drive_idle_share == pytest.approx(found.die_idle_share, abs=1e-6)
    slower = compress(setup.with_overrides({"workload.rate_iops": 100_000}), 0.7, lambda *_: None)
    assert slower.speed == pytest.approx(0.1, rel=0.02)


def test_a_run_is_done_once_from_the_state_of_its_drive(tmp_path: Path) -> None:
    workload = {"generator": "mixed", "requests": 400, "read_fraction": 0.5, "queue_depth": 4}
    drive = {"device": "fast12-slc", "geometry": {"blocks_per_plane": 64}}
    setup = Setup({**drive, "workload": workload}, {"ftl.precondition": "steady"})
    settled = setup.with_overrides({"workload.requests": 1})
    jobs = {name: Job(setup, settled) for name in ("one", "again")}
    jobs["longer"] = Job(setup.with_overrides({"workload.requests": 500}), settled)
    seen: list[tuple[str, int, int]] = []
    with bench(tmp_path, 2, lambda *step: seen.append(step)) as engine:
        found = engine.each("running", jobs, lambda record: record.summary["requests"])
    # One state and two runs: what is alike is done once.
    assert seen[-1] == ("running", 2, 2)
    assert [step for step in seen if step[0] != "running"][-1][1:] == (1, 1)
    assert found["one"] == found["again"] == setup.simulate().summary["requests"]
    assert found["longer"]["total"]["count"] == 500
    seen.clear()
    with bench(tmp_path, 2, lambda *step: seen.append(step)) as engine:
        assert engine.each("running", jobs, lambda record: record.summary["requests"]) == found
    # Nothing is left to do, nor is the drive brought to its state.
    assert {step[0] for step in seen} == {"running"}
    # The runs of a file that does not have what was written are done again.
    (segment, *_) = (tmp_path / "segments").glob("*.parquet")
    content = bytearray(segment.read_bytes())
    content[len(content) // 3] ^= 0x55
    segment.write_bytes(content)
    with bench(tmp_path, 2) as engine:
        assert engine.each("running", jobs, lambda record: record.summary["requests"]) == found


def test_a_mistake_in_a_run_is_raised_and_done_again(tmp_path: Path) -> None:
    workload = {"generator": "mixed", "requests": 10, "read_fraction": 1.0, "queue_depth": 1}
    setup = Setup({"device": "fast12-slc", "workload": workload}, {})
    trials = iter((rp.UserError("the disk is full"), None))

    def measure(_result: rp.Result) -> str:
        error = next(trials)
        if error is not None:
            raise error
        return '{"is": "done"}'

    job = {"only": Job(setup, measure=measure, measured_as="trial")}
    with bench(tmp_path, 1) as engine, pytest.raises(rp.UserError, match="the disk is full"):
        engine.texts("running", job)
    with bench(tmp_path, 1) as engine:
        assert engine.texts("running", job) == {"only": {"is": "done"}}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["fast13"],
            "reproduce fast13: must be one of fast12, starblaze, zambelli21, mbm, zns-a, drives, "
            "aero, deadline, zones, arrays, kv-cache",
        ),
        (["fast12", "--trace", "F1"], "--trace F1: must be NAME=FILE, such as F1=Financial1.spc"),
        (
            ["fast12", "--trace", "F9=x.spc"],
            "--trace F9=x.spc: must be one of F1, F2, DAP, MSN, C3, C8",
        ),
        (
            ["fast12", "--trace", "F1=x.spc"],
            "--trace F1=x.spc: there is no such file; name a trace",
        ),
        (["fast12", "--requests", "10"], "--requests 10: must be at least 1000"),
    ],
)
def test_a_mistake_is_one_sentence(
    reprieve: Reprieve, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    done = reprieve("reproduce", *arguments)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", sentence)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seeds, and drives of as few blocks as hold the loads: most of a run is to set them up."""
    assert DATA["seeds"] == [1, 2, 3, 4, 5]
    monkeypatch.setitem(DATA.rest, "seeds", (1, 2))
    for name, blocks in (("SLC", 1536), ("MLC", 768)):
        preset = (ROOT / f"devices/{DEVICES[name]}.toml").read_text()
        path = tmp_path / f"{DEVICES[name]}.toml"
        path.write_text(preset.replace("[geometry]", f"[geometry]\nblocks_per_plane = {blocks}\n#"))
        monkeypatch.setitem(DATA["devices"], name, str(path))


@pytest.mark.seconds(20)
@pytest.mark.usefixtures("small")
def test_the_whole_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    genuine = tmp_path / "f2.load"
    rows = [f"{k / 90:.6f} ; {k * 7919 % 100_000 * 8} ; 8 ; {'RRRRW'[k % 5]} ; 0 ; 0"
            for k in range(1000)]  # fmt: skip
    genuine.write_text("\n".join(rows) + "\n")
    arguments = ("--quick", "--requests", "1000", "--out", str(tmp_path / "o"))
    status = main(["reproduce", "fast12", *arguments, "--trace", f"F2={genuine}"])
    printed = capsys.readouterr()
    assert (status, printed.err) == (0, "")
    assert "fin1-flows" in printed.out
    verdicts = json.loads((tmp_path / "o/verdicts.json").read_text())
    exact = [row for row in verdicts if "equation (1)" in row["claim"]]
    assert len(exact) == 4
    assert all(row["reproduced"] for row in exact)
    assert {row["kind"] for row in exact} == {"arithmetic", "derived"}
    table = {row["claim"] for row in verdicts if "Table 2" in row["source"]}
    assert {f"{device}: mean read latency of {load} under FIFO" for device in ("SLC", "MLC")
            for load in ("fin1-flows", "F2")} < table  # fmt: skip
    by_claim = {row["claim"]: row for row in verdicts}
    # Sixteen sentences of two drives, Figure 3's order, and two orders of Figure 7 for each drive.
    mine = [row for row in verdicts if row["kind"] in ("predicted", "duplicate", "vacuous")
            and "Table 2" not in row["source"]]  # fmt: skip
    assert len(mine) == 2 * 16 + 1 + 2 * 2
    assert all(row["seeds"] == [1, 2] for row in mine)
    # Two seeds decide nothing.
    assert all(row["reproduced"] is None for row in mine)
    assert all(row["undecided"] for row in mine if row["kind"] == "predicted")
    numbers = json.loads((tmp_path / "o/numbers.json").read_text())
    shorter = numbers["claims"][MAIN][BASE]["MLC"]["rps_read_reduction"]
    assert shorter == by_claim["MLC: RPS shortens reads against FIFO, average"]["ours"]
    # An overhead of writes of a few per cent cannot be told from none within three points.
    assert numbers["tally"]["null_model"] > 0
    figures = {path.name for path in (tmp_path / "o/figures").iterdir()}
    assert {
        f"figure-{number}.{kind}" for number in range(1, 8) for kind in ("svg", "png")
    } == figures
    check_charts(tmp_path / "o/report.html")
    page = (tmp_path / "o/report.html").read_text()
    assert "dap-flows" in page
    assert rp.__version__ in page
