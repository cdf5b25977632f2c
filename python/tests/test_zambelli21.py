"""The reproduction of Zambelli et al. 2021: its drive, what is measured, and its claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reprieve.parallel import Workshop
from reprieve_studies.papers import reproduce
from reprieve_studies.zambelli21 import claims, energy, experiment, readings, tail, wear
from reprieve_studies.zambelli21.bounds import most_kiops, work_us
from reprieve_studies.zambelli21.measures import (
    METRICS,
    Runs,
    Spot,
    change,
    compared,
    interval_us,
    write_amplification,
)
from reprieve_studies.zambelli21.paper import CHANGES, MIXES, ORDERS, Change, Order, implied
from reprieve_studies.zambelli21.readings import (
    BASE,
    FITTED,
    READINGS,
    SENSITIVITY,
    Shape,
    suspensions,
)

from .drive import Reprieve
from .vega import check_charts


class Fake:
    """A result of which only the summary is asked for."""

    def __init__(self, kiops: float, tail_us: float) -> None:
        group = {
            "latency_ns": {"mean": 64e6 / kiops, "p99_99": 1000 * tail_us},
            "confidence": {"p99_99": [900 * tail_us, 1100 * tail_us]},
        }
        self.summary: dict[str, Any] = {
            "requests": {"total": group, "read": group | {"confidence": {"p99_99": None}}},
            "device": {"iops": 1000 * kiops, "simulated_ns": 2_000_000_000},
            # 20 J in two seconds are 10 W.
            "power": {"energy_uj": {"core": 20e6, "io": 0.2e6}},
            "flash": {"gc_waf": 2.4},
        }


def runs(*kiops_and_tails: tuple[float, float]) -> Runs:
    """Return runs with 0, 5 and 10 suspensions of the one load and depth."""
    numbered = zip((0, 5, 10), kiops_and_tails, strict=True)
    found: dict[Spot, Any] = {Spot("page-1", "25W-75R", 64, n): Fake(*pair) for n, pair in numbered}
    return found


def test_the_metrics_are_in_the_units_of_the_figures() -> None:
    result: Any = Fake(200, 1500)
    found = {name: metric.of(result) for name, metric in METRICS.items()}
    assert found == {
        "iops": 200,
        "mean": 320,
        "memory_power": 10_000,
        "bus_power": 100,
        "total_tail": 1500,
        "read_tail": 1500,
    }
    assert interval_us(result, "total_tail") == (1350, 1650)
    assert interval_us(result, "read_tail") is None
    assert write_amplification(result) == 2.4


def test_a_change_is_that_of_ten_suspensions_against_none() -> None:
    found = runs((200, 2000), (300, 900), (320, 1000))
    for metric, expected in (("iops", 120), ("mean", -120), ("total_tail", -1000)):
        claim = Change("", metric, "25W-75R", 64, 1, "", "")
        assert change(found, "page-1", claim) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("pair", "rises", "holds"),
    [((0, 5), True, True), ((0, 5), False, False), ((5, 10), True, False), ((5, 10), False, False)],
)
def test_what_stays_equal_neither_rises_nor_falls(
    pair: tuple[int, int], rises: bool, holds: bool
) -> None:
    found = runs((200, 2000), (300, 900), (300, 900))
    order = Order("", "iops", ("25W-75R",), (64,), pair, rises, "")
    assert [one.holds for one in compared(found, "page-1", order)] == [holds]


def test_the_differences_imply_the_absolutes_by_littles_law() -> None:
    found = implied()
    assert found.iops_with - found.iops_without == pytest.approx(113e3)
    assert found.mean_us_without - found.mean_us_with == pytest.approx(97)
    for iops, mean_us in (
        (found.iops_without, found.mean_us_without),
        (found.iops_with, found.mean_us_with),
    ):
        assert iops * mean_us == pytest.approx(64e6)
    # To three digits as the design has them: 222 and 335 kIOPS, 288 and 191 µs.
    assert [round(found.iops_without / 1e3), round(found.iops_with / 1e3)] == [222, 335]
    assert [round(found.mean_us_without), round(found.mean_us_with)] == [288, 191]


def test_the_work_of_a_request_by_hand() -> None:
    # A read is 80 + 10.24, a program 2000 + 4 × 10.24; 0.25 writes of 2.4 units, four a program.
    work = work_us(Shape(4, 1), 0.75)
    assert work.host_reads == pytest.approx(0.75 * 90.24)
    assert work.programs == pytest.approx(0.25 * 2.4 / 4 * 2040.96)
    assert work.moved_reads == pytest.approx(0.25 * 1.4 * 90.24)
    assert work.erases == pytest.approx(0.25 * 2.4 / 1024 * 5000)
    # 67.68 + 306.144 + 31.584 + 2.9297 = 408.3377 µs on 128 dies.
    assert most_kiops(Shape(4, 1), 0.75) == pytest.approx(128e3 / 408.3377, rel=1e-5)
    assert most_kiops(Shape(4, 2), 0.75) == 2 * most_kiops(Shape(4, 1), 0.75)
    # At the paper's 335 kIOPS programs alone keep 79 % of the dies busy; of wordlines 26 %.
    for units, percent in ((4, 79), (12, 26)):
        program_us = 335e3 * 0.25 * 2.4 / units * 2e-3 / 128
        assert round(100 * program_us) == percent


def test_the_shapes_of_the_drive() -> None:
    page, wordline = Shape(4, 1), Shape(12, 2)
    assert (page.dies, wordline.dies) == (128, 256)
    assert (page.units_per_block, wordline.units_per_block) == (1024, 85 * 12)
    assert (page.load_gap_us, wordline.load_gap_us) == (0.0, 0.182)
    # 1024 frames hold a wordline for each of 256 dies only if a frame is a page.
    assert 1024 * wordline.frame_bytes > 256 * 12 * 4096 > 1024 * page.frame_bytes
    settings = readings.drive(page)
    assert settings["ftl"] == {
        "over_provisioning": 0.3,
        "placement": "dynamic",
        "gc_background": False,
        "gc_start_free_share": 0.1,
        "gc_rate_pages_per_write": pytest.approx(1.4),
        "wordline_timeout_us": 1_000_000,
        "precondition": "steady",
    }


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two channels and blocks of 32 pages, so that all runs take seconds."""
    monkeypatch.setattr(readings, "CHANNELS", 2)
    monkeypatch.setattr(readings, "PAGES_PER_BLOCK", 32)


