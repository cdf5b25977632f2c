"""The study of LLM servers: what its numbers mean, and a small run from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reprieve.cli import main
from reprieve_studies.kv_cache import claims, page, runs
from reprieve_studies.kv_cache.runs import Plan, Spot

PLAN = Plan(300, [1, 2], ["a"])


def of(factor: float) -> dict[str, Any]:
    """Return a run whose times are a number of ms."""
    times = dict.fromkeys(("mean", "p50", "p95", "p99"), factor * 1e6)
    waits = {"programs": 0.25, "erases": 0.0, "collection": 0.5}
    return {
        "first_token_ns": times, "load_ns": {**times, "p99": 0.0}, "loads": 3, "flash_share": 0.2,
        "dropped_blocks": 4, "waits": waits, "waf": 1.0,
    }  # fmt: skip


def by_arm(none: tuple[float, float]) -> dict[Spot, dict[str, Any]]:
    """Return runs that take 1 and 2 ms with suspension, by seed, and these without."""
    return {
        Spot("a", stores, arm, seed): of(none[seed - 1] if arm == "none" else float(seed))
        for stores in runs.STORES
        for arm in runs.ARMS
        for seed in PLAN.seeds
    }


def test_a_gain_is_the_geometric_mean_over_pairs_of_a_seed() -> None:
    # 2 and 8 times as long: 4 times.
    numbers = claims.numbers(by_arm((2.0, 16.0)), PLAN)
    one = numbers["drives"]["a"]["at once"]["iteration"]
    assert one["gain"]["first_token_p95"]["mean"] == pytest.approx(4.0)
    assert one["gain"]["load_p99"] is None
    assert one["first_token_p99_ms"] == pytest.approx(1.5)
    assert one["waits"] == {"programs": 25.0, "erases": 0.0, "collection": 50.0}
    assert page.answer(numbers).endswith("is 4.00 to 4.00 times as long as with it.")
    (mean, tail) = claims.verdicts(by_arm((2.0, 16.0)), PLAN)
    assert mean.ours == pytest.approx(4.0) and mean.lack == tail.lack == "2 of 5 seeds"


@pytest.mark.parametrize("moved", [1.04, 1 / 1.04])
def test_less_than_five_per_cent_is_said_plainly(moved: float) -> None:
    numbers = claims.numbers(by_arm((moved, 2 * moved)), PLAN)
    assert page.answer(numbers) == (
        "Suspension moves p99 of the time to first token by less than 5 % on every drive."
    )


def test_a_trace_takes_the_place_of_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"prompts": 6, "seeds": [1], "devices": ["qlc-enterprise"]}
    monkeypatch.setitem(runs.DATA["plan"], "quick", few)
    monkeypatch.setitem(runs.DATA["load"], "kv_dram_bytes", 0)
    trace = tmp_path / "prompts.jsonl"
    rows = [
        {"timestamp": 9000 * n, "input_length": 1100, "hash_ids": [7, n % 2, 9 + n]}
        for n in range(4)
    ]
    trace.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    arguments = ["reproduce", "kv-cache", "--quick", "--out", str(tmp_path / "out")]
    assert main([*arguments, "--trace", f"prompts={trace}"]) == 0
    numbers = json.loads((tmp_path / "out/numbers.json").read_text(encoding="utf-8"))
    one = numbers["drives"]["qlc-enterprise"]["at once"]["none"]
    # Of 8 blocks block 7 is loaded thrice, and two others once; seconds apart nothing waits for
    # another, so that suspension has nothing to move.
    assert one["flash_percent"] == pytest.approx(100 * 5 / 8)
    assert numbers["most_gain_p99"] == pytest.approx(1.0, abs=1e-6)
    assert main([*arguments, "--trace", f"F1={trace}"]) == 2
