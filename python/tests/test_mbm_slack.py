"""The slack of collection under MBM and its rivals: what one free block more may change."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.scenario import Source
from reprieve_studies.mbm import experiment, loads, slack
from reprieve_studies.mbm.experiment import SLACK, Outcome, Plan, Spot
from reprieve_studies.mbm.paper import LOADS
from reprieve_studies.mbm.readings import MBM, SLACK_SCHEMES, SLACKS, TBM

from .test_mbm import run

DATA = Path(__file__).resolve().parents[2] / "docs/figures/data"
BLOCKS = 64
START_BLOCKS = 4
"""The device's 0.05 of 64 blocks, rounded up."""
LOAD = "usr_0"
REQUESTS = 4_000
DISPATCHERS: dict[str, dict[str, Any]] = {
    "Sprinkler": {"scheduling.dispatch": "sprinkler", "policy": "rps"},
    "PAQ": {"scheduling.dispatch": "paq", "policy": "rps"},
    "Slacker": {"scheduling.dispatch": "slacker", "policy": "rps"},
    "MBM": {
        "scheduling.dispatch": "mbm",
        "ftl.gc_stream": "separate",
        "policy": "pes-ipc",
    },
}


def means_ns(settings: dict[str, Any], further_blocks: int, speed: float) -> dict[str, float]:
    """Run the load on the steady drive of the paper; means of what arrives after the first 30 %."""
    counterpart = next(load for load in loads.papers({}) if load.trace == LOAD)
    overrides = {
        "geometry.blocks_per_plane": BLOCKS,
        "geometry.pages_per_block": 128,
        "ftl.over_provisioning": 0.3,
        "ftl.precondition": "steady",
        "ftl.gc_start_free_share": (START_BLOCKS + further_blocks) / BLOCKS,
        "workload.footprint_share": 1.0,
        "workload.time_scale": 1 / speed,
        "measure.from_request": REQUESTS * 3 // 10,
        **settings,
    }
    scenario = {"device": "mbm", "seed": counterpart.seed,
                "workload": {**counterpart.workload, "requests": REQUESTS}}  # fmt: skip
    of = rp.run(scenario, **overrides).summary["requests"]
    found = {op: (of[op]["count"], of[op]["latency_ns"]["mean"]) for op in ("read", "write")}
    count = sum(own for own, _ in found.values())
    total = sum(own * mean for own, mean in found.values()) / count
    return {"total": total, **{op: mean for op, (_, mean) in found.items()}}


@pytest.mark.parametrize("name", DISPATCHERS)
def test_one_block_moves_no_mean_but_those_that_the_report_names(name: str) -> None:
    speeds, own = (
        json.loads((DATA / file).read_text(encoding="utf-8"))[key]
        for file, key in (("mbm.json", "speeds"), ("mbm-slack.json", "loads"))
    )
    jumps_of_first = own[LOAD]["jumps_by_seed"][0]
    named = {(jump["op"], jump["slack"]) for jump in jumps_of_first if jump["scheme"] == name}
    runs = [means_ns(DISPATCHERS[name], blocks, speeds[LOAD]) for blocks in range(5)]
    jumps = {
        (op, blocks): after[op] / before[op]
        for blocks, (before, after) in enumerate(pairwise(runs))
        for op in before
        if not 1 / 1.25 <= after[op] / before[op] <= 1.25
    }
    assert jumps.keys() <= named, jumps


def course(**changed: list[float]) -> dict[str, list[float]]:
    """Return means that no slack changes, but for those that are told."""
    return {op: [80.0] * 5 for op in slack.OPS} | changed


def certain(*means: float) -> list[list[float | None]]:
    """Return multiples whose intervals reach from .9 to 1.1 times their mean."""
    return [[mean, 0.9 * mean, 1.1 * mean] for mean in means]


def test_the_sentence_names_every_jump_by_hand() -> None:
    # 126/100 is beyond 1.25, and 125/100 is not; 125/126 is nothing; 125 to 99 is a fall to 0.792,
    # whose reciprocal is 1.263; 99 to 79.2 is one of 1.25 exactly.
    jumping = course(write=[100, 126, 125, 99, 79.2])
    within = course(read=[100, 125, 100, 80, 64])
    found = slack.sentence({MBM: jumping, TBM: within}, certain(1.5, 1.25, 1.2, 1.15, 1.3))
    assert found == (
        "One block more changes a mean by more than 25 %: MBM, writes, from +0 to +1: × 1.26; "
        "MBM, writes, from +2 to +3: × 0.79. The mean of MBM is longer than that of TBM with "
        "every slack of +0 to +4, and so is the whole interval: × 1.15 to 1.50."
    )
    assert slack.jumps({MBM: jumping}) == [
        slack.Jump(MBM, "write", 0, 1.26),
        slack.Jump(MBM, "write", 2, 0.792),
    ]


