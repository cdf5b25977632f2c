"""The study of arrays: its ratios by hand, and a run of all of its arms."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprieve_studies.arrays import claims, page, runs
from reprieve_studies.arrays.runs import Plan, Spot, arms, techniques
from reprieve_studies.runs import bench

PLAN = Plan(requests=10, seeds=[1, 2], loads=["mixed"])


def made(tails: dict[tuple[str, str], tuple[float, float]]) -> runs.Runs:
    """Return runs of two seeds with these tails, 100 µs where none is given."""
    return {
        Spot("mixed", technique, arm, seed): {
            **dict.fromkeys(claims.COLUMNS, 50.0),
            "read_p99": tails.get((technique, arm), (100.0, 100.0))[seed - 1],
            "reads": 99_999,
            "written_bytes_per_s": 1e6 * (seed + (technique == "windows")),
        }
        for technique in techniques("mixed")
        for arm in arms("mixed")
        for seed in (1, 2)
    }


def test_ratios_are_of_pairs() -> None:
    # Of windows 4 and 16, whose geometric mean is 8; of suspension 2 and 2.
    tails = {("windows", "none"): (25.0, 50.0), ("direct", "none"): (100.0, 800.0)}
    tails[("direct", "suspension")] = (50.0, 400.0)
    found = made(tails)
    by_claim = {one.claim: one for one in claims.verdicts(found, PLAN)}
    name = "mixed: p99 of reads, "
    assert by_claim[f"{name}windows gain without suspension"].ours == pytest.approx(8.0)
    assert by_claim[f"{name}suspension gains more than windows"].ours == pytest.approx(0.25)
    # A seed writes 2 or 3 where it has windows, and else 1 or 2.
    spread = by_claim["mixed: bytes written a second, most over least of a seed"]
    assert spread.ours == pytest.approx(2.0)
    # Without any effect 1 is at most 3: that row counts for nothing.
    held = by_claim[f"{name}windows gain with suspension"]
    assert held.null_model and not by_claim[f"{name}windows gain without suspension"].null_model
    assert not by_claim[f"{name}suspension gains more than windows"].null_model
    assert held.lack == "2 of 5 seeds"
    numbers = claims.numbers(found, PLAN)
    assert numbers["loads"]["mixed"]["percentile"] == "p99"
    cell = numbers["loads"]["mixed"]["arms"]["suspension"]["direct"]
    assert (cell["gain"]["mean"], cell["own_gain"]["mean"]) == pytest.approx((2.0, 1.0))
    [section] = page.sections(numbers)
    assert len(section.tables[0].rows) == len(arms("mixed")) * len(techniques("mixed"))


@pytest.mark.seconds(12)
def test_every_arm_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = {"geometry.channels": 1, "geometry.dies_per_channel": 1, "geometry.pages_per_block": 96}
    monkeypatch.setitem(runs.DATA.rest, "drive", {**runs.DATA["drive"], **small})
    with bench(tmp_path, 2) as engine:
        plan = Plan(requests=600, seeds=[1], loads=["mixed", "mixed-whole"])
        found = runs.simulate(engine, plan)
    assert {(spot.load, spot.technique, spot.arm) for spot in found} == {
        (load, technique, arm)
        for load in plan.loads
        for technique in techniques(load)
        for arm in arms(load)
    }
    direct, windows = (found[Spot("mixed", name, "none", 1)] for name in ("direct", "windows"))
    # A read of another drive's chunk is read of five; parity of a partial write has two reads.
    assert direct["drive_reads"] < windows["drive_reads"]
    assert direct["reads"] == windows["reads"]
    numbers = claims.numbers(found, plan)
    fast = found[Spot("mixed-whole", "fast-fail", "none", 1)]
    assert fast["read_p99"] <= found[Spot("mixed-whole", "direct", "none", 1)]["read_p99"]
    assert numbers["loads"]["mixed"]["title"] == "70 % reads of 4 KiB"
