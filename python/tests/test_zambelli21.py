"""The reproduction of Zambelli et al. 2021: its drive, what is measured, and its claims."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, cast

import pytest

from reprieve.characterize import measure
from reprieve_studies.frame import Claim
from reprieve_studies.papers import reproduce
from reprieve_studies.runs import bench
from reprieve_studies.zambelli21 import claims, runs
from reprieve_studies.zambelli21.claims import METRICS, Outcome
from reprieve_studies.zambelli21.runs import DATA, FITTED, Plan, Spot, allowed

from .drive import Reprieve
from .vega import check_charts


class Fake:
    """A result of which only the summary is asked for."""

    def __init__(self, kiops: float, tail_us: float) -> None:
        group = {
            "latency_ns": {"mean": 64e6 / kiops, "p99_99": 1000 * tail_us},
        }
        self.summary: dict[str, Any] = {
            "requests": {"total": group, "read": group},
            "device": {"iops": 1000 * kiops, "simulated_ns": 2_000_000_000},
            # 20 J in two seconds are 10 W.
            "power": {"energy_uj": {"core": 20e6, "io": 0.2e6}},
            "flash": {"gc_waf": 2.4},
        }


def outcome(*kiops_and_tails: tuple[float, float]) -> Outcome:
    """Return runs with 0, 5 and 10 suspensions of the one load and depth."""
    numbered = zip((0, 5, 10), kiops_and_tails, strict=True)
    found: dict[Spot, Any] = {Spot("page-1", "25W-75R", 64, n): Fake(*pair) for n, pair in numbered}
    unmeasured: Any = None
    return Outcome(Plan(1000), found, unmeasured)


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


def test_a_change_is_that_of_ten_suspensions_against_none() -> None:
    found = outcome((200, 2000), (300, 900), (320, 1000))
    for metric, expected in (("iops", 120), ("mean", -120), ("total_tail", -1000)):
        options = {"metric": metric, "mix": "25W-75R", "depth": 64, "of": 10, "to": 0,
                   "how": "difference"}  # fmt: skip
        claim = Claim("", "headline", "", {"": 1}, options=options)
        measured = found.measure(claim, "page-1")
        assert measured is not None
        assert measured.mean == pytest.approx(expected)
        assert found.measure(claim, "page-2") is None


@pytest.mark.parametrize(
    ("pair", "how", "holds"),
    [((0, 5), "rises", 1), ((0, 5), "falls", 0), ((5, 10), "rises", 0), ((5, 10), "falls", 0)],
)
def test_what_stays_equal_neither_rises_nor_falls(
    pair: tuple[int, int], how: str, holds: int
) -> None:
    found = outcome((200, 2000), (300, 900), (300, 900))
    options = {"metric": "iops", "mix": "25W-75R", "depth": 64, "to": pair[0], "of": pair[1],
               "how": how, "pick": "count"}  # fmt: skip
    measured = found.measure(Claim("", "mechanism", "", {"": 1}, options=options), "page-1")
    assert measured is not None
    assert measured.mean == holds


def test_the_absolutes_follow_from_the_differences_by_littles_law() -> None:
    absolutes = {
        (one.options["metric"], one.options["of"]): one.value[""]
        for one in DATA.claims
        if one.of == "absolute"
    }
    # With X1 R1 = X2 R2 = 64, X2 - X1 = 113 kIOPS, R1 - R2 = 97 us: R2² + 97 R2 = 64 · 97 / 0.113.
    with_us = (-97 + math.sqrt(97**2 + 4 * 64 * 97 / 0.113)) / 2
    expected = {("mean", 10): with_us, ("mean", 0): with_us + 97,
                ("iops", 10): 64e3 / with_us, ("iops", 0): 64e3 / (with_us + 97)}  # fmt: skip
    assert absolutes == pytest.approx(expected, rel=1e-5)
    # To three digits as the page has them: 222 and 335 kIOPS, 288 and 191 µs.
    assert sorted(map(round, absolutes.values())) == [191, 222, 288, 335]


def test_the_shapes_of_the_drive() -> None:
    page, wordline = DATA["drive"], DATA.readings["wordline-1"].sets
    geometry, timing = page["geometry"], page["timing"]
    assert geometry["channels"] * geometry["dies_per_channel"] == 128
    two = DATA.readings["page-2"].sets
    assert geometry["channels"] * two["geometry.dies_per_channel"] == 256
    # 256 pages of four units of 4 KiB, or 85 whole wordlines of three pages.
    assert (geometry["pages_per_block"], timing["wordline_pages"]) == (256 * 4, 4)
    assert wordline["geometry.pages_per_block"] == 256 // 3 * 12
    # 4096 bytes at 400 MT/s; two set-ups of 1 us between three pages, spread over eleven gaps.
    assert timing["t_bus_us"] == pytest.approx(4096 / 400)
    assert wordline["timing.t_load_gap_us"] == pytest.approx(2 / 11, abs=1e-3)
    # 1024 frames hold a wordline for each of 256 dies only if a frame is a page.
    assert wordline["buffer.bytes"] > 256 * 12 * 4096 > page["buffer"]["bytes"] == 1024 * 4096
    assert page["ftl"]["gc_rate_pages_per_write"] == pytest.approx(2.4 - 1)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two channels and blocks of 32 pages, so that all runs take seconds."""
    monkeypatch.setitem(DATA["drive"]["geometry"], "channels", 2)
    monkeypatch.setitem(DATA["drive"]["geometry"], "pages_per_block", 128)
    monkeypatch.setitem(DATA.readings["wordline-1"].sets, "geometry.pages_per_block", 120)