def test_the_sentence_says_that_there_is_no_jump_and_what_turns() -> None:
    found = slack.sentence({MBM: course(), TBM: course()}, certain(1.2, 0.8))
    assert found == (
        "One block more changes no mean by more than 25 %. Whether the mean of MBM is longer than "
        "that of TBM turns on the slack: × 1.20 (1.08 to 1.32) at +0, 0.80 (0.72 to 0.88) at +1."
    )
    shorter = slack.sentence({}, certain(0.5, 0.6))
    assert "MBM is shorter than that of TBM with every slack of +0 to +1, and so" in shorter
    # 1.05 less a tenth is .945: that interval holds one.
    open_ = slack.sentence({}, certain(1.5, 1.05))
    assert "seeds do not show at every slack whether the mean of MBM is longer" in open_
    assert not slack.same_sign(certain(1.5, 1.05))


def test_numbers_are_geometric_means_over_loads_and_seeds_by_hand() -> None:
    # Under usr_0 MBM has 400 µs at +0 and half of it from +1 on, with the second seed 1,600 and
    # 800; all else has 100. The sixth roots of 4 and 16 are 1.2599 and 1.5874, whose geometric
    # mean is the sixth root of 8, 2 ** .5.
    plan = Plan(loads.papers({}), [], 1000, slack_drafts=2)
    runs = {}
    for load in LOADS:
        for scheme in SLACK_SCHEMES:
            for blocks in SLACKS:
                for draft in plan.drafts_of_slack(scheme):
                    mean_us = 100.0
                    if (scheme, load) == (MBM, "usr_0"):
                        mean_us = (400.0, 1600.0)[draft] / (2 if blocks else 1)
                    spot = Spot(SLACK, load, scheme, slack=blocks, draft=draft)
                    runs[spot] = run(mean_us)
    found = slack.numbers(Outcome(plan, {}, runs))
    half = 2 ** (-1 / 6)
    means = [one[0] for one in found["mbm_over_tbm"]]
    assert means == pytest.approx([2**0.5, *[2**0.5 * half] * 4])
    # Logarithms are ln 2 (2/6, 4/6), their deviation √2 ln 2 / 6; Student's quantile for two is
    # 12.706, and half the interval 12.706 · ln 2 / 6 = 1.4679, a factor of 4.340.
    assert found["mbm_over_tbm"][0][2] == pytest.approx(2**0.5 * 4.340, rel=1e-3)
    assert found["mbm_over_tbm"][0][1] == pytest.approx(2**0.5 / 4.340, rel=1e-3)
    assert found["over_chosen"][MBM]["read"] == pytest.approx([1, *[half] * 4])
    assert found["sprinkler_over_tbm"] == [pytest.approx([1, 1, 1])] * 5
    assert found["same_sign"]["mbm_over_tbm"] is False
    of_load = found["loads"]["usr_0"]
    for jumps in (of_load["jumps"], *of_load["jumps_by_seed"]):
        assert [tuple(one.values())[:3] for one in jumps] == [(MBM, op, 0) for op in slack.OPS]
        assert [one["ratio"] for one in jumps] == pytest.approx([0.5] * 3)
    assert found["jumps"] == []
    assert of_load["means_us"][MBM]["total"] == pytest.approx([800, *[400] * 4])


def test_every_scheme_has_the_slack_that_its_run_says() -> None:
    plan = Plan(loads.papers({})[:1], [], 1000, slack_drafts=1)
    slacks = {}
    for job in experiment.list_jobs(plan, None):
        if job.spot.series == SLACK:
            text = Source.of(job.setup.scenario, job.setup.overrides).resolve()
            (said,) = re.findall(r"a slack of (\d+)\.", text)
            slacks[job.spot.scheme, job.spot.slack] = int(said)
    # Collection begins at four blocks, or five with another open block; two are reserved.
    assert slacks == {(scheme, blocks): 2 + blocks for scheme in SLACK_SCHEMES for blocks in SLACKS}
