"""`reprieve which` and `reprieve what-if`, against every choice run by itself and by hand."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import reprieve as rp
from reprieve import UserError
from reprieve.pairs import paired

from .drive import SMALL, Reprieve
from .vega import check_charts

DRIVE = tomllib.loads(SMALL)
LOAD = {**DRIVE["workload"], "requests": 6000, "rate_iops": 2500}
SCENARIO: Mapping[str, Any] = {**DRIVE, "policy": "PES-IPC", "workload": LOAD}
SEEDS = (7, 8)


def means(keys: Mapping[str, Any], *measures: tuple[str, str]) -> list[float]:
    """Run a choice by itself, and return the means of some latencies in us over the seeds."""
    runs = [rp.run(SCENARIO, **{**keys, "seed": seed}) for seed in SEEDS]
    return [
        fmean(run.summary["requests"][op]["latency_ns"][figure] / 1000 for run in runs)
        for op, figure in measures
    ]


def offered(
    found: Mapping[Any, tuple[float, float]], keeps: Callable[[Any], bool] = lambda _: True
) -> list[Any]:
    """Return the choices within 2 % of the least goal, the least second number first."""
    kept = {each: both for each, both in found.items() if keeps(each)}
    least = min(goal for goal, _ in kept.values())
    ties = [each for each, (goal, _) in kept.items() if goal <= 1.02 * least]
    return sorted(ties, key=lambda each: (found[each][1], found[each][0]))


def test_which_limit_is_that_of_exhaustion(tmp_path: Path) -> None:
    limits = ["1", "2", "3", "5", "none"]
    key = "suspension.max_per_operation"
    found = rp.which("limit", SCENARIO, of=limits, min="read.p99", out=tmp_path, seeds=2)
    alone: dict[Any, tuple[float, float]] = {}
    for limit in limits:
        value = "none" if limit == "none" else int(limit)
        read, write = means({key: value}, ("read", "p99"), ("write", "mean"))
        alone[value] = (read, write)
    expected = offered(alone)
    ties = [dict(each.point.values)[key] for each in found.answer.ranked[: found.answer.ties]]
    assert found.best[key] == expected[0]
    assert sorted(map(str, ties)) == sorted(map(str, expected))


def test_which_policy_keeps_the_tail_at_the_least_mean_write(tmp_path: Path) -> None:
    names = ["fifo", "rps", "always", "limit-1", "batch-60%"]
    limit_us = 900.0
    found = rp.which("policy", SCENARIO, of=names, tail=f"{limit_us:g}us", out=tmp_path, seeds=2)
    batch = {
        "suspension.policy": "batch",
        "suspension.batch.reads": "none",
        "suspension.batch.oldest_us": 540,  # 60 % of 900
    }
    suspends = {"policy": "PES-IPC", "suspension.policy": "always"}
    keys: dict[str, dict[str, Any]] = {
        "fifo": {"policy": "FIFO"},
        "rps": {"policy": "RPS"},
        "always": {**suspends, "suspension.max_per_operation": "none"},
        "limit-1": {**suspends, "suspension.max_per_operation": 1},
        "batch-60%": {"policy": "PES-IPC", **batch},
    }
    alone = {}
    for name in names:
        tail, write = means(keys[name], ("read", "p99_9"), ("write", "mean"))
        alone[name] = (write, tail)
    expected = offered(alone, lambda name: alone[name][1] <= limit_us)
    arms = found.answer.question.arms
    assert "suspension.batch.oldest_us=540" in arms["batch-60%"]
    # The bound excludes some and not all, or this would test nothing.
    assert 0 < sum(tail <= limit_us for _, tail in alone.values()) < len(names)
    assert found.best["arm"] == expected[0]
    assert found.answer.ties == len(expected)


def test_which_drive_has_the_least_tail(tmp_path: Path) -> None:
    devices = ["fast12-slc", "fast12-mlc"]
    found = rp.which("drive", SCENARIO, of=devices, min="read.mean", out=tmp_path, seeds=2)
    alone = {
        name: means({"device": name}, ("read", "mean"))[0] for name in devices
    }  # SLC reads in 25 us, MLC in 50.
    assert found.best["device"] == min(alone, key=alone.__getitem__) == "fast12-slc"


def test_which_spare_is_the_least_that_keeps_the_bound(tmp_path: Path) -> None:
    """Write amplification falls with over-provisioning; the least that keeps a WAF is chosen."""
    keys: dict[str, Any] = {"ftl.precondition": "steady", "workload.read_fraction": 0.1}
    shares = [0.15, 0.2, 0.25, 0.3, 0.4]
    wafs = {
        share: fmean(
            rp.run(SCENARIO, **{**keys, "ftl.over_provisioning": share, "seed": seed}).summary[
                "flash"
            ]["waf"]
            for seed in SEEDS
        )
        for share in shares
    }
    limit = (wafs[0.25] + wafs[0.2]) / 2
    found = rp.which(
        "spare", SCENARIO, of=list(map(str, shares)), where=[f"waf <= {limit:.5f}"],
        out=tmp_path, seeds=2, indifferent=0, **keys,
    )  # fmt: skip
    assert found.best["ftl.over_provisioning"] == min(
        share for share, waf in wafs.items() if waf <= limit
    )


@pytest.mark.parametrize(
    ("name", "more", "sentence"),
    [
        ("colour", {}, "which colour: must be one of limit, policy, drive, spare"),
        ("policy", {"tail": "1ms", "of": ["pe0"]}, "which policy: of pe0: must be some of fifo, "),
        ("policy", {}, "which policy: say which tail it has to keep, such as tail 400us"),
        ("drive", {"of": ["pm9a3"]}, "which drive: name two or more, such as of pm9a3,p5520"),
        ("limit", {"of": ["0", "1"]}, "of: suspension.max_per_operation = 0: must be an integer"),
        ("spare", {}, "which spare: say what it has to reach, such as "),
        ("limit", {"policy": "RPS"}, "which limit: this drive suspends nothing; say how it does"),
    ],
)  # fmt: skip
def test_wrong_questions_end_in_one_sentence(
    tmp_path: Path, name: str, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as error:
        rp.which(name, SCENARIO, out=tmp_path / "o", **more)
    assert str(error.value).startswith(sentence)
    assert not (tmp_path / "o").exists()


READS = {
    "device": "fast12-mlc",
    "host": {"link_bytes_per_s": "none"},
    "workload": {"generator": "mixed", "requests": 20_000, "read_fraction": 1, "queue_depth": 1,
                 "request_bytes": 2048},
}  # fmt: skip


def test_elasticities_are_those_of_a_sum(tmp_path: Path) -> None:
    """A lone read is tR and tBUS long: their elasticities are their shares, nearly."""
    drive = tomllib.loads(rp.run(READS, workload__requests=10).scenario)
    read_us, bus_us = drive["timing"]["t_read_us"], drive["timing"]["t_bus_us"]
    found = rp.what_if(READS, out=tmp_path, seeds=1)
    span = math.log(1.1 / 0.9)
    for what, of_us in (("read, tR", read_us), ("bus", bus_us)):
        rest_us = read_us + bus_us - of_us
        expected = math.log((1.1 * of_us + rest_us) / (0.9 * of_us + rest_us)) / span
        for row in found.rows:
            if row.what == what:
                assert row.value == pytest.approx(expected, abs=1e-3), row
                assert row.up == pytest.approx(0.1 * of_us / (read_us + bus_us), abs=1e-4)
    of_programs = [row.value for row in found.rows if row.what == "program, tPROG"]
    assert of_programs and of_programs == [0] * len(of_programs)
    assert found.sentences[0].startswith("read mean depends most on bus: 1 % more makes it 0.6")


def test_elasticities_are_those_of_two_runs(tmp_path: Path) -> None:
    found = rp.what_if(SCENARIO, vary=["ftl.over_provisioning"], by=0.2, out=tmp_path, seeds=2)
    drive = tomllib.loads(rp.run(SCENARIO, workload__requests=10).scenario)
    sides = []
    for factor in (1.2, 0.8):
        keys = {
            key: round(factor * drive["timing"][key.partition(".")[2]], 3)
            for key in ("timing.t_program_pulse_us", "timing.t_verify_us")
        }
        sides.append([rp.run(SCENARIO, **{**keys, "seed": seed}) for seed in SEEDS])
    ratio = paired(*sides)["write_latency_ns_mean"]
    row = next(
        row for row in found.rows if (row.what, row.measure) == ("program, tPROG", "write.mean")
    )
    span = math.log(1.2 / 0.8)
    ends = (ratio["ratio"], ratio["ratio_low"], ratio["ratio_high"])
    for value, end in zip((row.value, row.low, row.high), ends, strict=True):
        assert end is not None and value == pytest.approx(math.log(end) / span)
    assert row.is_decided and row.value > 0.5
    # A key of one's own is there, too; what is 0 is said to be left out.
    assert any(row.what == "ftl.over_provisioning" for row in found.rows)


def test_the_commands(tmp_path: Path, reprieve: Reprieve) -> None:
    (tmp_path / "s.toml").write_text(SMALL)
    asked = ("which", "limit", "s.toml", "--of", "1,5", "--set", "policy=pes-ipc", "--seeds", "1")
    shown = reprieve(*asked, "--min", "read.mean", "--out", "w")
    assert shown.returncode == 0, shown.stderr
    assert "best: read.mean" in shown.stdout and "the whole space: 2 points" in shown.stdout
    assert (tmp_path / "w" / "best.toml").exists()
    failed = reprieve("which", "policy", "s.toml", "--out", "x")
    assert (failed.returncode, failed.stderr) == (
        2, "which policy: say which tail it has to keep, such as --tail 400us\n",
    )  # fmt: skip
    shown = reprieve("what-if", "s.toml", "--by", "20%", "--seeds", "1", "--out", "i")
    assert shown.returncode == 0, shown.stderr
    assert "depends most on" in shown.stdout
    made = json.loads((tmp_path / "i" / "what-if.json").read_text())
    assert made["by"] == 0.2 and made["elasticities"]
    check_charts(tmp_path / "i" / "report.html")
    for words, sentence in (
        (("--by", "0"), "--by 0: must be a share above 0 and below 1, or in %\n"),
        (("--vary", "workload.rate_iops"),
         "--vary workload.rate_iops: is given, not chosen; sweep it to see what it changes\n"),
        (("--vary", "ftl.gc_victim"),
         "--vary ftl.gc_victim: must be a key whose value here is a number above 0\n"),
    ):  # fmt: skip
        failed = reprieve("what-if", "s.toml", *words, "--out", "j")
        assert (failed.returncode, failed.stderr) == (2, sentence)
    assert not (tmp_path / "j").exists()