@pytest.mark.usefixtures("small")
def test_every_run_obeys_littles_law_and_is_of_its_load() -> None:
    plan = Plan(8_000, (1, 2), claims_only=True, run_in=0)
    with bench(None, None) as engine:
        found_runs = runs.simulate(plan, plan.spots, engine)
    outcome = Outcome(plan, found_runs, measure(DATA["drive"]["part"], (), 10, 1))
    # Two loads at two depths, three limits, two seeds.
    assert len(outcome.runs) == 2 * 2 * 3 * 2
    for spot, result in outcome.runs.items():
        groups = result.summary["requests"]
        assert groups["total"]["count"] == 8_000
        assert groups["read"]["count"] / 8_000 == pytest.approx(DATA["mixes"][spot.mix], abs=0.03)
        outstanding = METRICS["iops"].of(result) * METRICS["mean"].of(result) / 1e3
        # While the last requests end there are fewer and fewer outstanding.
        assert 0.75 * spot.depth < outstanding < 1.01 * spot.depth
        suspended = result.summary["flash"]["suspensions"]
        assert (suspended["program"] > 0) == (spot.suspensions > 0)
    found = claims.verdicts(outcome)
    # Those of the bench, four absolutes, seven changes and ten orders.
    assert len(found) == 11 + 4 + 7 + 10
    by_claim = {verdict.claim: verdict for verdict in found}
    assert len(by_claim) == len(found)
    bandwidth = by_claim["bandwidth, 25W-75R, QD 64, with 10 suspensions"]
    spots = [Spot(FITTED, "25W-75R", 64, 10, seed) for seed in (1, 2)]
    iops = [outcome.runs[spot].summary["device"]["iops"] / 2e3 for spot in spots]
    assert bandwidth.ours == pytest.approx(sum(iops))
    assert bandwidth.low is not None
    assert bandwidth.low < sum(iops)
    # What a number was fitted to counts for nothing.
    assert bandwidth.kind == "input"
    assert by_claim["mean latency, 25W-75R, QD 64, with 10 suspensions"].kind == "derived"
    # Without an effect of suspension ten suspensions have the bandwidth of none.
    none = by_claim["bandwidth, 25W-75R, QD 64, without suspension"]
    assert bandwidth.null == pytest.approx(none.ours)
    # Two seeds, and one of 10,000 reads is beyond p99.99, decide nothing.
    tail = by_claim["suspension shortens the total p99.99, 25W-75R, QD 64"]
    assert (tail.undecided, tail.reproduced, tail.lack) == (True, None, "2 of 5 seeds")