def _unseen(_what: str, _done: int, _pieces: int) -> None:
    """Nobody watches."""


@pytest.mark.usefixtures("small")
def test_every_run_obeys_littles_law_and_is_of_its_load() -> None:
    plan = experiment.Plan(8_000, (1, 2), quick=True)
    outcome = experiment.run(plan, Workshop(None, _unseen, plan.pieces))
    # Two readings at two depths with two seeds, and one more depth of the first.
    assert len(outcome.runs) == plan.pieces - 2 == 2 * 2 * 3 * 2 * 2 + 2 * 3
    for spot, result in outcome.runs.items():
        groups = result.summary["requests"]
        assert groups["total"]["count"] == 8_000
        assert groups["read"]["count"] / 8_000 == pytest.approx(MIXES[spot.mix], abs=0.03)
        outstanding = METRICS["iops"].of(result) * METRICS["mean"].of(result) / 1e3
        # While the last requests end there are fewer and fewer outstanding.
        assert 0.75 * spot.queue_depth < outstanding < 1.01 * spot.queue_depth
        suspended = result.summary["flash"]["suspensions"]
        assert (suspended["program"] > 0) == (spot.suspensions > 0)
        assert suspended["erase"] == 0 or spot.reading == FITTED.name
    found = claims.verdicts(outcome)
    # Those of the bench, and for each reading four absolutes and the text's.
    assert len(found) == 11 + 2 * (4 + len(CHANGES) + len(ORDERS))
    by_claim = {verdict.claim: verdict for verdict in found}
    assert len(by_claim) == len(found)
    bandwidth = by_claim[f"{BASE.title}: bandwidth, 25W-75R, QD 64, with 10 suspensions"]
    spots = [Spot(BASE.name, "25W-75R", 64, 10, seed) for seed in (1, 2)]
    iops = [outcome.runs[spot].summary["device"]["iops"] / 2e3 for spot in spots]
    assert bandwidth.ours == pytest.approx(sum(iops))
    assert bandwidth.low is not None
    assert bandwidth.low < sum(iops)
    # What a number was fitted to counts for nothing.
    kinds = {claim: one.kind for claim, one in by_claim.items() if claim.startswith(FITTED.title)}
    assert kinds[f"{FITTED.title}: bandwidth, 25W-75R, QD 64, with 10 suspensions"] == "input"
    assert kinds[f"{FITTED.title}: mean latency, 25W-75R, QD 64, with 10 suspensions"] == "derived"


