"""`reprieve reproduce deadline`: what is frozen, what is compared, and what its headline says."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import sqrt

import pytest

import reprieve as rp
from reprieve_studies.deadline import claims, page
from reprieve_studies.deadline.benches import DATA, Bench, dies, drives
from reprieve_studies.deadline.experiment import HEAVIER, Frozen, Outcome, Plan, freeze, run
from reprieve_studies.deadline.families import FAMILIES, NEVER, points
from reprieve_studies.deadline.measures import Measured, job
from reprieve_studies.study import Settings

ONE = Measured(
    late_share=0.0005, p99_9_us=480, suspensions_per_s=1000, suspensions=20_000,
    suspensions_of_most=0.5, writes_per_s=500, write_mean_us=1500, write_bytes_per_s=1e6,
    energy_j=float("nan"),
)  # fmt: skip
PLAN = Plan(5_000, 5_000, 2, 2, (1,), (101, 102))
BENCH = dies(5_000)[0]


def outcome(
    costs: Mapping[str, tuple[float, float]], late: Mapping[str, float] | None = None
) -> Outcome:
    """Return made-up results: suspensions a second of `deadline` and `batch` by name of a bench."""
    benches = [replace(BENCH, name=name) for name in costs]
    judged: dict[tuple[str, str, float], list[Measured]] = {}
    for name, (ours, theirs) in costs.items():
        rates = {"static knobs": 3000.0, "batch": theirs, "deadline": ours}
        for family, rate in rates.items():
            share = (late or {}).get(family, 0.0005)
            each = [replace(ONE, suspensions_per_s=rate, late_share=share) for _ in PLAN.judged]
            judged |= {(name, family, heavier): each for heavier in HEAVIER}
        judged[name, NEVER, 1.0] = [ONE]
    frozen = {(name, family): Frozen({}, ONE, True) for name in costs for family in FAMILIES}
    return Outcome(PLAN, benches, frozen, judged, [], {})


def test_headline_goes_by_half_of_the_loads() -> None:
    # 20 % fewer on two of four loads, 14 % on the others.
    half = outcome({"a": (800, 1000), "b": (800, 1000), "c": (860, 1000), "d": (860, 1000)})
    assert claims.share_of_loads(claims.gains(half)) == (2, 4)
    assert claims.verdicts(half)[0].reproduced
    assert "on 2, not so many fewer on 2, and" in claims.headline(half)
    assert claims.headline(half).endswith("on 0: half or more.")
    less = outcome({"a": (800, 1000), "b": (860, 1000), "c": (860, 1000)})
    assert not claims.verdicts(less)[0].reproduced
    assert claims.headline(less).startswith("Of 3 loads on which batching keeps its reads in time")
    assert claims.headline(less).endswith(": less than half.")


def test_headline_counts_a_target_that_the_rule_misses_against_it() -> None:
    missed = outcome({"a": (500, 1000)}, {"deadline": 0.01})
    assert "on 0, not so many fewer on 0, and misses the target on 1" in claims.headline(missed)
    neither = outcome({"a": (500, 1000)}, {"deadline": 0.01, "batch": 0.01})
    assert claims.headline(neither).startswith("No load lets")


def test_a_load_counts_only_at_equal_tail_and_with_suspensions() -> None:
    # Allowed are 0.1 % late reads, and a quarter more for chance.
    for late, counts in ((0.00124, True), (0.00126, False)):
        found = claims.gains(outcome({"a": (500, 1000)}, {"deadline": late}))
        assert [not one.lack for one in found] == [counts]
    few = outcome({"a": (500, 1000)})
    for key, each in few.judged.items():
        few.judged[key] = [replace(one, suspensions=14.0) for one in each]  # type: ignore[index]
    assert claims.gains(few)[0].lack
    main, of_load = claims.verdicts(few)[:2]
    assert main.reproduced is None and of_load.note == "rests on 28 suspensions"


def test_ratios_are_of_pairs() -> None:
    # Log ratios of ln 0.5 and ln 2: a mean of 1, and Student's 12.7 for one degree of freedom.
    ours, theirs = ([replace(ONE, suspensions_per_s=rate) for rate in rates]
                    for rates in ((500, 2000), (1000, 1000)))  # fmt: skip
    found = claims.paired(BENCH, ours, theirs)
    assert found.mean == pytest.approx(1)
    half = 12.7062 * 0.98026 / sqrt(2)
    assert found.low is not None
    assert found.low == pytest.approx(2.718281828**-half, rel=1e-3)


def test_frozen_is_the_cheapest_point_that_keeps_its_reads_in_time() -> None:
    tried = [{"a": number} for number in range(4)]
    # Of 0.1 % allowed, 0.085 % may be taken: the third is cheaper but not safe.
    made = [(900, 0.0003), (700, 0.0008), (600, 0.0009), (100, 0.02)]
    found = [replace(ONE, suspensions_per_s=rate, late_share=late) for rate, late in made]
    best = freeze(BENCH, tried, found, ONE)
    assert (best.keys, best.is_feasible) == ({"a": 1}, True)
    # Where nothing keeps them, the one that comes nearest, and it says so.
    late = [replace(one, late_share=one.late_share + 0.01) for one in found]
    best = freeze(BENCH, tried, late, ONE)
    assert (best.keys, best.is_feasible) == ({"a": 0}, False)


def test_frozen_tail_keeps_the_writes() -> None:
    tried = [{"a": number} for number in range(3)]
    made = [(500, 400), (495, 700), (494, 300)]
    found = [replace(ONE, writes_per_s=writes, p99_9_us=tail) for writes, tail in made]
    best = freeze(replace(BENCH, aim="tail"), tried, found, replace(ONE, writes_per_s=500))
    assert best.keys == {"a": 0}


def test_points_are_places_of_their_families() -> None:
    # The service level is 500 µs, a program 1000; the plainest comes first, then Sobol's.
    plain = [points(family, BENCH, 1)[0] for family in FAMILIES]
    assert plain == [
        {"suspension.policy": "always"},
        {"suspension.policy": "batch", "suspension.batch.reads": 3,
         "suspension.batch.oldest_us": 350.0},
        {"suspension.policy": "deadline", "suspension.deadline.read_slo_us": 500,
         "suspension.deadline.margin_reads": 0},
    ]  # fmt: skip
    static, batch, deadline = (points(family, BENCH, 65)[1:] for family in FAMILIES)
    assert all(0 <= one["suspension.min_remaining_us"] <= 800 for one in static)
    limits = {one.get("suspension.max_per_operation") for one in static}
    assert limits == {2, 4, 10, None}
    assert {one["suspension.batch.reads"] for one in batch} == set(range(2, 9))
    assert all(50 <= one["suspension.batch.oldest_us"] <= 500 for one in batch)
    prices = [one["suspension.deadline.price"] for one in deadline]
    assert (prices.count(1), prices.count(2)) == (48, 16)
    assert all(200 <= one["suspension.deadline.read_slo_us"] <= 520 for one in deadline)


@pytest.mark.parametrize("tries", [2, 9, 33])
def test_families_have_as_many_different_points(tries: int) -> None:
    for bench in (BENCH, drives(5_000)[0]):
        for family in FAMILIES:
            found = points(family, bench, tries)
            assert len(found) == tries
            assert sum(one == other for one, other in pairwise(found)) == 0


def _resolves(bench: Bench, keys: Mapping[str, object]) -> None:
    rp.Scenario(**bench.scenario).replace(**keys, **bench.overrides(1, 1.25)).resolve()


@pytest.mark.parametrize("bench", [*dies(5_000), *drives(5_000)], ids=lambda bench: bench.name)
def test_every_point_is_a_scenario(bench: Bench) -> None:
    for family in FAMILIES:
        for keys in points(family, bench, 9):
            _resolves(bench, keys)


def test_seeds_of_search_and_judgement_differ() -> None:
    with Settings().bench() as engine, pytest.raises(AssertionError):
        run(replace(PLAN, judged=(1, 2)), engine)


@pytest.mark.seconds(20)
def test_a_small_experiment_is_written_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DATA["relaxation"], "prices", (16,))
    names = ("die-500", "fast12-mlc-poisson")
    with Settings(jobs=2).bench() as engine:
        found = run(replace(PLAN, names=names, steps_us=(10, 5)), engine)
    assert {place[0] for place in found.judged} == set(names)
    assert all(len(each) == len(PLAN.judged) for each in found.judged.values())
    energies = [one.energy_j for one in found.judged["fast12-mlc-poisson", "batch", 1.0]]
    assert all(energy > 0 for energy in energies)
    # Without suspensions a read behind a program of 1000 µs is late half of the time it comes.
    never = [found.over_seeds(name, NEVER) for name in names]
    assert 0.2 < never[0].late_share < 0.6
    assert all(one.suspensions == 0 for one in never)
    (bounded,) = claims.numbers(found)["bounds"].values()
    assert 0 < bounded["steps"]["10"] < bounded["steps"]["5"] < bounded["suspensions_per_s"]
    assert bounded["point"] == "price 16"
    assert page.sections(found)[-1].title == "Beside a lower bound"
    titles = [verdict.claim for verdict in claims.verdicts(found)]
    assert len(titles) == len(set(titles))


def test_measured_is_what_the_log_says() -> None:
    # Alone on its die and in nobody's way: 60 µs, of which a service level of 59 has all late.
    workload = {"generator": "mixed", "requests": 100, "read_fraction": 1.0,
                "request_bytes": 2048, "arrivals": "fixed", "rate_iops": 1000}  # fmt: skip
    scenario = {**{key: value for key, value in BENCH.scenario.items() if key != "flow"},
                "workload": workload}  # fmt: skip
    for slo_us, share in ((59.0, 1.0), (60.0, 0.0)):
        bench = replace(BENCH, scenario=scenario, slo_us=slo_us, rate_key="workload.rate_iops",
                        rate=1000)  # fmt: skip
        of = job(bench, {"ftl.precondition": "sequential"}, 1)
        found = Measured(**json.loads(of.measure(of.setup.simulate(requests=True))))
        assert found.late_share == share
        assert found.p99_9_us == pytest.approx(60.0)
