"""The reproduction of the MBM paper: its arithmetic by hand, and the whole of it on a tiny load."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reprieve_studies.compress import Compression
from reprieve_studies.frame import Claim
from reprieve_studies.loads import sizes
from reprieve_studies.logged import Latencies, latencies
from reprieve_studies.mbm import claims, runs
from reprieve_studies.mbm.claims import (
    CHIPS,
    MEASURES,
    measure,
    tails,
)
from reprieve_studies.mbm.runs import (
    BASE,
    DATA,
    LIMIT,
    MAIN,
    MBM,
    METRICS,
    PERCENTILES,
    PLAIN,
    SPRINKLER,
    TAIL,
    TBM,
    Measured,
    Outcome,
    Plan,
    Spot,
    counterparts,
)
from reprieve_studies.papers import reproduce
from reprieve_studies.runs import bench

from .drive import Reprieve
from .vega import check_charts

LOADS = list(DATA["loads"])
SEEDS = (1, 2, 3, 4, 5)
NAMED = {claim.name: claim for claim in DATA.claims if claim.name}


@pytest.mark.parametrize(
    ("mean_kib", "expected"),
    [
        (40.91, [[32768, 72.1562], [65536, 27.8438]]),
        (8.59, [[8192, 92.625], [16384, 7.375]]),
        (16.0, [[16384, 100.0], [32768, 0.0]]),
    ],
)
def test_two_sizes_have_the_mean_of_table_2(mean_kib: float, expected: list[list[float]]) -> None:
    found = sizes(mean_kib)
    assert np.allclose(found, expected, rtol=0, atol=2e-4)


def test_the_counterparts_are_those_of_table_2() -> None:
    found = {load.trace: load for load in counterparts({})}
    assert list(found) == list(LOADS)
    assert len({load.seed for load in found.values()}) == len(found)
    for name, load in found.items():
        assert load.label != name
        assert load.workload["read_fraction"] == pytest.approx(
            DATA["loads"][name][2] / 100, abs=1e-4
        )
        for at, kind in enumerate(("read", "write")):
            if name != "Financial":
                pairs = load.workload[f"{kind}_request_bytes"]
                mean = sum(size * share for size, share in pairs) / 100 / 1024
                assert mean == pytest.approx(DATA["loads"][name][at], abs=1e-4)


def test_percentiles_need_ten_requests_beyond_them() -> None:
    # Of 1 to 1000 the p99 is the 990th; ten are beyond it, and one beyond p99.9.
    found = latencies(np.arange(1000, 0, -1, dtype=np.float64), PERCENTILES)
    assert (found.requests, found.mean_us) == (1000, 500.5)
    assert found.percentiles_us["95.0"] == 950.0
    assert found.percentiles_us["99.0"] == 990.0
    assert found.percentiles_us["99.5"] is None
    assert latencies(np.arange(1.0, 1000.0), PERCENTILES).percentiles_us["99.0"] is None
    assert math.isnan(latencies(np.array([]), PERCENTILES).mean_us)


def run(mean_us: float, *, mb_per_s: float = 1, erases: int = 100, tail_us: float = 0) -> Measured:
    """Return a run whose reads, writes and percentiles are what they are told to be."""
    one = Latencies(10**7, mean_us, dict.fromkeys(map(str, PERCENTILES), tail_us or mean_us))
    counts = {"mb_per_s": mb_per_s, "erases": erases}
    return Measured(dict.fromkeys(("read", "write", "total"), one), counts)


def outcome(found: dict[Spot, Measured]) -> Outcome:
    """Return an outcome of these runs under the paper's loads."""
    plan = Plan(counterparts({}), 1000, chips=CHIPS, tail_times=1, seeds=SEEDS)
    of_seeds = {spot._replace(seed=seed): one for spot, one in found.items() for seed in SEEDS}
    return Outcome(plan, {}, of_seeds)