@pytest.mark.usefixtures("small")
def test_runs_begin_when_collection_has_set_in(tmp_path: Path) -> None:
    """Table 1: a write amplification of 2.4, from the first requests on."""
    shape = Shape(4, 1)
    experiment.settle(shape, tmp_path / "state", lambda _share, _done: None)
    spot = Spot(BASE.name, "75W-25R", 16, 0, 3)
    setup = experiment.setup(experiment.Plan(4_000, (3,), quick=True), spot)
    result = setup.simulate(lambda _share, _done: None, from_state=tmp_path / "state")
    assert write_amplification(result) == pytest.approx(2.4, rel=0.03)
    scenario = experiment.setup(experiment.Plan(1_000, (3,)), spot).scenario
    assert scenario["measure"] == {"from_request": 20_000}
    assert scenario["workload"]["requests"] == 21_000
    assert scenario["seed"] == 3


def test_a_program_costs_as_much_a_bit_in_every_reading() -> None:
    # A program of a page has a third of the power of a wordline's.
    powers = readings.drive(Shape(4, 2))["power"]
    assert isinstance(powers, dict)
    assert powers["p_program_pulse_mw"] == pytest.approx(92.4 / 3)
    assert powers["p_program_verify_mw"] == pytest.approx(78.4 / 3)
    assert readings.drive(Shape(12, 2))["power"] == {"account": "on"}
    # 29 iterations of 20 and 49 us over the 393,216 bits of a wordline: 420 pJ a bit.
    picojoules = 29 * (20 * 92.4 + 49 * 78.4) * 1e3
    assert picojoules / (12 * 4096 * 8) == pytest.approx(420, abs=1)


def test_slices_of_a_program_are_points_at_which_it_can_be_suspended() -> None:
    # 29 iterations in slices of six are five, in slices of three ten.
    found = [suspensions(number, in_slices=True) for number in (5, 10)]
    assert [one["suspension.slice_iterations"] for one in found] == [6, 3]
    assert all("suspension.max_per_operation" not in one for one in found)


def test_the_tail_is_told_in_parts_of_all_seeds() -> None:
    def slowest(read_us: float, **blame_ns: int) -> experiment.Slowest:
        names = ("host_read", "host_program", "gc_read", "gc_program", "erase", "limit", "channel")
        blame = {f"by_{name}_ns": 0 for name in (*names, "suspend_entry")}
        blame |= {f"by_{name}_ns": value for name, value in blame_ns.items() if name != "whole"}
        return experiment.Slowest(read_us, read_us / 2, {**blame, "latency_ns": blame_ns["whole"]})

    tails = {
        experiment.Tail(5, 1): slowest(1000, whole=600, limit=300, host_read=60, channel=120),
        experiment.Tail(5, 2): slowest(1400, whole=400, limit=100, erase=100, gc_program=40),
        experiment.Tail(0, 1): slowest(2300, whole=100, host_program=90),
    }
    found = tail.by_limit(tails)
    assert list(found) == [5, 0]
    five = found[5]
    assert (five.read_us.mean, five.total_us.mean) == (1200, 600)
    # Of 1000 in all: 400 behind the limit, 60 behind reads, 100 erases, 40 programs, 120 channel.
    expected = {"programs": 0.04, "limit": 0.4, "suspend": 0.0, "reads": 0.06, "collection": 0.1,
                "rest": 0.12, "own": 0.28}  # fmt: skip
    assert five.shares == pytest.approx(expected)
    assert found[0].shares["programs"] == pytest.approx(0.9)
    assert set(expected) == set(tail.WAITS)


