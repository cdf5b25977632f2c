"""Intervals against batch means worked out from the request log, and the words about them."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reprieve as rp
from reprieve.cli.compare import mark_of
from reprieve.confidence import bounds_us, cell_us, compared, known, listed, shortage
from reprieve.experiments.columns import told
from reprieve.report.tables import decided

from .drive import SMALL, Reprieve

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}
Values = NDArray[np.float64]


def student_t(freedom: int) -> float:
    """Bound of the middle 95 % of Student's distribution, by adding its density up."""
    x = np.linspace(0, 10, 2_000_001)
    density = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    both = 2 * scale / math.sqrt(freedom * math.pi) * density
    inside = (np.cumsum(both) - (both + both[0]) / 2) * (x[1] - x[0])
    return float(np.interp(0.95, inside, x))


def bucket_ns(latency_ns: NDArray[np.int64]) -> Values:
    """Latencies as percentiles know them: the longest with the same eleven leading bits."""
    shift = np.maximum(np.floor(np.log2(latency_ns)).astype(np.int64) - 10, 0)
    return ((((latency_ns >> shift) + 1) << shift) - 1).astype(np.float64)


def quantile_ns(latency_ns: NDArray[np.int64], quantile: float) -> float:
    """Nearest rank, never above the longest."""
    rank = max(math.ceil(quantile * len(latency_ns)), 1)
    return float(min(np.sort(bucket_ns(latency_ns))[rank - 1], latency_ns.max()))


def interval(whole: float, strays: Values) -> list[float]:
    """Interval around the figure of the whole run, whose logarithm those of batches stray from."""
    count = len(strays)
    error = math.sqrt(float((strays**2).sum()) / count / (count - 1))
    factor = math.exp(student_t(count - 1) * error)
    return [whole / factor, whole * factor]


@pytest.fixture(scope="module")
def result() -> rp.Result:
    """Run reads, writes and trims, and keep their log in memory."""
    sets: dict[str, Any] = {"workload.requests": 50_000, "workload.trim_fraction": 0.05}
    return rp.run(tomllib.loads(SMALL), requests=True, **sets)


