"""How a run went over time: against its request log, by hand, and that watching changes nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import reprieve as rp
from reprieve import UserError
from reprieve.plot.over_time import COURSES
from reprieve.plot.over_time import rows as time_rows
from reprieve.plot.spread import slow, wear
from reprieve.request_log import COMPONENTS
from reprieve.series import Series

from .drive import SMALL, Reprieve


@pytest.fixture(scope="module")
def watched() -> rp.Result:
    """Run under suspension and keep requests and series."""
    return rp.run(tomllib.loads(SMALL), policy="PES-IPC", requests=True, series=True)


def series_of(result: rp.Result) -> Series:
    assert result.series is not None
    return result.series


def by_hand(**changes: Any) -> Series:
    """Two bins of 1000 ns and one of 500: reads of 1, 2 and 4 ns in buckets of these ends."""
    bins = {
        "start_ns": np.array([0, 1000, 2000]),
        "length_ns": np.array([1000, 1000, 500]),
        "read_count": np.array([3, 0, 1]),
        "read_latency_ns_mean": np.array([2.0, 0.0, 4.0]),
        "read_latency_ns_max": np.array([3, 0, 4]),
        "open_requests_mean": np.array([1.0, 3.0, 5.0]),
        "open_requests_max": np.array([2, 7, 5]),
    }
    counts = np.array([[1, 2, 0], [0, 0, 0], [0, 0, 1]])
    parts = np.zeros((3, len(COMPONENTS)))
    # Of the first bucket all is queue, of the second half, of the third nothing: the rest is array.
    parts[:, COMPONENTS.index("queue_ns")] = [1, 2, 0]
    parts[:, COMPONENTS.index("array_ns")] = [0, 2, 4]
    fields: dict[str, Any] = {
        "bins": bins,
        "latency_upper_ns": np.array([1, 2, 4]),
        "latency_counts": {"read": counts},
        "parts_ns": {"read": parts},
        "ages": {},
        "die_busy_ns": np.array([0]),
        "channel_busy_ns": np.array([0]),
        "erases": np.array([0]),
        "blocks": np.array([1]),
    }
    return Series(**fields | changes)


def test_percentiles_of_a_bin_are_those_of_its_requests() -> None:
    series = by_hand()
    # Ranks of three: the first third is the shortest; above it comes the bucket up to 2.
    assert series.percentile_ns("read", 33.0).tolist()[0] == 1
    medians = series.percentile_ns("read", 50.0)
    assert medians[0] == 2
    assert np.isnan(medians[1])
    assert medians[2] == 4


def test_no_percentile_is_above_the_longest() -> None:
    coarse = by_hand(latency_upper_ns=np.array([1, 9, 99]))
    assert coarse.percentile_ns("read", 99.0).tolist()[::2] == [3, 4]


def test_the_slowest_take_what_they_need_of_a_bucket() -> None:
    series = by_hand()
    # Four reads. A quarter is the one of 4 ns; a half takes one of the two from the bucket below,
    # whose mean is 1 ns of queue and 1 of array.
    quarter, half = series.slowest("read", 0.25), series.slowest("read", 0.5)
    assert (quarter["queue_ns"], quarter["array_ns"]) == (0.0, 4.0)
    assert (half["queue_ns"], half["array_ns"]) == (0.5, 2.5)
    everything = series.slowest("read", 1.0)
    assert (everything["queue_ns"], everything["array_ns"]) == (0.75, 1.5)
    nobody = by_hand(latency_counts={"read": np.zeros((3, 3), dtype=np.int64)})
    assert nobody.slowest("read", 0.5) == {}


def test_fewer_bins_have_the_same_sums_and_weighted_means() -> None:
    series = by_hand().in_bins(2)
    assert {name: column.tolist() for name, column in series.bins.items()} == {
        "start_ns": [0, 2000],
        "length_ns": [2000, 500],
        "read_count": [3, 1],
        "read_latency_ns_mean": [2.0, 4.0],
        "read_latency_ns_max": [3, 4],
        "open_requests_mean": [2.0, 5.0],
        "open_requests_max": [7, 5],
    }
    assert series.latency_counts["read"].tolist() == [[1, 2, 0], [0, 0, 1]]


def test_bins_hold_the_requests_of_the_log(watched: rp.Result) -> None:
    series, log = series_of(watched), watched.requests
    width_ns = int(series.bins["length_ns"][0])
    assert 256 < len(series) <= 512
    for op in ("read", "write"):
        own = log.filter(pc.equal(log["op"], op))
        done_ns = own["completion_ns"].to_numpy()
        latency_ns = done_ns - own["arrival_ns"].to_numpy()
        bins = np.maximum(done_ns - 1, 0) // width_ns
        count = np.bincount(bins, minlength=len(series))
        assert series.bins[f"{op}_count"].tolist() == count.tolist()
        total = np.bincount(bins, own["bytes"].to_numpy(), minlength=len(series))
        assert series.bins[f"{op}_bytes"].tolist() == total.tolist()
        for percent in (50, 99):
            found = series.percentile_ns("read" if op == "read" else "write", percent)
            for index in np.flatnonzero(count):
                ranked = np.sort(latency_ns[bins == index])
                exact = ranked[max(int(np.ceil(percent / 100 * len(ranked))), 1) - 1]
                assert exact <= found[index] <= exact * (1 + 1 / 16)


def test_all_requests_are_the_slowest_of_all(watched: rp.Result) -> None:
    for op in ("read", "write"):
        means = watched.summary["requests"][op]["components_ns"]
        kept = series_of(watched).slowest("read" if op == "read" else "write", 1.0)
        for name, mean_ns in means.items():
            assert kept[f"{name}_ns"] == pytest.approx(mean_ns)


def test_sums_are_those_of_the_summary(watched: rp.Result) -> None:
    bins, flash = series_of(watched).bins, watched.summary["flash"]
    for kind in ("program", "erase"):
        assert bins[f"{kind}_suspensions"].sum() == flash["suspensions"][kind]
        assert series_of(watched).ages[kind].sum() == flash["suspensions"][kind]
    assert flash["suspensions"]["program"] > 0
    for name in ("host_programs", "gc_programs", "erases"):
        assert bins[name].sum() == flash[name]
    assert bins["length_ns"].sum() == watched.summary["device"]["simulated_ns"]
    dies = len(series_of(watched).die_busy_ns)
    # 64 blocks in each of two planes.
    assert sum(row["blocks"] for row in wear({"run": watched})) == 64 * 2 * dies


def test_watching_changes_no_number(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    assert reprieve("run", small, "--out", "plain").returncode == 0
    assert reprieve("run", small, "--report", "--out", "seen").returncode == 0
    plain, seen = tmp_path / "plain", tmp_path / "seen"
    assert (plain / "summary.json").read_text() == (seen / "summary.json").read_text()
    table = pq.read_table(seen / "series.parquet")
    assert table.column_names[:2] == ["start_ns", "length_ns"]
    assert "read_latency_ns_p99_9" in table.column_names
    assert pc.sum(table["read_count"]).as_py() > 0
    # What a run without a report finds there is not its own.
    assert reprieve("run", small, "--out", "seen").returncode == 0
    assert not (seen / "series.parquet").exists()


def test_a_run_that_was_not_watched_has_none() -> None:
    result = rp.run(tomllib.loads(SMALL), workload__requests=100)
    assert result.series is None
    with pytest.raises(UserError, match="run it with series=True"):
        result.plot.over_time("busy")


def test_what_is_drawn_is_what_was_counted(watched: rp.Result) -> None:
    series = series_of(watched)
    rows = time_rows({"a": watched}, COURSES["suspensions"])
    drawn = [row["value"] for row in rows if row["series"] == "of programs"]
    length_s = series.bins["length_ns"] / 1e9
    expected = series.bins["program_suspensions"] / length_s
    assert drawn == pytest.approx(expected.tolist(), rel=1e-4)
    # The mapping is not in flash: its programs are not drawn.
    words = {row["series"] for row in time_rows({"a": watched}, COURSES["programs"])}
    assert "of the mapping" not in words
    with pytest.raises(UserError, match='must be one of "read_latency", "write_latency"'):
        watched.plot.over_time("latency")
    spec = watched.plot.over_time("read_latency").to_dict()
    assert spec["encoding"]["y"]["title"] == "read latency, µs"


def test_many_runs_share_the_points_of_a_chart(watched: rp.Result) -> None:
    runs = {str(index): watched for index in range(40)}
    rows = time_rows(runs, COURSES["open_requests"])
    assert len(rows) <= 2 * 2560


def test_slow_classes_without_enough_requests_are_left_out(watched: rp.Result) -> None:
    rows = slow({"run": watched}, "read")
    # 2100 reads: the slowest 0.1 % would be two.
    assert {row["class"] for row in rows} == {"all", "slowest 10 %", "slowest 1 %"}
    for word in ("all", "slowest 1 %"):
        shares = [row["share"] for row in rows if row["class"] == word]
        assert sum(shares) == pytest.approx(1, abs=1e-3)