def by_hand() -> Outcome:
    """TBM has 100 µs under every load; MBM half of it, but 107.5 under src1_2."""
    found = {}
    for load in LOADS:
        for chips in CHIPS:
            of_mbm = 107.5 if load == "src1_2" else 50.0
            sprinkler = 218.0 if load == "src1_2" else 90.0
            # With more chips TBM and Sprinkler are faster, and MBM stays as it is.
            for name, mean_us in ((TBM, 100.0), (SPRINKLER, sprinkler)):
                found[Spot(MAIN, load, name, chips)] = run(mean_us * 2 / chips)
            erases = 500 if load == "MSNFS" else 104 if load == "usr_0" else 102
            found[Spot(MAIN, load, MBM, chips)] = run(of_mbm, erases=erases)
        for name, mb_per_s in ((TBM, 10.0), (SPRINKLER, 15.0), (PLAIN, 12.0)):
            found[Spot(LIMIT, load, name)] = run(1, mb_per_s=mb_per_s)
        found[Spot(LIMIT, load, MBM)] = run(1, mb_per_s=30.0 if load == "usr_0" else 14.0)
        for name, tail_us in ((TBM, 30.0), (SPRINKLER, 22.0), (MBM, 20.0)):
            found[Spot(TAIL, load, name)] = run(1, tail_us=tail_us)
    return outcome(found)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Five halves and 1.075: the mean is 0.595833.
        ("response_reduction", 100 * (1 - (5 * 0.5 + 1.075) / 6)),
        ("response_reduction_most", 50.0),
        ("sprinkler_src", 2.18),
        ("mbm_src", 7.5),
        ("mbm_faster", 5),
        ("sprinkler_faster", 5),
        ("reduction_2", 100 * (1 - (5 * 0.5 + 1.075) / 6)),
        # TBM has 25 µs with eight chips.
        ("reduction_8", 100 * (1 - (5 * 2 + 4.3) / 6)),
        ("tbm_fewer_chips", 4.0),
        ("sprinkler_fewer_chips", 4.0),
        ("mbm_fewer_chips", 1.0),
        # Alike with all: the first.
        ("mbm_best_chips", 2),
        # At two chips faster than both (0.596 of TBM with two against 1 and 1.113), with four
        # (0.5 and 0.557) and eight than neither.
        ("faster_at_all_chips", 2),
        ("saturated_most", 3.0),
        ("saturated_mean", (3.0 + 5 * 1.4) / 6),
        ("implied_most", 2.0),
        ("implied_mean", (5 * 2 + 1 / 1.075) / 6),
        # 14 is below the 15 of Sprinkler.
        ("saturated_best", 1),
        ("saturated_sprinkler", 6),
        ("plain_above_tbm", 6),
        ("plain_above_sprinkler", 0),
        ("erases_mean", (4 + 4 * 2) / 5),
        ("erases_most", 4.0),
        ("msnfs_erases", 5.0),
        ("reading_erases_more", 396.0),
        ("sprinkler_msnfs_tail", 1.1),
    ],
)
def test_measures_by_hand(name: str, expected: float) -> None:
    assert measure(by_hand(), NAMED[name]) == pytest.approx(expected)


def test_every_claim_has_its_measure_and_a_verdict() -> None:
    assert {claim.measure for claim in DATA.claims} == {
        *MEASURES,
        *METRICS,
        "normalised",
        "tails",
    } - {"read_us", "write_us"}
    found = {verdict.claim: verdict for verdict in claims.verdicts(by_hand())}
    # 26 with a number, six orders of percentiles.
    assert len(found) == len(DATA.claims) == 26 + 6
    most = found["the same, the best load"]
    assert (most.paper, most.ours, most.tolerance, most.reproduced) == (66.8, 50.0, 10.0, False)
    assert found["src1_2: response of Sprinkler over that of TBM"].reproduced is True


def verdict_of(found: Outcome, claim: Claim) -> Any:
    """Return the verdict on a claim."""
    at = DATA.claims.index(claim)
    return claims.verdicts(found)[at]


def with_runs(found: Outcome, runs: dict[Spot, Measured]) -> Outcome:
    """Return an outcome in which some runs are others, with every seed."""
    of_seeds = {spot._replace(seed=seed): one for spot, one in runs.items() for seed in SEEDS}
    return replace(found, runs={**found.runs, **of_seeds})


def of_requests(own: Measured, count: int) -> Measured:
    """Return a run of fewer requests."""
    few = {op: replace(one, requests=count) for op, one in own.latencies.items()}
    return replace(own, latencies=few)


