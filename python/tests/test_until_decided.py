"""Runs that go on until an interval is as narrow as asked."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import reprieve as rp
from reprieve import UserError
from reprieve.precision import Aim, narrowed
from reprieve.scenario import Source

from .drive import SMALL, Reprieve

AIM = Aim("read", "p99", 0.02)


def runs_of(source: Source, width_at_3000: float | None, **more: Any) -> tuple[list[int], Any]:
    """Run nothing: the interval shrinks with the root of the requests, or there is none."""
    lengths: list[int] = []

    def run(longer: Source) -> SimpleNamespace:
        count = int(tomllib.loads(longer.resolve())["workload"]["requests"])
        lengths.append(count)
        return SimpleNamespace(summary={"workload": {"requests": count}}, count=count)

    def width(made: SimpleNamespace) -> float | None:
        return None if width_at_3000 is None else width_at_3000 * (3000 / made.count) ** 0.5

    found = narrowed(source, AIM, more.get("minutes"), run, width, lambda made: [cast(Any, made)])
    return lengths, found


def test_the_next_length_is_what_the_width_asks_for() -> None:
    """4 % to 2 % is four times as many, and a tenth to spare: 3,000 x 4.4."""
    source = Source.of(tomllib.loads(SMALL), {})
    lengths, found = runs_of(source, 0.04)
    assert (lengths, found.is_met) == ([3000, 13_200], True)
    assert found.sentence == "read p99 is known to ±1.9 % at 95 % after 13,200 requests"
    # From 20 % it is a hundred times, but eight at most at once.
    lengths, found = runs_of(source, 0.2)
    assert lengths[:2] == [3000, 24_000] and found.is_met
    assert 0.2 * (3000 / lengths[-1]) ** 0.5 <= 0.02 < 0.2 * (3000 / lengths[-2]) ** 0.5
    # Without an interval there is no estimate, and an end.
    lengths, found = runs_of(source, None)
    assert lengths[:3] == [3000, 12_000, 48_000] and not found.is_met
    assert lengths[-1] <= 3000 * 4096 < 4 * lengths[-1]
    assert found.sentence.endswith("that were asked for: that is too many")


def test_a_budget_of_time_ends_it() -> None:
    source = Source.of(tomllib.loads(SMALL), {})
    lengths, found = runs_of(source, 0.04, minutes=0.0)
    assert (lengths, found.is_met) == ([3000], False)
    assert found.sentence == (
        "read p99 is known to ±4 % at 95 % after 3,000 requests, not to the ±2 % that were asked "
        "for; about 13,200 would do: a longer run takes more time"
    )


def test_the_last_run_is_as_any_of_its_length() -> None:
    scenario = {**tomllib.loads(SMALL), "policy": "RPS"}
    found = rp.run(scenario, until_decided="read.mean 5%")
    count = found.summary["workload"]["requests"]
    group = found.summary["requests"]["read"]
    low, high = group["confidence"]["mean"]
    assert (high - low) / 2 / group["latency_ns"]["mean"] <= 0.05
    assert count > 3000
    assert found.summary == rp.run(scenario, workload__requests=count).summary


def test_a_comparison_goes_on_until_its_ratios_are_known(tmp_path: Path) -> None:
    scenario, axes = tomllib.loads(SMALL), {"policy": ["RPS", "PES-IPC"]}
    asked = "read.mean 6%"
    found = rp.compare(scenario, axes, out=tmp_path, until_decided=asked)
    pair = found.paired("PES-IPC")["read_latency_ns_mean"]
    low, high, ratio = pair["ratio_low"], pair["ratio_high"], pair["ratio"]
    assert low is not None and high is not None and ratio is not None
    assert (high - low) / 2 / ratio <= 0.06
    assert found.known.startswith("the widest ratio of read mean is known to ±")
    counts = {run.summary["workload"]["requests"] for run in found.values()}
    assert len(counts) == 1 and counts.pop() > 3000


def test_a_trace_ends(tmp_path: Path) -> None:
    """A trace of 500 rows has no more, however many are asked for."""
    rows = "".join(f"{at * 1000} 0 {8 * at} 8 {at % 2}\n" for at in range(500))
    (tmp_path / "a.trace").write_text(rows)
    scenario = tomllib.loads(SMALL)
    scenario["workload"] = {"trace": str(tmp_path / "a.trace"), "max_requests": 400,
                            "address": "modulo"}  # fmt: skip
    found = rp.run(scenario, until_decided="read.p99 2%")
    assert found.summary["workload"]["requests"] == 500


def test_the_command(tmp_path: Path, reprieve: Reprieve) -> None:
    (tmp_path / "s.toml").write_text(SMALL)
    shown = reprieve("run", "s.toml", "--until-decided", "read.mean 5%", "--out", "o")
    assert shown.returncode == 0, shown.stderr
    assert "read mean is known to ±" in shown.stdout
    count = json.loads((tmp_path / "o" / "summary.json").read_text())["workload"]["requests"]
    assert f"after {count:,} requests" in shown.stdout
    axis = ("compare", "s.toml", "--axis", "policy=RPS,PES-IPC", "--out", "c")
    shown = reprieve(*axis, "--until-decided", "read.mean 10%")
    assert "the widest ratio of read mean is known to ±" in shown.stdout, shown.stderr
    for words, sentence in (
        (("--until-decided", "read.p98 2%"), '--until-decided "read.p98 2%": must be a figure and'),
        (("--until-decided", "read.p99"), '--until-decided "read.p99": must be a figure and a'),
        (("--minutes", "1"), "--minutes: ends a run that goes on; give --until-decided too"),
    ):
        failed = reprieve("run", "s.toml", *words, "--out", "p")
        assert failed.returncode == 2 and failed.stderr.startswith(sentence), failed.stderr
    assert not (tmp_path / "p").exists()


def test_wrong_aims_are_refused() -> None:
    for text in ("read.p99 0%", "read.p99 100%", "reads.p99 2%", "p99 2%", "read.p99 2 per cent"):
        with pytest.raises(UserError, match="must be a figure and a share"):
            Aim.parse(text)
