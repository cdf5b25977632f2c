"""Reproductions: what is measured, what is claimed, and the command as a user runs it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.cli import main
from reprieve.parallel import Workshop
from reprieve.simulation import Watch
from reprieve_studies import fast12
from reprieve_studies.compress import compress
from reprieve_studies.fast12 import experiment, formulas, loads
from reprieve_studies.fast12.alternatives import SIMULATOR
from reprieve_studies.fast12.experiment import Plan
from reprieve_studies.fast12.measures import (
    MEASURES,
    Group,
    Spot,
    prefers_reads,
    suspended_increase,
    suspended_increase_of_array,
    suspended_share,
    suspends,
)
from reprieve_studies.fast12.paper import DEVICES, SENTENCES, TABLE_1, TRACES
from reprieve_studies.loads import Recording
from reprieve_studies.runs import Setup
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.study import Settings

from .drive import Reprieve
from .vega import check_charts

ROOT = Path(__file__).resolve().parents[2]


def unwatched(_share: float | None, _requests: int) -> None:
    """Nobody watches."""


class Fake:
    """A result of which only the summary is asked for."""

    def __init__(self, read_us: float, write_us: float, **flash: Any) -> None:
        groups = {"read": read_us, "write": write_us}
        self.summary: dict[str, Any] = {
            "requests": {
                op: {"count": 1, "latency_ns": {"mean": 1000 * mean_us}}
                for op, mean_us in groups.items()
            },
            "flash": {"programs": 80, "erases": 20, "suspended_operations": suspended(0, 0)}
            | flash,
        }


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
def group() -> Group:
    """Two loads whose measures can be worked out by hand."""
    runs: dict[Spot, Any] = {
        Spot("SLC", load, policy): Fake(*LATENCIES_US[policy][index])
        for policy in LATENCIES_US
        for index, load in enumerate(("F1", "F2"))
    }
    runs[Spot("SLC", "F1", "PES_IPC")].summary["flash"]["suspended_operations"] = suspended(6, 2)
    return Group(runs, "SLC", ["F1", "F2"])


@pytest.mark.parametrize(
    ("measure", "expected"),
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
def test_measures_by_hand(group: Group, measure: str, expected: float) -> None:
    assert MEASURES[measure](group) == pytest.approx(expected)


def test_an_interval_is_that_of_student() -> None:
    # Mean 3, variance 2.5, t of 4 degrees of freedom at 97.5 %: 2.776.
    found = estimate([1, 2, 3, 4, 5])
    half = 2.776445 * math.sqrt(2.5 / 5)
    assert (found.mean, found.low, found.high) == pytest.approx((3, 3 - half, 3 + half), rel=1e-6)
    assert estimate([2.0]) == Estimate(2.0)


def test_a_claim_about_suspension_needs_suspensions(group: Group) -> None:
    assert not suspends(group)  # PES_IPS suspended nothing
    assert prefers_reads(group)


def test_the_simulators_drive_need_not_be_full() -> None:
    # What `alternatives.SIMULATOR` leaves out: the same on a drive where every page has a place.
    load = loads.papers({}, "characterised")[0]
    full = {**SIMULATOR.overrides, "ftl.precondition": "sequential"}
    for policy in ("fifo", "pes-ipc"):
        setup = load.setup("fast12-mlc", 2000, 1)
        setup = setup.with_overrides({"policy": policy, "workload.time_scale": 0.02})
        empty, filled = (
            setup.with_overrides(one).simulate(unwatched).summary["requests"]
            for one in (SIMULATOR.overrides, full)
        )
        assert empty == filled


def test_every_sentence_has_its_measure() -> None:
    assert {sentence.measure for sentence in SENTENCES} == set(MEASURES)


def test_without_recordings_there_is_no_set_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class PlannedError(Exception):
        """So far and no farther: the argument is the plan."""

    def stop(plan: Plan, _workshop: Workshop) -> None:
        raise PlannedError(plan)

    monkeypatch.setattr(fast12, "real", list)
    monkeypatch.setattr(fast12, "run", stop)
    with pytest.raises(PlannedError) as planned:
        fast12.article(Settings(quick=True))
    (plan,) = planned.value.args
    sets = {of: len(found) for of, found in plan.sets.items()}
    assert sets == {"characterised": 6, "calibrated": 6}


def test_the_increase_over_the_array_alone_leaves_the_transfer_out() -> None:
    result: Any = Fake(1, 1, suspended_operations=suspended(1, 0))
    assert suspended_share(result) == 0.01
    assert suspended_increase(result) == pytest.approx(33 / 160)
    # Table 1, SLC: 140 of the 160 µs are in the array.
    assert suspended_increase_of_array(result, 20_000) == pytest.approx(33 / 140)


def test_the_formulas_give_the_papers_numbers() -> None:
    # (20² + 8²) / 56 and (20² + 24²) / 88; cancellation: 4 − (16/2 + 16/2) / 28 and / 44.
    expected = {"SLC": (464 / 56, 4 - 16 / 28), "MLC": (976 / 88, 4 - 16 / 44)}
    for name, (equation_1_us, cancellation_us) in expected.items():
        part = TABLE_1[name]
        assert formulas.equation_1_us(part) == pytest.approx(equation_1_us)
        assert formulas.cancellation_us(part, reset_inside=True) == pytest.approx(cancellation_us)
        assert formulas.cancellation_us(part, reset_inside=False) == 4
        device = DEVICES[name]
        wait_us = formulas.simulated_wait_us(device, "pes-ips", part)
        assert wait_us == pytest.approx(equation_1_us, abs=0.001)
        for inside, wait in ((True, cancellation_us), (False, 4.0)):
            found_us = formulas.simulated_wait_us(device, "pes-ipc", part, reset_inside=inside)
            assert found_us == pytest.approx(wait, abs=0.001)


@pytest.mark.parametrize(
    ("of", "end"), [("characterised", "-flows"), ("calibrated", "-calibrated")]
)
def test_counterparts_never_bear_the_name_of_their_trace(tmp_path: Path, of: str, end: str) -> None:
    counterparts = loads.papers({}, of)
    assert [load.trace for load in counterparts] == list(TRACES)
    assert all(load.label.endswith(end) and not load.genuine for load in counterparts)
    file = tmp_path / "f1.spc"
    file.write_text("")
    genuine = {load.trace: load for load in loads.papers({"F1": Recording(file)})}
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
        found = compress(setup, 0.7, unwatched, of_dies=of_dies, near=near)
        assert found.speed == pytest.approx(10, rel=0.02)
        assert found.die_idle_share == pytest.approx(0.7, abs=0.002)
        # One die, one channel: both meanings of idle are the same here.
        assert found.drive_idle_share == pytest.approx(found.die_idle_share, abs=1e-6)
    slower = compress(setup.with_overrides({"workload.rate_iops": 100_000}), 0.7, unwatched)
    assert slower.speed == pytest.approx(0.1, rel=0.02)


def test_a_workshop_counts_its_pieces() -> None:
    seen: list[tuple[str, int, int]] = []
    workshop = Workshop(2, lambda *step: seen.append(step), 5)

    def double(item: int, _watch: Watch) -> int:
        return 2 * item

    assert workshop.each("first", [1, 2], double) == [2, 4]
    assert workshop.each("second", [3], double) == [6]
    assert seen[0] == ("first", 0, 5)
    assert seen[-1] == ("second", 3, 5)
    assert math.isclose(sum(done for _, done, _ in seen), 0 + 1 + 2 + 2 + 3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["fast13"],
            "reproduce fast13: must be one of fast12, starblaze, zambelli21, mbm, zns-a, deadline",
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
    assert [*fast12.SEEDS] == [1, 2, 3, 4, 5]
    monkeypatch.setattr(fast12, "SEEDS", (1, 2))
    devices = {}
    for name, blocks in (("SLC", 1536), ("MLC", 768)):
        preset = (ROOT / f"devices/{DEVICES[name]}.toml").read_text()
        path = tmp_path / f"{DEVICES[name]}.toml"
        path.write_text(preset.replace("[geometry]", f"[geometry]\nblocks_per_plane = {blocks}\n#"))
        devices[name] = str(path)
    monkeypatch.setattr(experiment, "DEVICES", devices)


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
    assert "fin1-calibrated" in printed.out
    verdicts = json.loads((tmp_path / "o/verdicts.json").read_text())
    exact = [row for row in verdicts if "equation (1)" in row["claim"]]
    assert len(exact) == 4
    assert all(row["reproduced"] for row in exact)
    assert {row["kind"] for row in exact} == {"arithmetic", "derived"}
    # What a counterpart was fitted to is an input; of a genuine trace every number is measured.
    table = {row["claim"]: row["kind"] for row in verdicts if "Table 2" in row["source"]}
    assert table["SLC: mean read latency of fin1-calibrated under FIFO"] == "input"
    assert table["MLC: mean read latency of fin1-calibrated under FIFO"] == "predicted"
    assert table["SLC: mean read latency of F2 under FIFO"] == "measured"
    claims = {row["claim"]: row for row in verdicts}
    # Sixteen sentences of two drives and one of both, for each set of loads and reading.
    for of, kind in (("calibrated", "predicted"), ("characterised", "measured")):
        mine = [row for row in verdicts if f"{of} loads, Reprieve's reading: " in row["claim"]]
        assert len([row for row in mine if "Figure 7" not in row["source"]
                    and row["kind"] != "duplicate"]) == 33  # fmt: skip
        assert {row["kind"] for row in mine} <= {kind, "vacuous", "duplicate"}
        assert all(row["seeds"] == [1, 2] for row in mine)
        assert all(row["low"] <= row["ours"] <= row["high"] for row in mine if row["low"])
    numbers = json.loads((tmp_path / "o/numbers.json").read_text())
    shorter = numbers["claims"]["calibrated"]["reprieve"]["MLC"]["rps_read_reduction"]
    of = "MLC, calibrated loads, Reprieve's reading: RPS shortens reads against FIFO, average"
    assert shorter == claims[of]["ours"]
    figures = {path.name for path in (tmp_path / "o/figures").iterdir()}
    assert {
        f"figure-{number}.{kind}" for number in range(1, 8) for kind in ("svg", "png")
    } < figures
    assert {"figure-1-characterised.svg", "figure-7-die.svg"} < figures
    check_charts(tmp_path / "o/report.html")
    page = (tmp_path / "o/report.html").read_text()
    assert "dap-calibrated" in page
    assert rp.__version__ in page
