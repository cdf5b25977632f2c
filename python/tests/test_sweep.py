"""Sweeps: they give what single runs give, do none twice, and their data set answers questions."""

from __future__ import annotations

import importlib
import json
import math
import os
import shutil
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import reprieve as rp
from reprieve import UserError, _native, tables
from reprieve.cli import main
from reprieve.experiments import executors, identity
from reprieve.experiments.columns import column, flat
from reprieve.experiments.engine import Settings, sweep_into
from reprieve.experiments.identity import Identities, path_keys, run_id
from reprieve.experiments.intervals import mean_intervals
from reprieve.experiments.plan import read_plan
from reprieve.experiments.store import DamagedError, locked
from reprieve.experiments.work import Row, Task
from reprieve.pairs import measures
from reprieve.scenario import Source
from reprieve.student import student_t

from .drive import Reprieve
from .sweep_files import contents, grid, lose, scenario, stored

SWEEP = """
scenario = "small.toml"
design = "grid"
[set]
"workload.requests" = 300
[axes]
policy = ["fifo", "pes-ipc"]
[goals]
read_latency_ns_mean = "min"
"""


def test_grid_gives_what_single_runs_give(tmp_path: Path) -> None:
    found = rp.sweep(grid(seeds=[3, 8]), out=tmp_path, workers=2).runs.to_pylist()
    assert [(row["policy"], row["workload_rate_iops"], row["seed"]) for row in found] == [
        (policy, rate, seed)
        for policy in ("fifo", "pes-ipc")
        for rate in (500, 1500)
        for seed in (3, 8)
    ]
    for row in found:
        alone = rp.run(
            scenario(), policy=row["policy"], workload__rate_iops=row["workload_rate_iops"],
            seed=row["seed"],
        )  # fmt: skip
        summary = alone.summary
        assert row["read_count"] == summary["requests"]["read"]["count"]
        assert row["read_latency_ns_p99"] == summary["requests"]["read"]["latency_ns"]["p99"]
        assert row["flash_suspensions_program"] == summary["flash"]["suspensions"]["program"]
        for what in ("read", "write", "total"):
            latency = alone.latency(what)
            buckets = row[f"{what}_histogram"]
            assert [bucket["upper_ns"] for bucket in buckets] == latency.upper_ns.tolist()
            assert [bucket["count"] for bucket in buckets] == latency.count.tolist()


def test_every_number_of_a_summary_has_a_column() -> None:
    summary = rp.run("examples/two-tenants.toml", workload__requests=1000).summary
    row = flat(summary)
    assert row["flows_small_requests_read_count"] == 1000
    assert row["fairness_jain_iops"] == summary["fairness"]["jain_iops"]
    low, high = summary["requests"]["read"]["confidence"]["mean"]
    assert (row["read_confidence_mean_low"], row["read_confidence_mean_high"]) == (low, high)
    assert row["flows_small_requests_write_latency_ns_mean"] is None  # no writes, and so no latency
    assert summary["flows"]["small"]["requests"]["write"]["latency_ns"]["mean"] == 0
    assert not {"run_wall_s", "wall_s", "run_peak_rss_bytes"} & set(row)


def test_what_some_runs_have_and_others_have_not_is_one_column(tmp_path: Path) -> None:
    # Every write of the second point takes as long as every other, so that the means of batches
    # are equal and have no correlation; of the first they differ.
    load = {"requests": 1300, "arrivals": "fixed", "rate_iops": 10, "read_fraction": 0}
    axes = {"workload.rate_iops": [10, 20_000]}
    name = "write_confidence_lag_1_autocorrelation"
    plan = {"scenario": scenario(**load), "seeds": 2, "design": "grid", "axes": axes}
    found = rp.sweep(plan, out=tmp_path)
    assert found.runs.column_names.count(name) == 1
    lags = found.runs.column(name).to_pylist()
    assert lags[:2] == [None, None] and None not in lags[2:]
    points = found.points  # which could not be read where a column was there twice
    assert points.column(name).null_count == 1
    assert len(set(points.column_names)) == len(points.column_names)