def test_tails_are_counted_where_there_are_enough_requests() -> None:
    claim = next(
        one for one in DATA.claims
        if one.measure == "tails" and one.options["rival"] == SPRINKLER
        and one.options["percentiles"] == [99.0, 99.9, 99.99, 99.999]
    )  # fmt: skip
    found = by_hand()
    verdict = verdict_of(found, claim)
    assert (verdict.paper, verdict.ours, verdict.reproduced) == (16, 16, True)
    # Of a million requests ten are beyond p99.999, and a hundred beyond p99.99.
    spot = Spot(TAIL, "Financial", SPRINKLER)
    few = with_runs(found, {spot: of_requests(found.runs[spot], 10**6)})
    assert {case for case, holds in tails(few, claim).items() if not holds} == {
        ("Financial", op, 99.999) for op in ("read", "write")
    }
    verdict = verdict_of(few, claim)
    assert (verdict.paper, verdict.ours, verdict.reproduced) == (14, 14, True)
    assert "2 further ones rest on fewer than 100 requests" in verdict.note
    # With one seed Sprinkler's are shorter under a load: eight of sixteen.
    other = {spot._replace(seed=3): run(1, tail_us=19.0)}
    mixed = replace(found, runs={**found.runs, **other})
    verdict = verdict_of(mixed, claim)
    assert verdict.ours == pytest.approx((4 * 16 + 8) / 5)
    assert verdict.undecided
    assert "not with every seed for Financial read p99, " in verdict.note
    # Without the runs there is no verdict.
    none = replace(found, plan=replace(found.plan, tail_times=0))
    assert verdict_of(none, claim).undecided
    similar = verdict_of(none, NAMED["sprinkler_msnfs_tail"])
    assert similar.lack == "its runs are left out"


def test_one_seed_decides_nothing() -> None:
    found = by_hand()
    one = replace(found, plan=replace(found.plan, seeds=(1,)))
    assert verdict_of(one, NAMED["mbm_faster"]).lack == "1 of 5 seeds"
    assert verdict_of(found, NAMED["mbm_faster"]).reproduced is True


def test_claims_about_more_chips_need_their_runs() -> None:
    found = by_hand()
    few = replace(found, plan=replace(found.plan, chips=(2, 8)))
    for name in ("mbm_best_chips", "faster_at_all_chips"):
        assert verdict_of(few, NAMED[name]).undecided
    for name in ("reduction_8", "tbm_fewer_chips", "response_reduction"):
        assert verdict_of(few, NAMED[name]).reproduced is not None


def test_a_claim_of_erases_rests_on_a_hundred() -> None:
    found = by_hand()
    # TBM has 100 under every load.
    assert verdict_of(found, NAMED["erases_mean"]).lack == ""
    spot = Spot(MAIN, "MSNFS", TBM)
    few = with_runs(found, {spot: run(100.0, erases=99)})
    verdict = verdict_of(few, NAMED["erases_mean"])
    assert (verdict.undecided, verdict.lack) == (True, "99 of 100 erases under a load")
    assert verdict_of(few, NAMED["sprinkler_src"]).lack == ""


@pytest.mark.parametrize("name", ["sprinkler_src", "saturated_mean"])
def test_a_claim_of_means_rests_on_a_hundred_requests(name: str) -> None:
    claim, found = NAMED[name], by_hand()
    # Every run has ten million, but one under one load has 99.
    series, other = (MAIN, LIMIT) if name == "sprinkler_src" else (LIMIT, MAIN)
    spots = {Spot(series, "MSNFS", TBM): 99, Spot(other, "MSNFS", TBM): 1}
    few = with_runs(found, {spot: of_requests(found.runs[spot], n) for spot, n in spots.items()})
    assert verdict_of(few, claim).lack == "99 of 100 requests under a load"


def test_rows_that_hold_without_any_effect_do_not_count() -> None:
    found = {verdict.claim: verdict for verdict in claims.verdicts(by_hand())}
    # If MBM were TBM it would take 0 % longer: within ten points of 7.5, not of 43.6.
    assert found["src1_2: response of MBM above that of TBM"].null_model is True
    assert found["MBM shortens the mean response of TBM, average of six loads"].null == 0.0
    assert found["MBM shortens the mean response of TBM, average of six loads"].counts
    assert found["loads other than src1_2 under which MBM responds faster than TBM"].null == 0.0


