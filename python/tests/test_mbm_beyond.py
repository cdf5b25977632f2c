"""What the MBM study compares seed by seed: its arithmetic by hand, and what is run."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest

from reprieve.plot import LIGHT
from reprieve_studies.charts import Dots
from reprieve_studies.mbm import beyond, causes, formulas, inside, limits, loads, regimes
from reprieve_studies.mbm.experiment import Plan
from reprieve_studies.mbm.measured import Measured, latencies
from reprieve_studies.mbm.paired import Case, ends, numbers_of, ratio, verdict, words
from reprieve_studies.mbm.paper import LOADS
from reprieve_studies.mbm.readings import MBM, READINGS, SPRINKLER, TBM
from reprieve_studies.mbm.regimes import ALONE, CELLS, Cell, of_policy

NONE = dict.fromkeys(("read", "write", "total"), latencies(np.zeros(0)))


def run(mb_per_s: float, *, erases: int = 100, gc_waf: float = 2.0) -> Measured:
    """Return a run of this bandwidth."""
    return Measured(NONE, mb_per_s, erases, gc_waf, 0.0, 0.0, 50.0, 0.0)


def test_a_ratio_is_paired_by_seed_and_place() -> None:
    # Seed 1: 2 and 8, geometric mean 4; seed 2: 3 and 3. Their logarithms have the mean
    # log 12 / 2 and the deviation log(4/3) / sqrt 2; Student's quantile for two is 12.706.
    speeds = {(1, "a"): (2.0, 1.0), (1, "b"): (16.0, 2.0), (2, "a"): (9.0, 3.0), (2, "b"): (6.0, 2)}
    cases = {
        Case("s", place, policy, seed): run(speed)
        for (seed, place), both in speeds.items()
        for policy, speed in zip(("one", "other"), both, strict=True)
    }
    found = ratio(cases, ("s", "one"), ("s", "other"), ["a", "b"], "mb_per_s")
    assert found.mean == pytest.approx(sqrt(12))
    half = 12.706 * log(4 / 3) / sqrt(2) / sqrt(2)
    assert ends(found) == pytest.approx([sqrt(12), sqrt(12) / exp(half), sqrt(12) * exp(half)])
    # Nothing was read: no percentile and no mean to compare.
    assert ratio(cases, ("s", "one"), ("s", "other"), ["a"], "read p99").factor is None


def test_who_is_ahead_is_said_where_the_interval_says_so() -> None:
    assert [verdict(one) for one in ([1.2, 1.1, 1.3], [0.9, 0.8, 0.95], [1.1, 0.9, 1.3])] == [
        "yes", "no", "open"
    ]  # fmt: skip
    assert verdict([2.0, None, None]) == "open"
    assert words([1.234, 1.1, 1.361]) == "1.23 (1.10 to 1.36)"
    assert words([None, None, None]) == "–"


def test_the_share_of_collection_follows_from_write_amplification() -> None:
    # A WAF of 2 is half of the programs, one of 4 three quarters.
    cases = {Case("s", "a", "p", seed): run(10.0, gc_waf=2.0 * seed) for seed in (1, 2)}
    found = numbers_of(cases, "s", "a", "p")
    assert found["collection_percent"] == pytest.approx((50 + 75) / 2)
    assert found["erases"] == 200


def of_cell(cell: Cell, mbm: float, erases: int) -> dict[Case, Measured]:
    """Return a cell in which MBM has so many times the bandwidth of all others."""
    return {
        Case(regimes.SERIES, str(cell), of_policy(policy, way), seed):
            run((mbm if policy == MBM else 1.0) * (1 + seed / 1000), erases=erases)
        for policy in regimes.POLICIES
        for way in ("none", "IPC")
        for seed in (1, 2)
    }  # fmt: skip


def test_cells_are_counted_by_who_is_ahead() -> None:
    first, second, third = Cell("none", 8, 1), Cell("some", 8, 1), Cell("most", 8, 1)
    # The last rests on 2 x 14 erases, and is left out; without collection none are wanted.
    cases = of_cell(first, 2.0, 0) | of_cell(second, 0.5, 15) | of_cell(third, 2.0, 14)
    found = regimes.numbers(cases)
    assert regimes.tally(found, ALONE, MBM, "mb_per_s") == {"yes": 1, "no": 1, "open": 0}
    assert regimes.tally(found, ALONE, SPRINKLER, "mb_per_s")["yes"] == 0
    page = regimes.section(cases)
    assert [row[0] for row in page.tables[0].rows] == [str(first), str(second)]
    assert found[str(first)][ALONE]["MBM over Sprinkler"]["mb_per_s"][0] == pytest.approx(2)


def test_the_map_has_every_regime_once_a_seed() -> None:
    jobs = regimes.list_jobs(CELLS, [1, 2], None)
    assert len(CELLS) == 27
    assert len({job.case for job in jobs}) == len(jobs) == 27 * 4 * 2 * 2
    shapes = {job.setup.resolved().geometry.planes_per_die for job in jobs[:8]}
    assert shapes == {2}


def test_a_policy_has_one_colour_in_every_figure() -> None:
    first = Cell("none", 8, 1)
    palette = tuple(regimes.POLICIES)
    dots = Dots({("row", MBM): 1.0, ("row", SPRINKLER): 2.0}, "ratio", palette=palette)
    in_dots = dots.draw(LIGHT).to_dict()["layer"][1]["encoding"]["color"]["scale"]
    assert in_dots == {"domain": [MBM, SPRINKLER], "range": [LIGHT.runs[3], LIGHT.runs[2]]}
    drawn = regimes.figure(regimes.numbers(of_cell(first, 2.0, 0)), "mb_per_s").draw(LIGHT)
    layers = drawn.to_dict()["spec"]["layer"]
    panel = layers[0]["encoding"]["color"]["scale"]
    # TBM, to which all are relative, is a line at one.
    assert (palette[1], layers[-1]["encoding"]["y"]) == (TBM, {"datum": 1})
    assert layers[-1]["mark"]["color"] == LIGHT.runs[1]
    # The paper's average is drawn where the paper's comparison is.
    assert layers[-2]["transform"] == [{"filter": f"(datum.column === '{ALONE}')"}]
    assert layers[-2]["encoding"]["y"] == {"datum": 2.1}
    others = [0, 2, 3]
    assert panel == {"domain": [palette[one] for one in others],
                     "range": [LIGHT.runs[one] for one in others]}  # fmt: skip


def test_suspension_is_compared_within_the_same_arrivals() -> None:
    plan = Plan(loads.papers({}), [], 1000)
    jobs = inside.list_jobs(plan, None, [1, 2])
    assert len(jobs) == 6 * 4 * 2 * 2
    by_seed: dict[tuple[str, int], set[int]] = {
        (job.case.where, job.case.seed): set() for job in jobs
    }
    for job in jobs:
        by_seed[job.case.where, job.case.seed].add(job.setup.scenario["seed"])
    assert {len(seeds) for seeds in by_seed.values()} == {1}
    known = {(job.case.policy) for job in jobs}
    for one, other in inside.COMPARED.values():
        assert {inside.of_policy(*one), inside.of_policy(*other)} <= known


@pytest.mark.parametrize("policy", limits.POLICIES)
def test_every_reading_of_mbm_runs(policy: str) -> None:
    found = limits.setup(limits.LIMITS[-2], policy, 1, 200).simulate(lambda _share, _done: None)
    assert found.summary["requests"]["total"]["count"] == 200


def test_a_cache_register_keeps_the_channel_busy_in_case_3_alone() -> None:
    # 16 pages of 81.92 µs are 1310.72, which cover a program of 1300; ten are 819.2.
    assert formulas.channel_use(4, 4, cached=True) == 100.0
    assert formulas.channel_use(5, 2, cached=True) == pytest.approx(100 * 819.2 / 1300)


def readings(mbm: float, **others: float) -> dict[str, dict[str, dict[str, float]]]:
    """Return ratios that are the same under every load, by reading."""
    names = ("base", *(reading.name for reading in READINGS))
    return {
        name: {
            "mbm": dict.fromkeys(LOADS, others.get(name, mbm)),
            "sprinkler": dict.fromkeys(LOADS, 1.0),
        }
        for name in names
    }


def test_the_nearest_reading_is_named_with_its_share() -> None:
    # Chosen: 20 % longer, where the paper has 43.6 shorter. "buffer" is 40 % shorter: 60 of 63.6.
    found = causes.of_readings(readings(1.2, buffer=0.6, heavy=2.0))
    nearest = found["response_reduction"]
    assert (nearest.what, nearest.cause) == ("writes acknowledged in the buffer", "reading")
    assert nearest.share == pytest.approx(60 / 63.6)
    assert nearest.reproduces
    assert causes.cause_of("response_reduction", found)[0] == "reading"
    # 40 % is 60 of the 86.8 points to the 66.8 of the best load, and too far to reproduce it.
    best = found["response_reduction_most"]
    assert best.share == pytest.approx(60 / 86.8)
    assert not best.reproduces
    assert best.explains
    # Nothing moves Sprinkler.
    assert causes.cause_of("sprinkler_src", found)[0] is None
    assert causes.cause_of("plain_above_sprinkler", found)[0] == "contradiction"
    rows = {row["measure"]: row for row in causes.rows(found.values())}
    assert rows["response_reduction"]["share_percent"] == pytest.approx(100 * 60 / 63.6)


def test_a_substrate_is_a_cause_if_it_covers_half_of_the_distance() -> None:
    speeds: dict[str, dict[str, float | None]] = {
        "chosen": {MBM: 10.0, TBM: 10.0},
        "near": {MBM: 18.0, TBM: 10.0},
        "few": {MBM: None, TBM: 10.0},
    }
    found = causes.of_substrates(speeds, "chosen", (MBM, TBM))
    # 1.8 of 2.1 are 0.8 of 1.1, and of 3 only 0.8 of 2.
    assert found["saturated_mean"].share == pytest.approx(0.8 / 1.1)
    assert causes.cause_of("saturated_mean", found)[0] == "substrate"
    assert causes.cause_of("saturated_most", found)[0] is None


def test_the_pieces_are_as_many_as_are_done() -> None:
    plan = Plan(loads.papers({})[:1], [], 1000)
    extent = beyond.Extent(cells=CELLS[:2], seeds=(1, 5), requests=1000)
    # The map and the limits without the fifth seed. Without collection a drive needs no state; at
    # the limits TBM, MBM and MBM with victims one by one start from one each, under each load four
    # policies, with each seed.
    of_others = 2 * 4 * 2 + 7 * 11 + 3
    assert beyond.pieces(plan, extent) == of_others + 4 * 2 * 2 + 4 * 2
    assert beyond.pieces(replace(plan, papers=[]), extent) == of_others