def test_a_tail_needs_a_hundred_requests_beyond_it() -> None:
    (claim,) = (one for one in DATA.claims if one.options["metric"] == "read_tail"
                and one.of == "headline")  # fmt: skip

    def of(reads: int) -> str:
        found: dict[Spot, Any] = {}
        for number in (0, 5):
            run = Fake(200, 1500)
            run.summary["requests"]["read"] = {"count": reads}
            found[Spot(FITTED, "25W-75R", 64, number)] = run
        return claims._lack(Outcome(Plan(1000), found, cast(Any, None)), claim, FITTED)

    assert of(1_000_000) == ""
    assert of(999_999) == "99 of 100 requests beyond p99.99"


@pytest.mark.usefixtures("small")
def test_runs_begin_when_collection_has_set_in(tmp_path: Path) -> None:
    """Table 1: a write amplification of 2.4, from the first requests on."""
    spot = Spot(FITTED, "75W-25R", 16, 0, 3)
    quick = runs.job(Plan(4_000, (3,), run_in=0), spot)
    assert quick.settled is not None
    quick.settled.settle(tmp_path / "state")
    result = quick.setup.simulate(from_state=tmp_path / "state")
    assert result.summary["flash"]["gc_waf"] == pytest.approx(2.4, rel=0.03)
    setup = runs.job(Plan(1_000, (3,)), spot).setup
    assert setup.overrides["measure.from_request"] == 20_000
    assert setup.overrides["workload.requests"] == 21_000
    assert setup.scenario["seed"] == 3


def test_a_program_costs_as_much_a_bit_in_every_reading() -> None:
    # A program of a page has a third of the power of a wordline's.
    power, wordline = DATA["drive"]["power"], DATA.readings["wordline-1"].sets
    assert power["p_program_pulse_mw"] == pytest.approx(92.4 / 3)
    assert power["p_program_verify_mw"] == pytest.approx(78.4 / 3)
    assert wordline["power.p_program_pulse_mw"] == 92.4
    # 29 iterations of 20 and 49 us over the 393,216 bits of a wordline: 420 pJ a bit.
    picojoules = 29 * (20 * 92.4 + 49 * 78.4) * 1e3
    assert picojoules / (12 * 4096 * 8) == pytest.approx(420, abs=1)


def test_slices_of_a_program_are_points_at_which_it_can_be_suspended() -> None:
    # The joint reading has another limit for the case of five.
    assert allowed(5, DATA.readings[FITTED])["suspension.max_per_operation"] == 7
    assert allowed(10, DATA.readings[FITTED])["suspension.max_per_operation"] == 10
    # 29 iterations in slices of six are five, in slices of three ten.
    found = [allowed(number, DATA.readings["fitted-points"]) for number in (5, 10)]
    assert [one["suspension.slice_iterations"] for one in found] == [6, 3]
    assert all("suspension.max_per_operation" not in one for one in found)


@pytest.mark.seconds(21)
@pytest.mark.usefixtures("small")
def test_the_whole_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some hundreds of runs, most of whose requests only fill queues and the buffer.
    monkeypatch.setitem(DATA.rest, "run_in", 2_000)
    verdicts = reproduce("zambelli21", requests=1000, out=tmp_path / "o")
    written = json.loads((tmp_path / "o/verdicts.json").read_text())
    assert [row["claim"] for row in written] == [verdict.claim for verdict in verdicts]
    tolerances = {row["claim"]: row["tolerance"] for row in written}
    claim = "suspension raises the bandwidth, 25W-75R, QD 64"
    assert tolerances[claim] == 0.15 * 113
    numbers = json.loads((tmp_path / "o/numbers.json").read_text())
    with_ten, without = (
        numbers["runs"]["page-1"]["25W-75R"]["64"][count]["iops_kiops"] for count in ("10", "0")
    )
    assert numbers["changes"]["page-1"][claim]["mean"] == pytest.approx(with_ten - without)
    assert set(numbers["runs"]) == set(DATA.readings)
    figures = {path.stem for path in (tmp_path / "o/figures").iterdir()}
    own = ("3a", "3b", "10a", "10b", "11a", "11b", "12", "13a", "13b")
    of_the_bench = ("6", "7a", "7b", "8a", "8b")
    assert {*(f"figure-{number}" for number in (*own, *of_the_bench))} <= figures
    check_charts(tmp_path / "o/report.html")
    page = (tmp_path / "o/report.html").read_text()
    for reading in DATA.readings.values():
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