def test_a_reading_that_leaves_a_scheme_as_it_is_takes_the_base() -> None:
    found = {Spot(BASE, load, name): run(100.0) for load in LOADS for name in (TBM, SPRINKLER)}
    found |= {Spot("ips", load, MBM): run(70.0) for load in LOADS}
    assert outcome(found).over_tbm(MBM, series="ips").mean == pytest.approx(0.7)
    alone = {name for name, one in DATA.readings.items() if runs.of_mbm_alone(one)}
    others = {"chosen", "through", "large", "spare", "stubborn", "light", "heavy"}
    assert alone == set(DATA.readings) - others
    # The chosen one has no buffer, for no scheme; what is printed of MBM is MBM's alone.
    base = DATA.readings[BASE]
    assert set(runs.sets_of(base, TBM)) == {"buffer.acknowledge", "buffer.bytes"}
    assert runs.sets_of(base, MBM) == base.sets


def test_what_another_reading_gives_is_the_cause() -> None:
    found = by_hand()
    base = {spot._replace(series=BASE): one for spot, one in found.runs.items()
            if spot.series == MAIN and spot.chips == 2}  # fmt: skip
    # Under one reading MBM takes a third of TBM's time: 66.7 % less, under every load.
    fast = {Spot("large", load, name): run(us) for load in LOADS
            for name, us in ((TBM, 100.0), (SPRINKLER, 100.0), (MBM, 100 / 3))}  # fmt: skip
    plan = replace(found.plan, readings=[DATA.readings["large"]])
    every = with_runs(replace(found, plan=plan), {**base, **fast})
    verdict = verdict_of(every, NAMED["response_reduction_most"])
    assert (verdict.reproduced, verdict.cause) == (False, "reading")
    assert verdict.note == "a buffer of 16 MiB: 66.67 %"


def shrink(monkeypatch: pytest.MonkeyPatch, **drive: Any) -> None:
    """Make all drives two channels of few short blocks, with these keys besides."""
    for key, value in {"geometry.channels": 2, "geometry.blocks_per_plane": 40, **drive}.items():
        monkeypatch.setitem(DATA["drive"], key, value)
    for form, pages in (("full", 16), ("quick", 8)):
        monkeypatch.setitem(DATA["plan"][form], "pages_per_block", pages)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Full drives that collect in their run: a run-in would be four fifths of it."""
    shrink(monkeypatch, **{"ftl.precondition": "sequential"})


@pytest.fixture
def run_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drives that are brought to their steady state, as in the study."""
    assert DATA["drive"]["ftl.precondition"] == "steady"
    shrink(monkeypatch)


@pytest.mark.seconds(29)
@pytest.mark.usefixtures("small")
def test_the_whole_of_it(tmp_path: Path) -> None:
    verdicts = reproduce("mbm", requests=1000, out=tmp_path / "o")
    written = json.loads((tmp_path / "o/verdicts.json").read_text())
    assert [row["claim"] for row in written] == [verdict.claim for verdict in verdicts]
    assert all(row["paper"] is not None for row in written)
    numbers = json.loads((tmp_path / "o/numbers.json").read_text())
    assert numbers["tally"]["claims"] == sum(verdict.counts for verdict in verdicts)
    figures = {path.stem for path in (tmp_path / "o/figures").iterdir()}
    numbered = {f"figure-{number}" for number in ("8", "9", "10", "11", "12a", "12b", "13a", "13b")}
    assert figures == numbered
    check_charts(tmp_path / "o/report.html")
    page = (tmp_path / "o/report.html").read_text()
    for reading in DATA.readings.values():
        assert reading.title in page
    for scheme in DATA["apart"]:
        assert scheme in page
    for label in ("usr-like", "fin-like", "msnfs-like"):
        assert label in page


@pytest.mark.seconds(30)
@pytest.mark.usefixtures("run_in")
def test_the_quick_form_says_what_it_leaves_out(tmp_path: Path) -> None:
    verdicts = reproduce("mbm", requests=1000, quick=True, out=tmp_path / "o")
    page = (tmp_path / "o/report.html").read_text()
    assert "other readings, and Figures 9, 12 and 13" in page
    # No claim is lost with what is left out.
    assert {row.claim for row in verdicts} >= {claim.claim for claim in DATA.claims}