@pytest.mark.parametrize("kind", ["read", "write", "total"])
def test_intervals_are_those_of_the_log(result: rp.Result, kind: str) -> None:
    log = result.requests.to_pydict()
    by_number = np.argsort(log["id"])
    op = np.array(log["op"])[by_number]
    latency_ns = (np.array(log["completion_ns"]) - np.array(log["arrival_ns"]))[by_number]
    mine = op != "trim" if kind == "total" else op == kind

    found = result.summary["requests"][kind]["confidence"]
    length = found["batch_requests"]
    # 50,000 requests, trims among them: 12 batches of 4096.
    assert (length, found["batches"]) == (4096, len(latency_ns) // 4096)
    ends = [slice(end, end + length) for end in range(0, found["batches"] * length, length)]
    batches = [latency_ns[end][mine[end]] for end in ends]
    sizes = np.array([len(batch) for batch in batches])
    assert found["fewest_requests"] == sizes.min()

    whole = latency_ns[mine]
    # As of any ratio: what a batch's sum is off the mean of all times its count.
    sums = np.array([float((batch - whole.mean()).sum()) for batch in batches])
    expected = interval(whole.mean(), sums / sizes.mean() / whole.mean())
    assert found["mean"] == pytest.approx(expected, rel=1e-6)
    for name, quantile in QUANTILES.items():
        if sizes.min() * (1 - quantile) < 10 - 1e-9:
            assert found[name] is None
            assert found["too_few"][name] == round(10 / (1 - quantile))
        else:
            values = np.array([quantile_ns(batch, quantile) for batch in batches])
            figure = quantile_ns(whole, quantile)
            expected = interval(figure, np.log(values / figure))
            assert found[name] == pytest.approx(expected, rel=1e-5), name
    means = np.array([batch.mean() for batch in batches])
    strays = means - means.mean()
    lag_1 = float((strays[1:] * strays[:-1]).sum() / (strays**2).sum())
    assert found["lag_1_autocorrelation"] == pytest.approx(lag_1, rel=1e-9)


def test_only_reads_and_writes_of_the_drive_have_confidence(result: rp.Result) -> None:
    requests = result.summary["requests"]
    assert [kind for kind in requests if "confidence" in requests[kind]] == [
        "read",
        "write",
        "total",
    ]
    assert "trim" in requests


def group(
    figures: dict[str, list[float] | None], fewest: int = 50, batches: int = 12
) -> dict[str, Any]:
    needs = {"mean": 10, "p50": 20, "p99": 1000, "p99_9": 10_000, "p99_99": 100_000}
    confidence: dict[str, Any] = {"batches": batches, "batch_requests": 64}
    confidence |= {"fewest_requests": fewest} | figures
    confidence["too_few"] = {name: needs[name] for name in figures if figures[name] is None}
    return {"count": 600, "confidence": confidence}


def test_bounds_are_in_microseconds_or_missing() -> None:
    one = group({"mean": [1000.0, 4_250_000.0], "p50": None})
    assert bounds_us(one, "mean") == ("1.0", "4,250.0")
    assert bounds_us(one, "p50") is None


def test_words_say_what_is_missing() -> None:
    reads = group({"mean": [1.0, 2.0], "p50": [1.0, 2.0], "p99": None, "p99_99": None})
    assert shortage({"read": reads}) == [
        "too few for an interval: p99 needs 1,000 requests in each of 12 batches and p99.99 "
        "100,000; the smallest batch has 50 reads"
    ]
    writes = group({"p99": None, "p99_9": None}, fewest=1200)
    alike = group({"mean": [1.0, 2.0]})
    assert shortage({"read": reads, "write": writes, "total": alike}) == [
        "too few for an interval: p99 needs 1,000 requests in each of 12 batches, p99.9 10,000 "
        "and p99.99 100,000; the smallest batch has 50 reads and 1,200 writes"
    ]
    none = group({"mean": None, "p50": None}, fewest=0, batches=9)
    assert shortage({"write": none}) == [
        "too few requests for intervals: 9 batches of 64, and 10 are needed"
    ]
    assert shortage({"total": alike}) == shortage({"write": none | {"count": 0}}) == []
    assert [listed("a"), listed("ab"), listed("abc")] == ["a", "a and b", "a, b and c"]


def test_run_shows_intervals_and_what_is_missing(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    lines = reprieve("run", small, "--out", "o").stdout.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("read "))
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    low, high = summary["requests"]["read"]["confidence"]["mean"]
    assert lines[at + 1].split()[:2] == ["from", f"{low / 1000:,.1f}"]
    assert lines[at + 2].split()[:2] == ["to", f"{high / 1000:,.1f}"]
    # The p99 of 2,100 reads has no interval; p99.9 would be their worst two.
    assert lines[at - 2].split() == ["requests", "mean", "p50", "p99", "max"]
    assert lines[at + 1].count("too few") == 1
    assert any(line.startswith("too few for an interval: p99 needs 1,000 ") for line in lines)


def test_compare_says_what_is_decided_and_what_is_not(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    axis = ("--axis", "timing.t_read_us=25,25.0,400", "--set", "workload.requests=20000")
    lines = reprieve("compare", small, *axis, "--out", "o").stdout.splitlines()
    # The same drive twice, and one whose reads are certainly longer.
    alike = "25.0 against 25: not significant at 95 %: read mean, write mean"
    assert alike in lines
    slower = "400 against 25: significant at 95 %: read mean (×"
    assert any(line.startswith(slower) for line in lines)
    few = "too few requests for an interval of read p99 and write p99:"
    assert few in "\n".join(lines)
    pairs = json.loads((tmp_path / "o" / "compare.json").read_text())["paired"]
    names = [(pair["run"], pair["base"]) for pair in pairs]
    assert names == [("25.0", "25"), ("400", "25"), ("400", "25.0")]
    found = pairs[1]["measures"]["read_latency_ns_mean"]
    # A read takes 375 µs more, and keeps others waiting.
    assert found["decided"] and 375_000 < found["low"] < found["mean_difference"] < found["high"]


def test_a_comparison_in_python_says_the_same() -> None:
    runs = rp.compare(tomllib.loads(SMALL), {"timing.t_read_us": [25, 400]})
    found = runs.paired("400")["read_latency_ns_mean"]
    back = runs.paired("25", "400")["read_latency_ns_mean"]
    assert found["decided"] and back["decided"]
    assert (back["low"], back["high"]) == (-found["high"], -found["low"])  # type: ignore[operator]
    assert runs.paired("400")["read_latency_ns_p99_99"]["low"] is None
    with pytest.raises(rp.UserError, match=r'paired\("8"\): must be one of 25, 400'):
        runs.paired("8")
    assert decided(runs)[0].startswith("400 against 25: significant at 95 %: read mean (×")


def test_percentile_with_fewer_than_ten_requests_beyond_is_no_number() -> None:
    """Of n requests n / 100 lie beyond the p99: ten of 1,000, and so on."""
    fewest = {"p50": 20, "p95": 200, "p99": 1000, "p99_9": 10_000, "p99_99": 100_000}
    for figure, enough in fewest.items():
        group = {"count": enough, "latency_ns": {figure: 1_234_500}}
        assert cell_us(group, figure) == "1,234.5"
        assert cell_us(group | {"count": enough - 1}, figure) == "too few"
    assert cell_us({"count": 1, "latency_ns": {"mean": 1000, "max": 2000}}, "mean") == "1.0"
    assert cell_us({"count": 1, "latency_ns": {"mean": 1000, "max": 2000}}, "max") == "2.0"
    assert cell_us({"count": 0, "latency_ns": {}}, "p50") == "–"


def test_tables_of_every_command_say_too_few(reprieve: Reprieve, small: Path) -> None:
    """SMALL has 3,000 requests, seven tenths are reads: their p99 has ten beyond it."""
    (small.parent / "sweep.toml").write_text(
        'scenario = "small.toml"\ndesign = "grid"\n[axes]\npolicy = ["FIFO", "RPS"]\n'
    )
    for line in (["run", "small.toml"], ["compare", "small.toml", "--axis", "policy=FIFO,RPS"],
                 ["sweep", "sweep.toml"]):  # fmt: skip
        done = reprieve(*line, "--out", f"o-{line[0]}")
        assert (done.returncode, done.stderr) == (0, "")
        # A sweep has no notes; its columns are those with enough requests.
        assert ("too few" in done.stdout) == (line[0] != "sweep")
        assert "p99.9" not in done.stdout.splitlines()[0]
    found = rp.run(small)
    assert found._repr_html_().count("too few") == 3, (
        "the p99 of 900 writes, intervals of the others"
    )


def test_marks_tell_no_difference_from_too_few_requests() -> None:
    assert mark_of({"decided": True}) == ""
    assert mark_of({"decided": False, "low": -1.0, "high": 1.0}) == "~"
    assert mark_of({"decided": False, "reason": "too few batches have such requests"}) == "?"


def counted(reads: int, writes: int, *intervals: str) -> dict[str, Any]:
    """Return the counts of a summary, with intervals of some tails of both."""
    found = {tail: [1.0, 2.0] if tail in intervals else None for tail in ("p99_9", "p99_99")}
    kinds = {"read": reads, "write": writes}
    return {"requests": {kind: {"count": n, "confidence": found} for kind, n in kinds.items()}}


def test_tables_have_the_figures_that_have_enough_requests() -> None:
    """Ten requests beyond: 20 for p50, 1,000 for p99, 10,000 for p99.9, 100,000 for p99.99."""
    assert known([0, 999]) == ["mean", "p50"]
    assert known([10_000, 5]) == ["mean", "p50", "p99", "p99_9"]
    assert known([]) == ["mean"]
    both = [counted(10**7, 0, "p99_9", "p99_99"), counted(10**6, 0, "p99_9")]
    assert compared(both) == [("read", "mean"), ("read", "p99"), ("read", "p99_9")]
    assert compared(both[:1])[2] == ("read", "p99_99")
    assert compared([*both, counted(10**5, 0)]) == [("read", "mean"), ("read", "p99")]
    # One run has the requests for a p99 of writes; the other's cell says "too few".
    assert compared([counted(0, 1000), counted(0, 999)]) == [("write", "mean"), ("write", "p99")]
    assert compared([counted(0, 999)]) == [("write", "mean")]
    assert compared([counted(0, 0)]) == []
    row = {f"read_latency_ns_{figure}": 1.0 for figure in ("mean", "p99", "p99_9", "p99_99")}
    assert told([row | {"read_count": 10_000}, row | {"read_count": 3}]) == [
        f"read_latency_ns_{figure}" for figure in ("mean", "p99", "p99_9")
    ]