def test_energy_of_a_request_by_hand() -> None:
    # 0.75 + 0.25 * 1.4 reads of 80 us and 0.25 * 2.4 / 12 programs of 2 ms at 100 mW.
    assert energy.request_uj(50, 2.0, 0.25) == pytest.approx(0.1 * (1.1 * 80 + 0.05 * 2000))
    # At 8 mA and 2.7 V 4.06 uJ; 3.54 uJ are 7 mA.
    assert "7.0 mA at 2.7 V" in energy.more()


def test_a_policy_is_on_the_front_if_none_is_better_in_both() -> None:
    points = {"a": (100.0, 5.0), "b": (200.0, 6.0), "c": (150.0, 4.0), "d": (100.0, 4.5)}
    assert wear.on_the_front(points) == {"a", "b"}


def test_drive_writes_a_day_by_hand() -> None:
    result: Any = Fake(200, 1500)
    result.summary["flash"] |= {
        "programs": 1024 * 240,
        "suspensions": {"program": 100_000, "erase": 200},
    }
    # 3000 / 0.7 over 2.4 and 1825 days; 240 cycles, and 10 + 2 more for suspensions.
    free = 3000 / 0.7 / (2.4 * 1825)
    assert wear.daily_writes(result, 1024) == pytest.approx((free, free * 240 / 252))
    assert wear.years(result) == pytest.approx(5 * free * 240 / 252)


@pytest.mark.seconds(21)
@pytest.mark.usefixtures("small")
def test_the_whole_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some hundreds of runs, most of whose requests only fill queues and the buffer.
    monkeypatch.setattr(experiment, "_RUN_IN", 2_000)
    verdicts = reproduce("zambelli21", requests=1000, out=tmp_path / "o")
    written = json.loads((tmp_path / "o/verdicts.json").read_text())
    assert [row["claim"] for row in written] == [verdict.claim for verdict in verdicts]
    tolerances = {row["claim"]: row["tolerance"] for row in written}
    claim = "suspension raises the bandwidth, 25W-75R, QD 64"
    assert tolerances[f"{BASE.title}: {claim}"] == 0.15 * 113
    numbers = json.loads((tmp_path / "o/numbers.json").read_text())
    with_ten, without = (
        numbers["runs"]["page-1"]["25W-75R"]["64"][count]["iops_kiops"] for count in ("10", "0")
    )
    assert numbers["changes"]["page-1"][claim]["mean"] == pytest.approx(with_ten - without)
    assert set(numbers["runs"]) == {reading.name for reading in (*READINGS, *SENSITIVITY)}
    assert set(numbers["front"]) == set(wear.POLICIES)
    figures = {path.stem for path in (tmp_path / "o/figures").iterdir()}
    own = ("3a", "3b", "10a", "10b", "11a", "11b", "12", "13a", "13b")
    of_the_bench = ("6", "7a", "7b", "8a", "8b")
    assert {"front", *(f"figure-{number}" for number in (*own, *of_the_bench))} <= figures
    check_charts(tmp_path / "o/report.html")
    page = (tmp_path / "o/report.html").read_text()
    for reading in (*READINGS, *SENSITIVITY):
        assert reading.title in page


def test_a_mistake_is_one_sentence(reprieve: Reprieve, tmp_path: Path) -> None:
    for arguments, sentence in (
        (["--requests", "10"], "--requests 10: must be at least 1000"),
        (
            ["--trace", "F1=x.spc"],
            "--trace F1=x.spc: the loads of this paper are generated; leave it out",
        ),
    ):
        done = reprieve("reproduce", "zambelli21", *arguments)
        assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", sentence)
    assert list(tmp_path.iterdir()) == []
