"""Results as tables of Arrow, pandas and polars."""

from __future__ import annotations

import sys
import tomllib
from typing import Any

import pytest

import reprieve as rp

from .drive import SMALL

SCENARIO = tomllib.loads(SMALL)


@pytest.fixture(scope="module")
def result() -> rp.Result:
    return rp.run(
        SCENARIO,
        requests=True,
        workload__requests=500,
        power__account="on",
        power__series_us=100_000,
        part="mlc-fast12",
    )


def test_requests_are_rows(result: rp.Result) -> None:
    table = result.to_arrow()
    assert table.num_rows == 500
    assert result.to_pandas()["id"].tolist() == table["id"].to_pylist()
    assert result.to_polars()["op"].to_list() == table["op"].to_pylist()


def test_histograms_add_up_to_the_requests(result: rp.Result) -> None:
    frame = result.to_pandas("latency")
    counts = frame.groupby("kind")["count"].sum().to_dict()
    assert counts == {
        kind: result.summary["requests"][kind]["count"] for kind in ("read", "write", "total")
    }
    one = result.latency("write").to_polars()
    assert one["upper_ns"].to_list() == result.latency("write").upper_ns.tolist()
    assert (
        int(one["count"].sum())
        == counts["write"]
        == int(result.latency("write").to_pandas()["count"].sum())
    )


def test_summary_is_one_row(result: rp.Result) -> None:
    (row,) = result.to_arrow("summary").to_pylist()
    summary = result.summary
    assert (
        row["requests.read.latency_ns.p99_9"] == summary["requests"]["read"]["latency_ns"]["p99_9"]
    )
    assert row["flash.suspensions.program"] == summary["flash"]["suspensions"]["program"]
    assert row["run.version"] == rp.__version__
    assert result.to_pandas("summary").shape == (1, len(row))
    assert result.to_polars("summary").shape == (1, len(row))


def test_power_is_a_row_a_bin(result: rp.Result) -> None:
    assert result.power is not None
    assert result.to_polars("power")["core_pj"].to_list() == result.power["core_pj"].tolist()


def test_comparison_is_a_row_a_run() -> None:
    axes: dict[str, list[Any]] = {"policy": ["FIFO", "RPS"], "workload.read_fraction": [0.5, 0.9]}
    runs = rp.compare(SCENARIO, axes, workload__requests=300)
    frame = runs.to_pandas()
    assert frame["label"].tolist() == list(runs)
    assert frame["policy"].tolist() == ["FIFO", "FIFO", "RPS", "RPS"]
    assert frame["workload.read_fraction"].tolist() == [0.5, 0.9, 0.5, 0.9]
    column = "requests.read.latency_ns.mean"
    means = [run.summary["requests"]["read"]["latency_ns"]["mean"] for run in runs.values()]
    assert frame[column].tolist() == means == runs.to_polars()[column].to_list()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_without_the_package_it_says_so(
    result: rp.Result, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(rp.UserError) as caught:
        getattr(result, f"to_{package}")()
    assert str(caught.value) == (
        f"to_{package}() needs {package}, which is not installed: pip install 'reprieve[frames]'"
    )


def test_missing_tables_are_sentences() -> None:
    plain = rp.run(SCENARIO, workload__requests=10)
    with pytest.raises(rp.UserError, match="kept no log of its requests"):
        plain.to_pandas()
    with pytest.raises(rp.UserError, match=r"kept no power over time; give power\.series_us"):
        plain.to_arrow("power")
    with pytest.raises(rp.UserError, match="table = 'latencies': must be"):
        plain.to_arrow("latencies")  # type: ignore[arg-type]
