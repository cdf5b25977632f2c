"""One scenario over many traces or devices, and the latencies of all together."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reprieve as rp
from reprieve import Latency, UserError
from reprieve.experiments.merged import merged

from .drive import SMALL

DRIVE = "\n".join(SMALL.split("[workload]")[0].splitlines())


def write_traces(folder: Path, count: int = 3) -> list[str]:
    """Write traces in the form of MSR, each with addresses and a mix of its own."""
    folder.mkdir()
    made = []
    for volume in range(count):
        draw = np.random.default_rng(volume)
        rows = []
        for index in range(200):
            op = "Read" if draw.random() < 0.5 + 0.1 * volume else "Write"
            time = 128166372000000000 + index * 5000 * (volume + 1)
            offset = int(draw.integers(0, 1000)) * 8192
            rows.append(f"{time},host,{volume},{op},{offset},8192,100")
        made.append("\n".join(rows) + "\n")
        (folder / f"volume-{volume}.csv").write_text(made[-1])
    (folder / "README.md").write_text("# No trace\n")
    return made


def many(traces: object, **more: Any) -> dict[str, Any]:
    """Sweep a drive over traces."""
    axes = {"workload.trace": traces, **more}
    return {"scenario": tomllib.loads(DRIVE), "design": "grid", "axes": axes}


def test_latencies_of_many_traces_are_those_of_one_list(tmp_path: Path) -> None:
    write_traces(tmp_path / "traces")
    policies = ["fifo", "pes-ipc"]
    made = rp.sweep(many(str(tmp_path / "traces"), policy=policies), out=tmp_path / "o")
    assert made.runs.num_rows == 3 * len(policies)
    for policy in policies:
        latencies = []
        for volume in range(3):
            trace = str(tmp_path / "traces" / f"volume-{volume}.csv")
            one = rp.run(
                tomllib.loads(DRIVE), requests=True, workload__trace=trace, policy=policy
            ).requests.to_pylist()
            latencies += [
                each["completion_ns"] - each["arrival_ns"] for each in one if each["op"] == "read"
            ]
        merged = made.latency("read", f"policy = '{policy}'")
        assert merged.requests == len(latencies)
        assert merged.mean == pytest.approx(np.mean(latencies))
        assert (merged.min, merged.max) == (min(latencies), max(latencies))
        for share in (0.5, 0.95, 0.99):
            exact = sorted(latencies)[math.ceil(share * len(latencies)) - 1]
            # A percentile is the upper end of its bucket, at most 0.1 % above.
            assert exact <= merged.percentile(100 * share) <= exact * 1.001
    # No trace is the best; each has its own base.
    rows = made.differences.to_pylist()
    assert {(row["point"], row["base"]) for row in rows} == {(1, 0), (3, 2), (5, 4)}


def test_traces_are_a_folder_or_a_pattern_of_files(tmp_path: Path) -> None:
    write_traces(tmp_path / "traces")
    found = rp.sweep(many(str(tmp_path / "traces" / "volume-[12].csv"))).runs.to_pylist()
    assert [Path(row["workload_trace"]).name for row in found] == ["volume-1.csv", "volume-2.csv"]
    with pytest.raises(UserError, match=r"^<dict>: axes\.workload\.trace: .*none has no file"):
        rp.sweep(many(str(tmp_path / "none")))


def test_devices_of_one_trace_are_values_of_an_axis(tmp_path: Path) -> None:
    rows = "".join(write_traces(tmp_path / "traces")).splitlines()
    trace = tmp_path / "all.csv"
    trace.write_text("\n".join(sorted(rows)) + "\n")
    made = rp.sweep(many([str(trace)], **{"workload.devices": [[0], [1], [2]]}))
    found = made.runs.to_pylist()
    assert [row["workload_devices"] for row in found] == ["[0]", "[1]", "[2]"]
    assert [row["total_count"] for row in found] == [200, 200, 200]
    reads = [sum(f",{volume},Read," in row for row in rows) for volume in range(3)]
    assert [row["read_count"] for row in found] == reads


def test_merged_latencies_are_those_of_one_list() -> None:
    one = Latency(np.array([10, 20]), np.array([1, 2]), 15.0, 9, 19)
    none = Latency(np.empty(0, np.int64), np.empty(0, np.int64), 0.0, 0, 0)
    made = merged([one, none, Latency(np.array([5, 20, 40]), np.array([1, 1, 1]), 20.0, 4, 36)])
    assert made.upper_ns.tolist() == [5, 10, 20, 40]
    assert made.count.tolist() == [1, 1, 3, 1]
    # (3 · 15 + 3 · 20) / 6
    assert (made.mean, made.min, made.max) == (17.5, 4, 36)
    assert [made.percentile(share) for share in (16, 50, 83, 100)] == [5, 20, 20, 36]
    assert merged([]).requests == 0
