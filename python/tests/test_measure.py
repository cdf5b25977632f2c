"""Measured part of a run: the transient that a run finds, and where it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import reprieve as rp
from reprieve import UserError

from .drive import Reprieve
from .own_policies import Always
from .perfetto_trace import read
from .sweep_files import grid

DRIVE: dict[str, Any] = {
    "seed": 3,
    "device": "fast12-mlc",
    "policy": "pes-ipc",
    "geometry.channels": 2,
    "geometry.blocks_per_plane": 48,
    "geometry.pages_per_block": 16,
    "ftl.precondition": "steady",
    "workload.generator": "mixed",
    "workload.requests": 3000,
    "workload.read_fraction": 0.6,
    "workload.request_bytes": 4096,
    "workload.queue_depth": 8,
}


def of_reads(tmp_path: Path, gaps_us: NDArray[np.int64]) -> dict[str, Any]:
    """Return a scenario of reads that come after these gaps, in the format of SSDsim."""
    at_ns = 1000 * np.cumsum(gaps_us)
    rng = np.random.default_rng(5)
    sectors = 8 * rng.integers(0, 10_000, len(gaps_us))
    rows = [f"{at} 0 {sector} 8 1\n" for at, sector in zip(at_ns, sectors, strict=True)]
    (tmp_path / "reads.ascii").write_text("".join(rows))
    load = {"workload.trace": str(tmp_path / "reads.ascii"), "workload.format": "ssdsim"}
    return {key: value for key, value in DRIVE.items() if not key.startswith("workload.")} | load


def mser_5(latency_ns: NDArray[np.int64]) -> int:
    """Return how many batches of five MSER-5 cuts, as its papers define it."""
    count = len(latency_ns) // 5
    means = latency_ns[: 5 * count].reshape(count, 5).mean(axis=1)
    # The last five batches are never all that is left.
    errors = [means[cut:].var() / (count - cut) for cut in range(count - 4)]
    return int(np.argmin(errors))


def test_auto_is_mser_5_on_the_log_of_the_whole_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    # 400 reads come twice as fast as they are served, then 2,600 at leisure.
    gaps_us = np.where(np.arange(3000) < 400, 10, 400) + rng.integers(0, 30, 3000)
    load = of_reads(tmp_path, gaps_us)
    rows = rp.run(load, requests=True).requests
    latency_ns = (rows["completion_ns"].to_numpy() - rows["arrival_ns"].to_numpy()).astype(np.int64)
    cut = mser_5(latency_ns)
    assert 0 < cut < 300
    end_ns = rows["completion_ns"].to_numpy()[5 * cut - 1]
    arrived = int((rows["arrival_ns"].to_numpy() < end_ns).sum())
    auto = rp.run(load, requests=True, measure__warmup="auto")
    measure = auto.summary["measure"]
    assert measure["requests_excluded"] == arrived
    assert measure["warning"] is None
    assert "read latency" in measure["reason"]
    assert f"before request {arrived} of 3000" in measure["reason"]
    # It is the run that excludes them by hand, in all but the reason; and says how to repeat it.
    by_hand = rp.run(load, requests=True, measure__from_request=arrived)
    assert auto.requests == by_hand.requests
    for part in ("requests", "flash", "device", "workload"):
        assert auto.summary[part] == by_hand.summary[part]
    assert 'warmup = "auto"' in auto.scenario
    (tmp_path / "again.toml").write_text(auto.scenario)
    assert rp.run(tmp_path / "again.toml").summary["requests"] == auto.summary["requests"]


def test_a_run_that_is_too_short_counts_everything_and_says_so(tmp_path: Path) -> None:
    # The queue only grows.
    load = of_reads(tmp_path, np.full(500, 20))
    result = rp.run(load, measure__warmup="auto")
    measure = result.summary["measure"]
    assert (measure["from_ns"], measure["requests_excluded"]) == (0, 0)
    assert "too short to tell" in measure["warning"]
    assert result.summary["requests"]["read"]["count"] == 500


def test_the_terminal_and_the_report_tell_what_is_excluded(
    reprieve: Reprieve, tmp_path: Path
) -> None:
    load = of_reads(tmp_path, np.where(np.arange(3000) < 300, 20, 400))
    sets = [f"--set={key}={json.dumps(value)}" for key, value in load.items()]
    (tmp_path / "empty.toml").write_text("")
    done = reprieve("run", "empty.toml", *sets, "--report", "--out", "o")
    assert (done.returncode, done.stderr) == (0, "")
    told = " ".join(done.stdout.split())
    assert told.count("the beginning differs from the rest: in the first ") == 1
    assert 'measure.warmup = "auto", or measure.from_request, excludes it' in told
    page = (tmp_path / "o" / "report.html").read_text()
    assert "the beginning differs from the rest" in page
    done = reprieve(
        "run", "empty.toml", *sets, "--set=measure.from_request=500", "--report", "--out", "o"
    )
    assert "differs" not in done.stdout
    told = " ".join(done.stdout.split())
    assert told.count("excluded are the first 500 requests (from_request = 500)") == 1
    page = (tmp_path / "o" / "report.html").read_text()
    assert "excluded are the first 500 requests" in page
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    bins = pq.read_table(tmp_path / "o" / "series.parquet")
    assert bins["start_ns"][0].as_py() == summary["measure"]["from_ns"] > 0
    assert sum(bins["read_count"].to_pylist()) == 2500


def test_comparisons_and_sweeps_leave_it_out_too(tmp_path: Path) -> None:
    both = rp.compare(DRIVE, {"policy": ["fifo", "pes-ipc"]}, measure__from_request=1000)
    for result in both.values():
        assert result.summary["requests"]["total"]["count"] == 2000
        assert result.latency("total").requests == 2000
    plan = grid(seeds=[3, 8])
    plan["set"] = {**plan.get("set", {}), "measure.from_request": 100}
    swept = rp.sweep(plan, out=tmp_path / "s", workers=1)
    runs = swept.runs
    assert set(runs["measure_requests_excluded"].to_pylist()) == {100}
    assert all(ns > 0 for ns in runs["measure_from_ns"].to_pylist())
    assert set(runs["measure_reason"].to_pylist()) == {"from_request = 100"}


def test_power_is_that_of_the_measured_part() -> None:
    load = DRIVE | {"device": "tlc3d-1tb", "power.account": "on", "power.series_us": 700}
    load |= {"geometry.channels": 1, "workload.queue_depth": 1, "policy": "rps"}
    load |= {"geometry.pages_per_block": 48, "ftl.over_provisioning": 0.3}
    whole = rp.run(load)
    late = rp.run(load, measure__from_request=1200)
    early = rp.run(load, workload__requests=1200)
    assert whole.power is not None
    assert late.power is not None
    # With one request at a time nothing is under way where the two parts meet, but collection.
    energy = [result.summary["power"]["energy_uj"]["total"] for result in (early, late, whole)]
    assert energy[0] + energy[1] == pytest.approx(energy[2], rel=1e-9)
    geometry = rp.Scenario.from_toml(late.scenario).geometry
    from_ns = late.summary["measure"]["from_ns"]
    assert late.power["start_ns"][0] == from_ns
    assert late.power["length_ns"].sum() == late.summary["device"]["simulated_ns"]
    assert sum(late.summary["power"]["states_ns"].values()) == (
        late.summary["device"]["simulated_ns"] * geometry.channels * geometry.dies_per_channel
    )
    in_bins = sum(late.power[part].sum() for part in ("core_pj", "io_pj"))
    assert in_bins / 1e6 == pytest.approx(energy[1], rel=1e-6)


def test_the_timeline_marks_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "run.perfetto-trace"
    result = rp.run(DRIVE, timeline=path, workload__requests=200, measure__from_request=50)
    drawn = read(path)
    assert drawn.counters["measured"] == [(0, 0.0), (result.summary["measure"]["from_ns"], 1.0)]
    rp.run(DRIVE, timeline=path, workload__requests=200)
    assert "measured" not in read(path).counters


def test_where_nothing_is_measured_the_section_is_refused(
    reprieve: Reprieve, tmp_path: Path
) -> None:
    (tmp_path / "drive.toml").write_text('device = "fast12-mlc"\n[measure]\nfrom_s = 1\n')
    done = reprieve("serve", "drive.toml", "--socket", "s")
    assert done.returncode == 2
    assert "drive.toml:3: measure.from_s = 1: only a run of one drive" in done.stderr
    (tmp_path / "commands.csv").write_text("arrival_ns,op,plane,block,page\n0,read,0,0,0\n")
    rig = ("rig", "--device", "fast12-mlc", "--commands", "commands.csv", "--out", "o.csv")
    done = reprieve(*rig, "--set", 'measure.warmup="auto"')
    assert done.returncode == 2
    assert 'measure.warmup = "auto": the rig reports every command' in done.stderr
    with pytest.raises(UserError, match=r"an object that is given as a policy may remember"):
        rp.run(DRIVE, suspension_policy=Always(), measure__warmup="auto")
    with pytest.raises(UserError, match=r"excludes all 3000 requests; must be below 3000"):
        rp.run(DRIVE, measure__from_request=3000)
    (tmp_path / "mine.toml").write_text('part = "mlc-fast12"\n[measure]\nfrom_s = 1\n')
    with pytest.raises(UserError, match=r"a device has only"):
        rp.run(DRIVE | {"device": str(tmp_path / "mine.toml")})


def test_a_run_that_ends_before_it_is_measured_leaves_no_files(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    done = reprieve("run", small, "--set", "measure.from_s=1000", "--out", "o")
    assert done.returncode == 2
    assert "measure.from_s = 1000: excludes the whole run, which has 3000 requests" in done.stderr
    assert not (tmp_path / "o").exists()