def test_a_data_set_appears_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rp.sweep(grid(), out=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.parquet")}
    assert len(before) >= 3
    write, calls = tables.write, list[int]()

    def fail(table: _native.Table, file: BinaryIO) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        write(table, file)

    monkeypatch.setattr(tables, "write", fail)
    axes = {"policy": ["rps"], "workload.rate_iops": [500]}
    with pytest.raises(UserError, match="No space left on device"):
        rp.sweep(grid(axes=axes), out=tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.parquet")} == before
    assert not list(tmp_path.glob(".*.partial"))


def test_no_number_is_called_like_a_key() -> None:
    headings = [line for line in _native.reference().splitlines() if line.startswith("### `")]
    keys = {column(line.split("`")[1]) for line in headings}
    assert len(keys) > 100
    names = set(flat(rp.run("examples/two-tenants.toml", workload__requests=100).summary))
    names |= set(flat(rp.run(scenario(), power__account="on").summary))
    assert not keys & names


def test_finished_runs_are_never_done_again(tmp_path: Path) -> None:
    rp.sweep(grid(), out=tmp_path)
    before = contents(tmp_path)
    before_runs = stored(tmp_path)
    assert len(before_runs) == 4
    axes = {"policy": ["fifo", "rps", "pes-ipc"], "workload.rate_iops": [500, 1500]}
    rp.sweep(grid(axes=axes), out=tmp_path)
    after = stored(tmp_path)
    assert len(after) == 6 and before_runs.items() <= after.items()
    rp.sweep(grid(), out=tmp_path)
    assert stored(tmp_path) == after
    assert contents(tmp_path) == before


def test_order_and_number_of_workers_change_nothing(tmp_path: Path) -> None:
    for workers in (1, 3):
        rp.sweep(grid(seeds=2), out=tmp_path / str(workers), workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "3")


def test_damaged_table_is_written_anew(tmp_path: Path) -> None:
    whole = rp.sweep(grid(), out=tmp_path).points
    (tmp_path / "points.parquet").write_bytes(b"")
    assert rp.sweep(grid(), out=tmp_path).points == whole


def test_damaged_run_is_named_and_done_again(tmp_path: Path) -> None:
    rp.sweep(grid(), out=tmp_path)
    before = contents(tmp_path)
    file = next(tmp_path.glob("segments/*.parquet"))
    whole = file.read_bytes()
    middle = whole.index(b"\x28\xb5\x2f\xfd", len(whole) // 2)  # of a page, its first frame
    damaged = bytearray(whole)
    damaged[middle : middle + 40] = bytes(40)
    for broken in (whole[:-9], b"", bytes(damaged)):
        file.write_bytes(broken)
        (tmp_path / "runs.parquet").unlink()
        with pytest.warns(UserWarning, match=f"{file.name}: .*; its runs are done again"):
            rp.sweep(grid(), out=tmp_path)
        assert contents(tmp_path) == before
        file = next(tmp_path.glob("segments/*.parquet"))
        assert file.read_bytes() != broken
        rp.sweep(grid(), out=tmp_path)


def named(path: Path) -> str:
    return run_id(Source.of({"device": "fast12-mlc", "workload": {"trace": path}}, {}).resolve())


def test_run_is_known_by_what_its_trace_holds_and_not_by_where_it_lies(tmp_path: Path) -> None:
    assert path_keys() >= {"workload.trace", "workload.fio"}
    first, second = tmp_path / "a.trace", tmp_path / "b.trace"
    first.write_text("0 0 8 8 1\n1000 0 8 8 0\n")
    shutil.copy(first, second)
    before = named(first)
    assert named(second) == before
    second.write_text("0 0 8 8 1\n1000 0 8 9 0\n")
    assert named(second) != before
    resolved = Source.of({"device": "fast12-mlc", "workload": {"trace": second}}, {}).resolve()
    second.unlink()
    with pytest.raises(UserError, match=r"b.trace: cannot read this file of a scenario: No such"):
        run_id(resolved)


def test_run_is_known_by_all_files_of_a_folder_or_a_pattern(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "b.trace").write_text("0 0 8 8 1\n")
    (traces / "a.trace").write_text("0 0 8 8 0\n")
    for means in ("traces", "traces/*.trace"):
        resolved = f'[workload]\ntrace = "{tmp_path / means}"\n'
        before = run_id(resolved)
        (traces / "b.trace").write_text("0 0 8 9 1\n")
        changed = run_id(resolved)
        (traces / "c.trace").write_text("0 0 8 8 1\n")
        assert len({before, changed, run_id(resolved)}) == 3
        (traces / "c.trace").unlink()
        (traces / "b.trace").write_text("0 0 8 8 1\n")
        assert run_id(resolved) == before


def test_flow_with_another_trace_is_another_run(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    text = f'device = "fast12-mlc"\n[flow.one]\ntrace = "{path}"\n'
    names = set()
    for content in ("0 0 8 8 1\n", "0 0 8 9 1\n"):
        path.write_text(content)
        names.add(run_id(Source(text, str(tmp_path / "s.toml")).resolve()))
    assert len(names) == 2


def test_version_is_part_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.of(scenario(), {})
    before = Identities(source).of(())
    assert Identities(source).of(()) == before != Identities(source).of(["seed=8"])
    monkeypatch.setattr(_native, "__version__", "0.0.0")
    identity._stamp.cache_clear()
    released = Identities(source).of(())
    monkeypatch.setattr(_native, "__version__", "0.0.0-dev")
    identity._stamp.cache_clear()
    # Of a development version each build has runs of its own.
    assert len({before, released, Identities(source).of(())}) == 3
    identity._stamp.cache_clear()


def test_identity_covers_every_input(tmp_path: Path) -> None:
    trace = tmp_path / "a.trace"
    trace.write_text("0 0 8 8 1\n1000 0 8 8 0\n")
    source = Source.of({"device": "fast12-mlc", "workload": {"trace": trace}}, {})
    other = Source.of({"device": "fast12-slc", "workload": {"trace": trace}}, {})
    same = Source(f"# A comment.\n{source.text}", source.path)
    sets = ['policy="rps"', "timing.t_read_us=30", "seed=4"]
    found = Identities(source).of(sets)
    assert found == Identities(source).of(sets[::-1]) == Identities(same).of(sets)
    changed = [
        Identities(other).of(sets),
        Identities(source).of(sets[1:]),
        Identities(source).of(['policy="fifo"', *sets[1:]]),
        Identities(source).of([sets[0], "timing.t_read_us=31", sets[2]]),
        # A key without its own default may hold back another's.
        Identities(source).of([*sets, "timing.t_erase_us=1500"]),
    ]
    trace.write_text("0 0 8 8 1\n1000 0 8 9 0\n")
    changed.append(Identities(source).of(sets))
    assert len({found, *changed}) == 1 + len(changed)


def test_scenario_that_needs_its_numbers_is_identified_by_all_of_them(tmp_path: Path) -> None:
    load = {"generator": "mixed", "read_fraction": 0.5, "queue_depth": 4}
    source = Source.of({"device": "fast12-mlc", "workload": load}, {})
    with pytest.raises(UserError, match="requests is missing"):
        source.resolve()
    names = {count: Identities(source).of([f"workload.requests={count}"]) for count in (10, 20)}
    together = Identities(source)
    assert names == {n: together.of([f"workload.requests={n}"]) for n in (20, 10)}
    assert names[10] != names[20]


def test_run_that_fails_is_a_row(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SWEEP.replace('"fifo"', '"fifo", "lifo"'))
    done = reprieve("sweep", "s.toml", "--out", "o")
    assert done.returncode == 0
    start = 's.toml: 1 of the first 3 points will fail, first policy=lifo: --set: policy = "lifo"'
    assert start in done.stderr and "s.toml: 1 of 3 runs failed" in done.stderr
    assert "3 runs, of which 3 were done now, 1 failed" in done.stdout
    for table in ("runs", "points"):
        errors = pq.read_table(tmp_path / f"o/{table}.parquet").column("error").to_pylist()
        assert errors[0] is None and errors[2] is None
        assert errors[1].startswith('policy=lifo: --set: policy = "lifo": must be one of')
    runs = pq.read_table(tmp_path / "o/runs.parquet").to_pylist()
    assert runs[1]["read_count"] is None and runs[0]["read_count"] > 0
    assert (
        "3 runs, of which 0 were done now, 1 failed"
        in reprieve("sweep", "s.toml", "--out", "o").stdout
    )
    again = reprieve("sweep", "s.toml", "--out", "o", "--retry-failed")
    assert "3 runs, of which 1 were done now, 1 failed" in again.stdout
    assert small.exists()


def test_parts_are_the_whole(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        SWEEP + '[axes."workload.rate_iops"]\nfrom = 400\nto = 1000\npoints = 5\n'
    )
    text = (tmp_path / "s.toml").read_text().replace('[goals]\nread_latency_ns_mean = "min"\n', "")
    (tmp_path / "s.toml").write_text(text)
    assert reprieve("sweep", "s.toml", "--out", "whole").returncode == 0
    counts = []
    cut = reprieve("sweep", "s.toml", "--out", "o", "--part", "2/3", "--minutes", "0")
    assert (cut.returncode, cut.stdout.splitlines()[-1]) == (0, "part 2/3 is not done"), cut.stderr
    for part in ("2/3", "1/3", "3/3"):
        done = reprieve("sweep", "s.toml", "--out", "o", "--part", part, "--processes", "2")
        assert done.returncode == 0, done.stderr
        counts.append(int(done.stdout.split()[0]))
        after = "after the last: reprieve sweep s.toml --out o --collect"
        assert not (tmp_path / "o/runs.parquet").exists()
        assert done.stdout.splitlines()[-1] == f"part {part} is done; {after}"
        if part == "2/3":
            early = reprieve("sweep", "s.toml", "--out", "o", "--collect")
            (tmp_path / "o/runs.parquet").unlink()
            assert "s.toml: 7 of 10 runs are not finished, and not in the data set" in early.stderr
    assert counts == [3, 3, 4]
    done = reprieve("sweep", "s.toml", "--out", "o", "--collect")
    assert "10 runs, of which 0 were done now" in done.stdout
    assert contents(tmp_path / "o") == contents(tmp_path / "whole")
    both = reprieve("sweep", "s.toml", "--out", "o", "--part", "1/3", "--collect")
    assert (both.returncode, both.stderr) == (
        2,
        "--part and --collect: collect once, after the last part\n",
    )
    again = reprieve("sweep", "s.toml", "--out", "o", "--collect", "--retry-failed")
    assert again.returncode == 2
    assert again.stderr == "--collect runs nothing; leave out --retry-failed and --minutes\n"
    nothing = reprieve("sweep", "s.toml", "--out", "new", "--minutes", "0")
    assert nothing.returncode == 2
    assert nothing.stderr.endswith("nothing of it is finished in new; give it more --minutes\n")
    for wrong in ("0/3", "4/3", "3", "a/b"):
        refused = reprieve("sweep", "s.toml", "--out", "o", "--part", wrong)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert refused.stderr.startswith(f"--part {wrong}: must be K/N")
    assert small.exists()


def test_merged_segments_hold_the_runs(tmp_path: Path) -> None:
    with locked(tmp_path) as store:
        for number in range(30):
            error = "no" if number % 7 == 0 else None
            store.append(Row(f"{number:032x}", None if error else f'{{"n":{number}}}', error))
            store.flush()
        assert len(store) == 30
        store.append(Row(f"{7:032x}", "{}"))  # done again, with success
        store.merge()
        assert len(store) == 1
    with locked(tmp_path) as store:
        for number in range(30):
            row = store.row(f"{number:032x}")
            assert store.has_failed(row.run) == (number in (0, 14, 21, 28)) == (row.text is None)
            assert row.text == ("{}" if number == 7 else row.text)
    with (
        locked(tmp_path),
        pytest.raises(UserError, match="another sweep is at work here"),
        locked(tmp_path, (1, 2)),
    ):
        pass


def test_row_that_is_not_as_it_was_written_is_damaged(tmp_path: Path) -> None:
    with locked(tmp_path) as store:
        store.append(Row("ab12", '{"n":1}'))
    (segment,) = tmp_path.glob("segments/*.parquet")
    table = pq.read_table(segment)
    changed = pa.array(['{"n":2}'])
    pq.write_table(table.set_column(table.column_names.index("text"), "text", changed), segment)
    with locked(tmp_path) as store, pytest.raises(DamagedError, match=segment.name):
        store.row("ab12")


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    theirs = [tmp_path / "segments/mine.parquet", tmp_path / ".mine.partial"]
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    rp.sweep(grid(), out=tmp_path)
    assert [path.read_text() for path in theirs] == ["mine", "mine"]
    assert len(stored(tmp_path, "[0-9a-f]*")) == 4


@pytest.mark.seconds(13)
def test_task_that_kills_processes_is_a_row_and_no_other_is(tmp_path: Path) -> None:
    tasks = [Task(str(number), f"task {number}", partial(_deadly, number)) for number in range(12)]
    rows = {row.run: row for row in executors.processes(2)(iter(tasks))}
    assert len(rows) == 12
    assert [run for run, row in rows.items() if row.error is not None] == ["5"]
    assert str(rows["5"].error).startswith("task 5: process after process died over this run")
    assert rows["7"].text == "7"


def _deadly(number: int, _watch: Any) -> str:
    if number == 5:
        os._exit(1)
    return str(number)


def test_minutes_end_a_sweep_that_goes_on(tmp_path: Path) -> None:
    plan = read_plan(grid(seeds=2))
    told = list[str]()
    with pytest.raises(UserError, match="nothing of it is finished"):
        sweep_into(plan, tmp_path, Settings(minutes=0, tell=told.append))
    assert told == ["8 of 8 runs are left, as --minutes 0 are over; the same command goes on"]
    assert sweep_into(plan, tmp_path, Settings()).ran == 8


def test_intervals_over_seeds_are_those_of_the_textbook() -> None:
    # Of two samples, t is tan(0.475 π) = 12.7062; their standard error is half their difference.
    samples = np.array([[10.0, 14.0], [5.0, 5.0], [0.0, 0.0]])
    mean, low, high = mean_intervals(samples, positive=False)
    assert mean.tolist() == [12, 5, 0]
    assert low[0] == pytest.approx(12 - 2 * math.tan(0.475 * math.pi))
    assert high[0] == pytest.approx(12 + 2 * math.tan(0.475 * math.pi))
    assert (low[1], high[1]) == (5, 5)
    # The same error, 2.12 of a mean of 12, as a share of it: no end is below 0.
    _, low, high = mean_intervals(samples, positive=True)
    share = 2 * math.tan(0.475 * math.pi) / 12
    assert (low[0], high[0]) == pytest.approx((12 * math.exp(-share), 12 * math.exp(share)))
    assert (low[1], high[1], low[2], high[2]) == (5, 5, 0, 0)
    # Of three: with p = 0.95, t = p √2 / √(1 − p²).
    assert student_t(2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)))
    for freedom in (1, 2, 3, 4, 5, 9, 10, 29, 100, 999):
        assert student_t(freedom) == pytest.approx(float(stats.t.ppf(0.975, freedom)), rel=1e-9)


def test_points_have_means_and_intervals_over_seeds(tmp_path: Path) -> None:
    made = rp.sweep(grid(seeds=3), out=tmp_path)
    runs, points = made.runs.to_pylist(), made.points.to_pylist()
    assert [row["point"] for row in points] == [0, 1, 2, 3]
    for row in points:
        samples = [run["device_iops"] for run in runs if run["point"] == row["point"]]
        error = np.std(samples, ddof=1) / math.sqrt(3)
        share = float(stats.t.ppf(0.975, 2)) * error / np.mean(samples)
        low, high = (np.mean(samples) * math.exp(end * share) for end in (-1, 1))
        assert row["seeds"] == 3
        assert row["device_iops"] == pytest.approx(np.mean(samples))
        assert row["device_iops_low"] == pytest.approx(low)
        assert row["device_iops_high"] == pytest.approx(high)


def test_points_are_compared_with_the_first_seed_by_seed(tmp_path: Path) -> None:
    axes = {"timing.t_read_us": [25, 50]}
    plan = {"scenario": scenario(requests=1300), "seeds": 2, "design": "grid", "axes": axes}
    made = rp.sweep(plan, out=tmp_path)
    found = {row["measure"]: row for row in made.differences.to_pylist()}
    assert len(found) == made.differences.num_rows == len(measures())
    row = found["read_latency_ns_mean"]
    assert (row["point"], row["base"], row["units"]) == (1, 0, "batches")
    # 1300 requests are ten batches of 128; of each of two seeds.
    assert row["count"] == 20
    means = made.points.column("read_latency_ns_mean").to_pylist()
    assert row["mean_difference"] == pytest.approx(means[1] - means[0])
    assert row["ratio"] == pytest.approx(means[1] / means[0])
    # Every read takes 25 µs more, and some wait longer too.
    assert row["decided"] and 25_000 < row["low"] < row["mean_difference"] < row["high"]
    assert found["read_latency_ns_p99"]["reason"].endswith("1,000 are needed in each")
    again = rp.Sweep(tmp_path).query("SELECT decided FROM differences WHERE measure = 'flash_waf'")
    assert again.to_pylist() == [{"decided": False}]


def test_collecting_leaves_out_points_that_lack_a_seed(tmp_path: Path) -> None:
    whole = rp.sweep(grid(seeds=2), out=tmp_path).runs.to_pylist()
    lost = whole[3]["run"]
    lose(tmp_path, {lost})
    told = list[str]()
    settings = Settings(collect=True, tell=told.append)
    outcome = sweep_into(read_plan(grid(seeds=2)), tmp_path, settings)
    assert (outcome.runs, outcome.ran, outcome.left) == (7, 0, 1)
    assert told == ["<dict>: 1 of 8 runs are not finished, and not in the data set"]
    kept = rp.Sweep(tmp_path)
    assert [row["run"] for row in kept.runs.to_pylist()] == [
        row["run"] for row in whole if row["run"] != lost
    ]
    assert kept.points.column("point").to_pylist() == [0, 2, 3]
    assert kept.points.column("device_iops").to_pylist()[1] == pytest.approx(
        (whole[4]["device_iops"] + whole[5]["device_iops"]) / 2
    )


def test_values_of_mixed_kinds_are_words(tmp_path: Path) -> None:
    axes = {"suspension.max_per_operation": [1, "none"], "workload.read_fraction": [0, 0.5]}
    base = scenario() | {"policy": "pes-ipc"}
    made = rp.sweep({"scenario": base, "design": "grid", "axes": axes}, out=tmp_path).runs
    assert made.column("suspension_max_per_operation").to_pylist() == ["1", "1", "none", "none"]
    assert made.column("workload_read_fraction").to_pylist() == [0.0, 0.5, 0.0, 0.5]
    # Without a read there is no latency of reads, and a column without any is one of numbers.
    assert made.column("read_latency_ns_p99").to_pylist()[0] is None
    empty = rp.sweep({"scenario": base, "design": "grid", "axes": {"workload.read_fraction": [0]}})
    assert empty.runs.schema.field("read_latency_ns_p99").type == pa.float64()


def test_query_finds_what_arrow_finds(reprieve: Reprieve, tmp_path: Path) -> None:
    made = rp.sweep(grid(), out=tmp_path / "o")
    rates = made.runs.filter(pa.compute.field("policy") == "fifo").column("device_iops")
    sql = "SELECT device_iops FROM runs WHERE policy = 'fifo' ORDER BY point"
    assert made.query(sql).column(0).to_pylist() == rates.to_pylist()
    buckets = made.query("SELECT sum(count) AS n FROM buckets WHERE op = 'total'")
    assert buckets.to_pylist() == [{"n": 4 * 300}]
    for form in ("csv", "json", "parquet"):
        done = reprieve("query", sql, "o", f"--{form}", f"f.{form}")
        assert (done.returncode, done.stdout) == (0, f"wrote f.{form}\n")
    assert pq.read_table(tmp_path / "f.parquet").column(0).to_pylist() == rates.to_pylist()
    document = json.loads((tmp_path / "f.json").read_text())
    assert document == [{"device_iops": rate} for rate in rates.to_pylist()]
    shown = reprieve("query", "SELECT 1 a, 2 a, 'nan'::double b, chr(27) c", "o")
    assert shown.stdout.splitlines()[2].split() == ["1", "2", "nan", "\\x1b"], shown.stderr
    header, *lines = (tmp_path / "f.csv").read_text().split()
    assert (header, [float(line) for line in lines]) == ('"device_iops"', rates.to_pylist())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["SELEC 1", "o"], 'query: Parser Error: syntax error at or near "SELEC"'),
        (["SELECT polic FROM runs", "o"], 'query: Binder Error: Referenced column "polic" not'),
        (["DROP VIEW runs", "o"], "query: DROP VIEW runs: must be one SELECT"),
        (["SELECT 1; SELECT 2", "o"], "query: SELECT 1; SELECT 2: must be one SELECT"),
        (["SELECT 1", "none"], "none: there is no data set here"),
        (["SELECT 1", "o", "--csv", "a", "--json", "b"], "query: --csv, --json and --parquet"),
        (["SELECT 1", "o", "--csv", "o/a/x/y/z.csv"], None),
        (["SELECT * FROM runs", "o", "--csv", "f"], "f: the column read_histogram is a list"),
        (["SELECT 1 a, 2 a", "o", "--json", "f"], "f: two columns are a, which JSON has not"),
        (["SELECT 'nan'::double", "o", "--json", "f"], "f: a number is NaN or infinite, which JSO"),
        (["SELECT 1", "o", "--json", "small.toml/f"], "small.toml: cannot write here"),
    ],
)
def test_wrong_query_is_one_sentence(
    reprieve: Reprieve, small: Path, tmp_path: Path, arguments: list[str], sentence: str | None
) -> None:
    assert small.exists()
    rp.sweep(grid(), out=tmp_path / "o")
    done = reprieve("query", *arguments)
    assert done.returncode == (0 if sentence is None else 2)
    assert done.stderr.count("\n") == (0 if sentence is None else 1)
    assert done.stderr.startswith(sentence or "")


