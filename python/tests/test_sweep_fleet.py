"""Fleets: one scenario over many traces or volumes, and what their drives come to together."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reprieve as rp
from reprieve import Latency, UserError, _native
from reprieve.experiments.designs import READING
from reprieve.experiments.fleet import Merger

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


def fleet(**more: Any) -> dict[str, Any]:
    return {"scenario": tomllib.loads(DRIVE), "design": "fleet"} | more


@pytest.mark.parametrize("policies", [["fifo"], ["fifo", "pes-ipc"]])
def test_fleet_is_its_drives_together(tmp_path: Path, policies: list[str]) -> None:
    write_traces(tmp_path / "traces")
    made = rp.sweep(
        fleet(traces=str(tmp_path / "traces"), axes={"policy": policies}), out=tmp_path / "o"
    )
    assert made.runs.num_rows == 3 * len(policies)
    whole = made.query("SELECT * FROM fleet").to_pylist()
    assert [row["policy"] for row in whole] == policies
    for row in whole:
        latencies = []
        for volume in range(3):
            trace = str(tmp_path / "traces" / f"volume-{volume}.csv")
            one = rp.run(
                fleet()["scenario"], requests=True, workload__trace=trace, policy=row["policy"]
            ).requests.to_pylist()
            latencies += [
                each["completion_ns"] - each["arrival_ns"] for each in one if each["op"] == "read"
            ]
        assert (row["runs"], row["read_count"]) == (3, len(latencies))
        assert row["read_latency_ns_mean"] == pytest.approx(np.mean(latencies))
        assert row["read_latency_ns_min"] == min(latencies)
        assert row["read_latency_ns_max"] == max(latencies)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            exact = sorted(latencies)[math.ceil(share * len(latencies)) - 1]
            # A percentile is the upper end of its bucket, at most 0.1 % above.
            assert exact <= row[f"read_latency_ns_{name}"] <= exact * 1.001
        merged = made.latency("read", f"policy = '{row['policy']}'")
        assert merged.percentile(99) == row["read_latency_ns_p99"]
        assert merged.requests == len(latencies)


def test_volumes_of_one_trace_are_a_fleet(tmp_path: Path) -> None:
    rows = "".join(write_traces(tmp_path / "traces")).splitlines()
    trace = tmp_path / "all.csv"
    trace.write_text("\n".join(sorted(rows)) + "\n")
    made = rp.sweep(fleet(volumes=str(trace)))
    found = made.runs.to_pylist()
    assert [row["workload_devices"] for row in found] == [0, 1, 2]
    assert [row["total_count"] for row in found] == [200, 200, 200]
    reads = [sum(f",{volume},Read," in row for row in rows) for volume in range(3)]
    assert [row["read_count"] for row in found] == reads


def test_volumes_are_read_as_the_workload_says(tmp_path: Path) -> None:
    assert {f"workload.{key}" for key in READING} <= {
        line.split("`")[1] for line in _native.reference().splitlines() if line.startswith("### `")
    }
    trace = tmp_path / "own.csv"
    rows = [f"{index * 90},{index % 3 + 4},R,{index * 8},8" for index in range(60)]
    trace.write_text("\n".join(rows) + "\n")
    how = {
        "workload.format": "columns",
        "workload.columns": "time_us,device,op,sector,sectors",
    }
    made = rp.sweep(fleet(volumes=str(trace), set=how)).runs.to_pylist()
    assert [(row["workload_devices"], row["read_count"]) for row in made] == [
        (4, 20),
        (5, 20),
        (6, 20),
    ]


def test_merged_latencies_are_those_of_one_list() -> None:
    merger = Merger()
    merger.add(Latency(np.array([10, 20]), np.array([1, 2]), 15.0, 9, 19))
    merger.add(Latency(np.empty(0, np.int64), np.empty(0, np.int64), 0.0, 0, 0))
    merger.add(Latency(np.array([5, 20, 40]), np.array([1, 1, 1]), 20.0, 4, 36))
    merged = merger.latency()
    assert merged.upper_ns.tolist() == [5, 10, 20, 40]
    assert merged.count.tolist() == [1, 1, 3, 1]
    # (3 · 15 + 3 · 20) / 6
    assert (merged.mean, merged.min, merged.max) == (17.5, 4, 36)
    assert [merged.percentile(share) for share in (16, 50, 83, 100)] == [5, 20, 20, 36]
    assert Merger().latency().requests == 0


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "a fleet has either traces"),
        ({"traces": "a", "volumes": "b"}, "a fleet has either traces"),
        ({"traces": "none"}, "traces: .*none has no file"),
        ({"traces": "t", "axes": {"workload.trace": ["x"]}}, "workload.trace: is an axis, and"),
    ],
)
def test_wrong_fleet_is_named(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=f"^<dict>: {sentence}"):
        rp.sweep(fleet(**more))
