"""Loads fitted to traces: what is measured of a trace, and what comes back of a known load."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import reprieve as rp
from reprieve.trace_fit import Requests, drawn, fit, order, side_by_side
from reprieve.trace_fit.draws import drawn_times
from reprieve.trace_fit.order import dispersion

Run = Callable[..., "subprocess.CompletedProcess[str]"]

KNOWN = """
load = "./known.toml"
device = "fast12-slc"
seed = 5
"""
FLOWS = """
[workload]
generator = "mixed"
addresses = "uniform"
align_bytes = 512
arrivals = "trains"
train_span_s = 200
train_tick_us = 100

[flow.reads]
requests = 10000
read_fraction = 1
request_bytes = [[512, 1], [4096, 3]]
rate_iops = 50
train_requests = 2
train_gap_us = 300
train_simultaneous_fraction = 0.5
train_bias = 0.62
size_run_fraction = 0.5
read_sequential_fraction = 0.6
sequential_streams = 4
repeat_fraction = 0.2
repeat_window_requests = 64

[flow.writes]
requests = 15000
read_fraction = 0
request_bytes = 2048
rate_iops = 75
train_requests = 4
train_gap_us = 300
train_simultaneous_fraction = 0.8
train_bias = 0.7
write_sequential_fraction = 0.1
repeat_fraction = 0.5
repeat_window_requests = 256
"""


def _requests(times: list[int], ops: str) -> Requests:
    count = len(times)
    return Requests(
        np.array(times),
        np.array([op == "R" for op in ops]),
        np.arange(count) * 4096,
        np.full(count, 512),
    )


def test_order_of_a_few_requests_by_hand() -> None:
    found = order(_requests([0, 0, 10, 20, 20, 20], "RRWRWW"))
    # Runs: RR, W, R, WW. Gaps: 0, 10, 10, 0, 0.
    assert found.mean_run == 6 / 4
    assert found.simultaneous_share == 3 / 5
    assert (found.read_share, found.requests) == (0.5, 6)
    assert found.read_dispersion[10] is None


def test_dispersion_by_hand() -> None:
    # 40 requests over 390 ns, a mean gap of 9.75: windows of 4 gaps are 39 ns, ten of them.
    # Eight arrive at the begin of every second window and none in the others, the last window
    # gets the last one, which ends the span: counts 8 and 0 by turns, mean 4, variance 16.
    times = [window * 78 for window in range(5) for _ in range(8)]
    times[-1] = 390
    counts = np.array([8, 0, 8, 0, 8, 0, 8, 0, 7, 1])
    expected = float(((counts - 4.0) ** 2).mean() / 4.0)
    assert dispersion(np.array(times), 4) == pytest.approx(expected)
    assert dispersion(np.array([5, 5, 5]), 1) is None


@pytest.fixture
def known(tmp_path: Path) -> Requests:
    """Draw a load of known keys, whose flows stand in the file of a load."""
    (tmp_path / "known.toml").write_text("# A known load.\n" + FLOWS, encoding="utf-8")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(KNOWN, encoding="utf-8")
    return drawn(scenario)


def test_times_alone_are_those_of_the_requests(known: Requests, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    assert drawn_times(scenario, 30_000).tolist() == known.time_ns.tolist()
    assert drawn_times(scenario, 3).tolist() == known.time_ns[:3].tolist()


def test_a_load_of_known_keys_comes_back(known: Requests) -> None:
    assert len(known) == 25_000
    found = fit(known)
    reads, writes = found.flows["reads"], found.flows["writes"]
    assert (reads.requests, writes.requests) == (10_000, 15_000)
    assert [size for size, _ in reads.by_size.request_bytes] == [512, 4096]
    # 10,000 reads: of the smaller size's 2,500 a share of .5 + .5 * .25 follows another.
    assert reads.by_size.size_run_fraction == pytest.approx([0.5, 0.5], abs=0.05)
    # One share for all halvings was drawn. The longest ones are few, and of the shortest trains
    # that come close tell as much.
    assert np.mean(reads.train_bias[3:9]) == pytest.approx(0.62, abs=0.03)
    assert np.mean(writes.train_bias[3:9]) == pytest.approx(0.70, abs=0.03)
    # Two streams that a repeat has brought to one place go on from there twice: the second time
    # counts as a repeat.
    for on, again in zip(
        reads.by_size.sequential_by_size, reads.by_size.repeat_by_size, strict=True
    ):
        assert on + again == pytest.approx(0.8, abs=0.03)
        assert 0.5 < on <= 0.63
    assert reads.by_size.sequential_streams == 4
    assert writes.by_size.size_run_fraction == (0.0,)
    assert writes.by_size.repeat_by_size[0] == pytest.approx(0.5, abs=0.05)
    draws = [order(found.sample(seed)) for seed in range(1, 9)]
    lines = {line.what: line for line in side_by_side(found.trace, draws)}
    run = lines["one operation in a row"]
    assert run.load is not None
    assert run.load == pytest.approx(run.trace, rel=0.1)
    # The mean of eight draws, each of which has a dispersion of its own on the longest scale.
    for scale, within in ((10, 0.1), (100, 0.2), (1000, 0.5)):
        for operation in ("reads", "writes"):
            line = lines[f"dispersion of {operation} over {scale} gaps"]
            assert line.load == pytest.approx(line.trace, rel=within), line


def test_the_fitted_file_is_a_load(reprieve: Run, tmp_path: Path) -> None:
    trace = Path(__file__).parents[2] / "traces" / "linux-mysql.load.gz"
    done = reprieve(
        "trace", "fit", str(trace), "--out", "mysql.toml", "--requests", "5000", "--json"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    lines = {line["what"]: line for line in told["lines"]}
    assert lines["requests"]["trace"] == lines["requests"]["load"] == 5000
    scenario = 'device = "fast12-mlc"\nload = "mysql.toml"\n[workload]\nfootprint_bytes = "none"\n'
    (tmp_path / "s.toml").write_text(scenario, encoding="utf-8")
    summary = rp.run(tmp_path / "s.toml").summary
    assert summary["requests"]["total"]["count"] == 5000
    beside = reprieve("trace", "info", str(trace), "--load", "fin1-flows", "--requests", "2000")
    assert beside.returncode == 0
    assert "one operation in a row" in beside.stdout


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("0,0,R,4096\n" * 300, "all requests of t.csv arrive together; it needs their times"),
        (
            "".join(f"{i},{i},R,4096\n" for i in range(300)) + "400,0,W,512\n",
            "t.csv has 1 writes; a flow needs at least 100, or none",
        ),
    ],
)
def test_what_cannot_be_fitted_is_said(
    reprieve: Run, tmp_path: Path, rows: str, sentence: str
) -> None:
    (tmp_path / "t.csv").write_text(rows, encoding="utf-8")
    columns = ("--format", "columns", "--option", "columns=time_s,sector,op,bytes")
    done = reprieve("trace", "fit", "t.csv", *columns, "--out", "load.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not (tmp_path / "load.toml").exists()


def _poisson(path: Path, requests: int) -> None:
    """Write reads, and a write for every nine of them, of 4 KiB at random, as they come alone."""
    draw = np.random.default_rng(5)
    time_us = np.cumsum(draw.exponential(500.0, requests))
    pages = draw.integers(0, 50_000, requests)
    ops = np.where(np.arange(requests) % 10 == 9, "W", "R")
    rows = zip(time_us, pages * 8, ops, strict=True)
    path.write_text("".join(f"{at:.1f},{sector},{op},4096\n" for at, sector, op in rows))


_COLUMNS = ("--format", "columns", "--option", "columns=time_us,sector,op,bytes")


def test_a_fit_ends_with_a_verdict(reprieve: Run, tmp_path: Path) -> None:
    """Percentiles are those of runs of the trace and of the written file, the draws by seed."""
    _poisson(tmp_path / "t.csv", 4000)
    done = reprieve("trace", "fit", "t.csv", *_COLUMNS, "--out", "load.toml", "--json")
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)["verdict"]
    workload = {"trace": str(tmp_path / "t.csv"), "format": "columns"}
    workload["columns"] = "time_us,sector,op,bytes"
    ours = rp.run({"device": "fast12-mlc", "workload": workload}).latency("read")
    scenario = {"device": "fast12-mlc", "load": str(tmp_path / "load.toml")}
    draws = [rp.run(scenario, seed=seed).latency("read").percentile(99) for seed in (1, 2, 3)]
    p50, p99, write_p99 = verdict["percentiles"]
    whats = [each["what"] for each in verdict["percentiles"]]
    assert whats == ["read p50", "read p99", "write p99"]
    assert (p50["trace_ns"], p99["trace_ns"]) == (ours.percentile(50), ours.percentile(99))
    assert p99["load_ns"] == pytest.approx(sum(draws) / 3)
    assert (p99["low_ns"], p99["high_ns"]) == (min(draws), max(draws))
    difference = sum(draws) / 3 / ours.percentile(99) - 1
    assert p99["difference"] == pytest.approx(difference)
    # 400 writes have 4 beyond p99.
    assert write_p99["trace_ns"] is None and write_p99["difference"] is None
    # Poisson arrivals are what a load is made of.
    assert abs(difference) < 0.15 and verdict["misses"] is False
    assert verdict["sentence"].startswith("On fast12-mlc the load is near its trace: read p99 is ")
    comment = (tmp_path / "load.toml").read_text().split("\n\n")[0].replace("\n# ", " ")
    assert verdict["sentence"] in comment


@pytest.mark.seconds(12)
def test_a_load_that_misses_its_trace_says_so(reprieve: Run, tmp_path: Path) -> None:
    """The read p99 of MySQL is a third of that of its load."""
    trace = Path(__file__).parents[2] / "traces" / "linux-mysql.load.gz"
    done = reprieve("trace", "fit", str(trace), "--out", "mysql.toml")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "On fast12-mlc the load misses its trace: read p99 is " in told
    assert "15 % are allowed" in told
    alone = rp.run({"device": "fast12-mlc", "workload": {"trace": str(trace)}}).latency("read")
    assert f"read p99, µs {alone.percentile(99) / 1e3:,.1f} " in told
    assert "misses its trace" in (tmp_path / "mysql.toml").read_text()


@pytest.mark.seconds(13)
def test_a_verdict_is_open_with_few_reads_and_needs_a_drive(reprieve: Run, tmp_path: Path) -> None:
    """900 reads have 9 beyond p99; a device that is none is refused before anything is written."""
    _poisson(tmp_path / "t.csv", 1000)
    fit = ("trace", "fit", "t.csv", *_COLUMNS, "--out", "load.toml")
    done = reprieve(*fit, "--device", "tlc-nvm")
    assert done.returncode == 2
    assert "--device tlc-nvm" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "load.toml").exists()
    done = reprieve(*fit, "--device", "fast12-slc")
    assert done.returncode == 0, done.stderr
    assert "Too few reads for a p99: it is open whether the load is near on" in done.stdout


def test_a_closed_loop_among_flows_has_no_arrivals() -> None:
    flow = {"generator": "mixed", "requests": 5, "read_fraction": 1.0, "queue_depth": 2}
    scenario = {"device": "fast12-slc", "flow": {"a": flow, "b": flow}}
    with pytest.raises(rp.UserError, match="a closed loop among several loads has no arrivals"):
        drawn(scenario)