def test_command_runs_a_file_and_tells_what_was_done(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)
    none = reprieve("sweep", "s.toml", "--collect")
    assert none.returncode == 2
    assert none.stderr.startswith("s.toml: nothing of it is finished in out/s")
    done = reprieve("sweep", "s.toml", "--workers", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 runs, of which 2 were done now" in done.stdout
    assert "2 runs, of which 0 were done now" in reprieve("sweep", "s.toml").stdout
    assert pq.read_table(tmp_path / "out/s/points.parquet").column("policy").to_pylist() == [
        "fifo",
        "pes-ipc",
    ]
    assert small.exists()


@pytest.mark.parametrize(
    ("old", "new", "arguments", "sentence"),
    [
        ("policy =", "polcy =", (), "s.toml: polcy=fifo: --set: polcy: unknown key; did"),
        ("read_latency_ns_mean =", "read_latency_mean =", (), "s.toml: goals: there is no column"),
        (
            "",
            "",
            ("--workers", "1", "--scheduler", "tcp://a:1"),
            "--workers and --processes are for this machine, --scheduler for a cluster",
        ),
        ("", "", ("--out", "s.toml"), "s.toml: cannot write here: "),
    ],
)
def test_mistake_is_one_sentence(
    reprieve: Reprieve, small: Path, old: str, new: str, arguments: tuple[str, ...], sentence: str
) -> None:
    (small.parent / "s.toml").write_text(SWEEP.replace(old, new) if old else SWEEP)
    done = reprieve("sweep", "s.toml", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1


def test_a_scheduler_that_does_not_answer_is_one_sentence(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A scheduler may still be starting, so that it is asked for some time.
    monkeypatch.setattr(executors, "_CONNECT_TIMEOUT", "500ms")
    (small.parent / "s.toml").write_text(SWEEP)
    monkeypatch.chdir(small.parent)
    assert main(["sweep", "s.toml", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("--scheduler tcp://127.0.0.1:9: no Dask scheduler answers there: ")
    assert told.count("\n") == 1


def test_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name}", name=name.partition(".")[0])

    monkeypatch.setattr(importlib, "import_module", absent)
    made = {
        "design": "sobol",
        "samples": 4,
        "axes": {"workload.read_fraction": {"from": 0, "to": 1}},
    }
    with pytest.raises(UserError) as caught:
        rp.sweep({"scenario": scenario()} | made)
    assert str(caught.value) == (
        "the design sobol needs scipy, which is not installed: pip install 'reprieve[sweep]'"
    )


def test_without_a_directory_nothing_stays() -> None:
    made = rp.sweep(grid())
    directory = made.directory
    assert made.runs.num_rows == 4
    del made
    assert not directory.exists()


@pytest.mark.parametrize("address", ["foo", "tcp://127.0.0.1:x", "tls://127.0.0.1:1"])
def test_a_wrong_address_of_a_scheduler_is_one_sentence(
    reprieve: Reprieve, small: Path, tmp_path: Path, address: str
) -> None:
    pytest.importorskip("distributed")
    text = f'scenario = "{small}"\ndesign = "grid"\n[axes]\npolicy = ["rps"]\n'
    (tmp_path / "s.toml").write_text(text)
    done = reprieve("sweep", "s.toml", "--scheduler", address)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"--scheduler {address}: no Dask scheduler answers there: ")