SCALE = Compression(0.1, 0.8, 0.7, 1)


@pytest.mark.usefixtures("small")
def test_every_run_is_of_its_scheme() -> None:
    readings = [DATA.readings["ips"], DATA.readings["heavy"]]
    plan = Plan(counterparts({})[:1], 1000, chips=CHIPS, readings=readings)
    scales = {(BASE, "usr_0", 1): SCALE, ("heavy", "usr_0", 1): replace(SCALE, time_scale=0.05)}
    jobs = runs.list_jobs(plan, scales)
    eight = jobs[Spot(MAIN, "usr_0", MBM, 8)].setup.overrides
    assert (eight["geometry.dies_per_channel"], eight["geometry.chips_per_channel"]) == (16, 8)
    assert (eight["policy"], eight["ftl.gc_stream"]) == ("pes-ipc", "separate")
    assert jobs[Spot("ips", "usr_0", MBM)].setup.overrides["policy"] == "pes-ips"
    assert Spot("ips", "usr_0", TBM) not in jobs
    paces = {name: jobs[Spot(name, "usr_0", TBM)].setup.overrides["workload.time_scale"]
             for name in (BASE, "heavy", MAIN)}  # fmt: skip
    assert paces == {BASE: 0.1, "heavy": 0.05, MAIN: 0.1}
    # Every scheme has the same buffer; who suspends is turned round in two more.
    for name in (TBM, SPRINKLER, MBM):
        assert jobs[Spot(MAIN, "usr_0", name)].setup.overrides["buffer.acknowledge"] == "back"
    apart = {name: jobs[Spot(MAIN, "usr_0", name)].setup.overrides for name in DATA["apart"]}
    assert {name: one["policy"] for name, one in apart.items()} == {
        "TBM, suspending": "pes-ipc", "MBM, not suspending": "rps",
    }  # fmt: skip
    assert apart["TBM, suspending"]["ftl.twin_blocks"]
    limit: Any = jobs[Spot(LIMIT, "usr_0", TBM)].setup
    assert (limit.scenario["workload"]["arrivals"], limit.scenario["workload"]["queue_depth"]) == (
        "closed",
        32,
    )
    assert "rate_iops" not in limit.scenario["workload"]
    assert "workload.time_scale" not in limit.overrides
    # Runs that differ in their length alone start from one state.
    base, main = (jobs[Spot(series, "usr_0", TBM)] for series in (BASE, MAIN))
    assert base.setup.run != main.setup.run
    assert base.settled is not None and main.settled is not None
    assert base.settled.run == main.settled.run
    other = jobs[Spot(MAIN, "usr_0", SPRINKLER)].settled
    assert other is not None and other.run != main.settled.run
    assert jobs[Spot(MAIN, "usr_0", MBM)].settled is None


@pytest.mark.usefixtures("small")
def test_a_drive_that_is_brought_to_its_state_for_several_runs_is_what_each_would_have() -> None:
    plan = Plan(counterparts({})[:1], 1000, pages_per_block=16, readings=[DATA.readings["ips"]])
    every = runs.list_jobs(plan, {(BASE, "usr_0", 1): SCALE})
    jobs = {spot: job for spot, job in every.items()
            if spot in {Spot(series, "usr_0", TBM) for series in (MAIN, BASE)}}  # fmt: skip
    assert len(jobs) == 2
    with bench(None, 1) as engine:
        together = engine.texts("", jobs)
    alone = {spot: json.loads(runs.measured(job.setup.simulate(requests=True)))
             for spot, job in jobs.items()}  # fmt: skip
    assert together == alone


def test_a_mistake_is_one_sentence(reprieve: Reprieve, tmp_path: Path) -> None:
    for arguments, sentence in (
        (["--requests", "10"], "--requests 10: must be at least 1000"),
        (
            ["--trace", "F1=x.spc"],
            "--trace F1=x.spc: must be one of usr_0, stg_0, web_0, src1_2, Financial, MSNFS",
        ),
        (
            ["--trace", "MSNFS=none.csv"],
            "--trace MSNFS=none.csv: there is no such file; name a trace",
        ),
    ):
        done = reprieve("reproduce", "mbm", *arguments)
        assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", sentence)
    assert list(tmp_path.iterdir()) == []
