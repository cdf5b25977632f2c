"""Every claim of the MBM study under other readings, and which of them comes nearest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprieve_studies.mbm import causes, loads, wholes
from reprieve_studies.mbm.experiment import LIMIT, MAIN, Plan, Spot
from reprieve_studies.mbm.paper import LOADS
from reprieve_studies.mbm.readings import MBM, TBM

from .test_mbm import run


def test_a_bound_of_what_dispatch_can_give_by_hand() -> None:
    # Dies that are busy for 80 % of the time, with half of their pages in pairs: 1.5 / 0.8 times as
    # much; at 100 % and all in pairs no more than it is. MBM has 0.9 and 0.5 of TBM.
    tbm = {"mb_per_s": 100.0, "die_busy_percent": 80.0, "joint_percent": 50.0}
    full = {"mb_per_s": 100.0, "die_busy_percent": 100.0, "joint_percent": 100.0}
    limit = {"a": {TBM: tbm, MBM: {"mb_per_s": 90.0}}, "b": {TBM: full, MBM: {"mb_per_s": 50.0}}}
    found = causes.of_bounds(limit)
    most, mean = found["saturated_most"], found["saturated_mean"]
    assert [most.chosen, most.gives] == pytest.approx([0.9, 1.875])
    assert most.share == pytest.approx((1.875 - 0.9) / (3.0 - 0.9))
    assert [mean.chosen, mean.gives] == pytest.approx([0.7, 1.4375])
    assert causes.cause_of("saturated_most", found)[0] == "ill_posed"
    # Half as busy, TBM leaves room for 3.75 times as much: the paper's 3 are within reach.
    idle = {**tbm, "die_busy_percent": 40.0}
    assert causes.of_bounds({"a": {TBM: idle, MBM: {"mb_per_s": 90.0}}}) == {}


def nearest(what: str, share: float, *, is_bound: bool = False) -> causes.Nearest:
    """Return what covers such a share of the distance."""
    return causes.Nearest("saturated_most", what, "reading", 1.0, 2.0, share,
                          reproduces=False, is_bound=is_bound)  # fmt: skip


def best(*each: causes.Nearest) -> str:
    """Return which of them is taken."""
    return causes.nearest_of(*({one.measure: one} for one in each))["saturated_most"].what


def test_the_nearest_of_all_is_taken_and_a_bound_where_nothing_covers_half() -> None:
    near, far = nearest("near", 0.7), nearest("far", 0.2)
    past, bound = nearest("past", 1.4), nearest("bound", 0.3, is_bound=True)
    assert best(far, near, past) == "near"
    assert best(past, far) == "past"
    assert best(far, near, bound) == "near"
    assert best(far, bound) == "bound"


def test_a_reading_is_run_for_every_claim_of_the_schemes_that_it_changes() -> None:
    plan = Plan(loads.papers({}), [], 0)
    jobs = wholes.list_jobs(plan, dict.fromkeys(LOADS, 0.5), wholes.Extent(12, 4, 60))
    found = {one.name: [at for at in jobs if at.reading == one.name] for one in wholes.WHOLE}
    # Of a scheme: six loads at the limit, with 12 requests, and with three numbers of chips; two of
    # tails. Of the page-level FTL the limit alone.
    assert {name: len(own) for name, own in found.items()} == {
        "base": 3 * 32 + 6, "printed": 32, "printed-die": 32, "shared": 32, "loose": 32,
        "buffer": 3 * 32 + 6,
    }  # fmt: skip
    assert {at.spot.scheme for at in found["loose"]} == {TBM}
    setup = jobs[wholes.At("buffer", wholes.FEW_CHIPS, Spot(MAIN, "usr_0", MBM, 8))].setup
    workload = setup.scenario["workload"]
    assert (workload["requests"], setup.overrides["workload.time_scale"]) == (4, 0.5)
    assert setup.overrides["buffer.acknowledge"] == "back"
    assert setup.overrides["geometry.chips_per_channel"] == 8
    limit = jobs[wholes.At("loose", wholes.CHOSEN, Spot(LIMIT, "usr_0", TBM))].setup
    assert limit.overrides["ftl.twin_blocks"] is False
    assert "workload.time_scale" not in limit.overrides


def test_what_a_reading_changes_stands_beside_what_it_leaves_by_hand() -> None:
    # As chosen TBM and MBM take 100 and 150 µs; MBM as printed takes 60.
    plan = Plan(loads.papers({}), [], 0, events_min=30)
    runs = {}
    for at in wholes.list_jobs(plan, dict.fromkeys(LOADS, 1.0), wholes.Extent()):
        mean_us = 150.0 if at.spot.scheme == MBM else 100.0
        if at.reading == "printed":
            mean_us = 60.0
        own = run(mean_us)
        many = {op: replace(one, requests=10**8) for op, one in own.latencies.items()}
        runs[at] = replace(own, latencies=many)
    found = wholes.numbers(wholes.assemble(plan, runs))
    for measure in ("response_reduction", "reduction_8"):
        assert found["as chosen"][measure] == pytest.approx(-50)
        assert found["MBM as printed"][measure] == pytest.approx(40)
        assert found["TBM without superblocks"][measure] == pytest.approx(-50)
    # Every percentile of MBM is then shorter than those of TBM, and was longer.
    assert (found["as chosen"]["tail_0"], found["MBM as printed"]["tail_0"]) == (0, 100)
    nearest_of = causes.of_wholes(found, "as chosen")
    one = nearest_of["response_reduction"]
    assert one.what == "MBM as printed"
    assert [one.chosen, one.gives] == pytest.approx([-50, 40])
    # From -50 to the paper's 43.6 are 93.6, of which it covers 90.
    assert one.share == pytest.approx(90 / 93.6)
    rows = {row["measure"]: row for row in causes.rows(nearest_of.values())}
    assert (rows["tail_0"]["share_percent"], rows["tail_0"]["cause"]) == (100, "reading")
    # TBM with two chips is as slow as with eight, as chosen and in any reading, which the claim
    # allows: so whatever denies it in longer runs is no reading.
    assert (rows["tbm_fewer_chips"]["cause"], rows["tbm_fewer_chips"]["chosen"]) == ("load", 1)
    # 29 erases decide nothing of a claim that counts them.
    few = {at: replace(run, erases=29) for at, run in runs.items()}
    assert wholes.numbers(wholes.assemble(plan, few))["as chosen"]["erases_mean"] is None
