"""The Python interface: the same results as the command line, as Python values."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import reprieve as rp
from reprieve.plot import Figure

from .drive import SMALL

SCENARIO = tomllib.loads(SMALL)


@pytest.fixture(scope="module")
def result() -> rp.Result:
    """One run with its log in memory."""
    return rp.run(SCENARIO, requests=True)


def test_commands_start_without_what_draws_charts() -> None:
    """Half a second of every command, for charts that most never draw."""
    command = "import sys, reprieve.cli; print({'altair', 'jinja2', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_dictionary_and_file_give_the_same(small: Path, result: rp.Result) -> None:
    for scenario in (small, str(small)):
        again = rp.run(scenario, requests=True)
        assert json.dumps(again.summary) == json.dumps(result.summary)
        assert again.scenario == result.scenario


def test_overrides_reach_the_scenario() -> None:
    dotted: dict[str, Any] = {"workload.requests": 100}
    result = rp.run(SCENARIO, timing__t_read_us=50, **dotted)
    resolved = tomllib.loads(result.scenario)
    assert resolved["timing"]["t_read_us"] == 50
    assert result.summary["requests"]["total"]["count"] == 100


def test_latency_agrees_with_the_summary(result: rp.Result) -> None:
    for kind in ("read", "write", "total"):
        group = result.summary["requests"][kind]
        latency = result.latency(kind)
        assert latency.requests == group["count"]
        exact = group["latency_ns"]
        assert (latency.mean, latency.min, latency.max) == (
            exact["mean"],
            exact["min"],
            exact["max"],
        )
        for key, percent in (("p50", 50), ("p99", 99), ("p99_9", 99.9), ("p99_99", 99.99)):
            assert latency.percentile(percent) == exact[key]


def test_percentiles_are_near_those_of_the_log(result: rp.Result) -> None:
    """The histogram's buckets are at most 1/128 wide; the log has every latency."""
    rows = result.requests.to_pylist()
    reads = sorted(r["completion_ns"] - r["arrival_ns"] for r in rows if r["op"] == "read")
    for percent in (1, 50, 90, 99, 99.9):
        exact = reads[max(1, -int(-percent * len(reads) // 100)) - 1]
        assert exact <= result.latency("read").percentile(percent) <= exact * (1 + 1 / 128) + 1


def test_log_on_disk_is_the_log_in_memory(tmp_path: Path, result: rp.Result) -> None:
    stored = rp.run(SCENARIO, requests=True, out=tmp_path / "o")
    # A file has the words of `op` that occur, in the order in which they do.
    one, other = (
        log.set_column(1, "op", log["op"].cast(pa.string()))
        for log in (stored.requests, result.requests)
    )
    assert one.column_names[:2] == ["id", "op"] and one.equals(other)
    assert (tmp_path / "o" / "summary.json").exists()
    assert not (tmp_path / "o" / "report.html").exists()


def test_run_without_log_says_so() -> None:
    with pytest.raises(rp.UserError) as caught:
        _ = rp.run(SCENARIO).requests
    assert str(caught.value) == ("this run kept no log of its requests; run it with requests=True")


def test_unknown_kind_of_latency_is_named(result: rp.Result) -> None:
    with pytest.raises(rp.UserError) as caught:
        result.latency("raed")
    assert str(caught.value) == 'latency("raed"): must be "read", "write" or "total"'


def test_comparison_maps_labels_to_results(tmp_path: Path, result: rp.Result) -> None:
    found = rp.compare(SCENARIO, {"policy": ["FIFO", "PES-IPC"]}, jobs=2, out=tmp_path / "c")
    assert list(found) == ["FIFO", "PES-IPC"]
    alone = rp.run(SCENARIO, policy="PES-IPC")
    assert json.dumps(found["PES-IPC"].summary) == json.dumps(alone.summary)
    base = found["FIFO"].summary["requests"]["read"]["latency_ns"]["p99"]
    ours = alone.summary["requests"]["read"]["latency_ns"]["p99"]
    assert found.normalised()["PES-IPC"]["read_p99"] == ours / base
    assert found.normalised()["FIFO"]["write_mean"] == 1.0
    document = json.loads((tmp_path / "c" / "compare.json").read_text())
    assert [run["label"] for run in document["runs"]] == list(found)


def test_comparison_without_writes_has_no_ratio_of_them() -> None:
    found = rp.compare(SCENARIO, {"seed": [1, 2]}, workload__read_fraction=1.0)
    assert found.normalised()["2"]["write_mean"] is None


def rows_of(chart: Figure) -> list[dict[str, Any]]:
    """Rows that a chart is drawn from."""
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


@pytest.mark.parametrize("chart", ["cdf", "tail", "components"])
def test_plots_of_an_operation(result: rp.Result, chart: str) -> None:
    spec = getattr(result.plot, chart)("write").to_dict()
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    with pytest.raises(rp.UserError):
        getattr(result.plot, chart)("trim")


def test_curve_leaves_out_what_takes_no_time() -> None:
    # Acknowledged from the buffer, over no link: at once; reads of flash take their time.
    load = {"generator": "mixed", "requests": 200, "queue_depth": 1, "request_bytes": 2048}
    result = rp.run(
        {"device": "fast12-slc", "host": {"link_bytes_per_s": "none"}, "workload": load},
        buffer__acknowledge="back", workload__read_fraction=0.5,
    )  # fmt: skip
    assert result.latency("write").min == 0
    assert all(row["latency_us"] > 0 for row in rows_of(result.plot.tail("total")))


def test_curve_goes_from_the_smallest_to_the_largest(result: rp.Result) -> None:
    rows = rows_of(result.plot.tail("read"))
    latencies = [row["latency_us"] for row in rows]
    assert latencies == sorted(latencies)
    assert latencies[0] * 1000 == result.latency("read").min
    assert (rows[0]["share"], rows[-1]["share"]) == (0, 1)
    assert latencies[-1] * 1000 == result.latency("read").max
    # The largest of n stands at 1 − 1/n, which is log10(n) nines.
    count = result.latency("read").requests
    assert 10 ** rows[-1]["nines"] == pytest.approx(count, rel=1e-3)


def test_components_plot_adds_up_to_the_mean(result: rp.Result) -> None:
    rows = rows_of(result.plot.components("read"))
    total_us = sum(row["mean_us"] for row in rows)
    assert total_us * 1000 == pytest.approx(result.latency("read").mean, rel=1e-9)


def test_chart_can_be_saved_without_a_browser(result: rp.Result, tmp_path: Path) -> None:
    result.plot.bars().save(str(tmp_path / "bars.svg"))
    assert (tmp_path / "bars.svg").read_text().startswith("<svg")


def test_builtin_names(result: rp.Result) -> None:
    assert {"fast12-slc", "fast12-mlc"} <= {entry.name for entry in rp.devices()}
    assert result.device == "fast12-mlc"
    for entry in rp.devices():
        assert tomllib.loads(rp.device(entry.name)) and entry.doc.endswith(".")
    for entry in rp.parts():
        assert tomllib.loads(rp.part(entry.name)) and entry.doc.endswith(".")
    assert "rps" in {entry.name for entry in rp.policies()["scheduling.policy"]}
    assert set(rp.policies()) == {
        "scheduling.policy",
        "scheduling.dispatch",
        "suspension.policy",
        "ftl.placement",
        "ftl.gc_victim",
        "ftl.stream",
        "host.arbitration",
        "policy",
    }
