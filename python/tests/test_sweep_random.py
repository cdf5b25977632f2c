"""Random sweeps: their runs are those of `rp.run`, or fail with its sentence."""

from __future__ import annotations

import os
import random
import time
import warnings
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import reprieve as rp
from reprieve import UserError

from .sweep_files import scenario

AXES: dict[str, list[Any]] = {
    "policy": ["fifo", "rps", "pes-ips", "pes-ipc", "pe0"],
    "workload.requests": [1, 2, 7, 60, 500, 1300],
    "workload.read_fraction": [0, 0.05, 0.5, 0.995, 1],
    "workload.rate_iops": [1, 900, 20_000],
    "workload.request_bytes": [512, 4096, 65_536],
    "workload.trim_fraction": [0, 0.3],
    "suspension.max_per_operation": [1, 10, "none"],
    "suspension.policy": ["always", "threshold", "deadline"],
    "suspension.same_block": ["block", "page"],
    "ftl.partial_write": ["read_modify_write", "track_sectors", "pad"],
    "ftl.precondition": ["none", "sequential", "steady"],
    "ftl.mapping": ["memory", "demand"],
    "ftl.stream": ["single", "hot-cold"],
    "scheduling.dispatch": ["none", "mbm", "sprinkler"],
    "power_loss.mode": ["off", "on"],
    "measure.from_request": [0, 5, 400],
    "measure.warmup": ["none", "auto"],
    "buffer.acknowledge": ["back", "through"],
}
"""Values of keys, some of which do not go together."""

SPANS: dict[str, dict[str, Any]] = {
    "workload.requests": {"from": 1, "to": 700},
    "workload.read_fraction": {"from": 0.0, "to": 1.0},
    "workload.rate_iops": {"from": 5, "to": 20_000, "scale": "log"},
}


def draw(choose: random.Random) -> dict[str, Any]:
    """Return a sweep of at most eight points, with one to three seeds."""
    sweep: dict[str, Any] = {"scenario": scenario(), "seeds": choose.randint(1, 3)}
    design = choose.choice(["grid", "list", "random", "sobol"])
    sweep["design"] = design
    keys = choose.sample(sorted(AXES), choose.randint(1, 3))
    if design == "grid":
        sweep["axes"] = {
            key: choose.sample(AXES[key], min(2, len(AXES[key]))) for key in keys
        }  # fmt: skip
    elif design == "list":
        sweep["points"] = [
            {key: choose.choice(AXES[key]) for key in keys} for _ in range(choose.randint(1, 4))
        ]
    else:
        spans = choose.sample(sorted(SPANS), choose.randint(1, len(SPANS)))
        choices = {key: AXES[key] for key in keys if key not in spans}
        sweep["axes"] = {key: SPANS[key] for key in spans} | choices
        sweep["samples"] = 4
        sweep["design_seed"] = choose.randint(1, 1000)
    return sweep


def value_of(key: str, entry: Any) -> Any:
    """Return the value of a key whose entry in a data set this is: text where types differ."""
    return next((value for value in AXES[key] if str(value) == str(entry)), entry)


def check(sweep: dict[str, Any], directory: Path, choose: random.Random) -> bool:
    """Run a sweep and hold one of its runs against the same run alone; False if some failed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some points may fail
            found = rp.sweep(sweep, out=directory)
    except UserError as error:
        assert "\n" not in str(error) and ": " in str(error), error
        assert not list(directory.glob("**/*.parquet")), f"{error}: was refused and left a run"
        return False
    rows = found.runs.to_pylist()
    assert len(rows) % sweep["seeds"] == 0 and rows
    assert len({(row["point"], row["seed"]) for row in rows}) == len(rows)
    assert found.points.num_rows == len(rows) // sweep["seeds"]
    for path in directory.glob("*.parquet"):
        names = pq.read_table(path).column_names
        assert len(names) == len(set(names)), path
    row = choose.choice(rows)
    axes = sweep.get("axes") or sweep["points"][row["point"]]
    values = {key.replace(".", "__"): value_of(key, row[key.replace(".", "_")]) for key in axes}
    if row["error"] is not None:
        with pytest.raises(UserError) as refused:
            rp.run(sweep["scenario"], **values, seed=row["seed"])
        assert row["error"].endswith(str(refused.value))
        return False
    summary = rp.run(sweep["scenario"], **values, seed=row["seed"]).summary
    for operation in ("read", "write"):
        latency = summary["requests"][operation]
        assert row[f"{operation}_count"] == latency["count"]
        if latency["count"]:
            assert row[f"{operation}_latency_ns_mean"] == latency["latency_ns"]["mean"]
    assert row["flash_suspensions_program"] == summary["flash"]["suspensions"]["program"]
    return all(one["error"] is None for one in rows)


def check_many(seed: int, count: int, directory: Path) -> tuple[int, int]:
    """Check that many sweeps; return how many ran whole, and how many did not."""
    choose = random.Random(seed)
    ran = 0
    for number in range(count):
        sweep = draw(choose)
        try:
            ran += check(sweep, directory / f"{seed}-{number}", choose)
        except BaseException as error:
            error.add_note(f"seed {seed}, sweep {number}: {sweep}")
            raise
    return ran, count - ran


@pytest.mark.seconds(29)
def test_random_sweeps_are_their_runs_or_say_why_not(tmp_path: Path) -> None:
    ran, failed = check_many(16, 60, tmp_path)
    assert ran > 20 and failed > 5, (ran, failed)


@pytest.mark.skipif("REPRIEVE_LONG" not in os.environ, reason="ten minutes; make long runs it")
def test_new_random_sweeps_are_their_runs_or_say_why_not(tmp_path: Path) -> None:
    begun = time.time()
    seed = int(begun)
    while time.time() < begun + 600:
        check_many(seed, 10, tmp_path)
        seed += 1
