"""`reprieve run`, from the scenario file to the files it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .drive import Reprieve

COMPONENTS = [
    "host_queue",
    "link",
    "buffer",
    "rmw",
    "queue",
    "suspend_wait",
    "array",
    "bus_wait",
    "bus",
    "suspended",
    "map",
    "ecc",
]
CAUSES = [
    "by_host_read",
    "by_host_program",
    "by_gc_read",
    "by_gc_program",
    "by_erase",
    "by_map",
    "by_channel",
    "by_suspend_entry",
    "by_same_block",
    "by_limit",
    "by_budget",
    "by_power",
    "by_other",
]

LOG = pa.schema(
    [
        ("id", pa.int64()),
        ("op", pa.dictionary(pa.int8(), pa.string())),
        *((name, pa.int64()) for name in ("lba", "bytes", "arrival_ns", "completion_ns")),
        *((f"{name}_ns", pa.int64()) for name in (*COMPONENTS, *CAUSES)),
        *((name, pa.int64()) for name in ("die", "flow", "uncorrectable_pages")),
    ]
)

FILES = ["run.json", "scenario.toml", "summary.json"]


def test_writes_summary_and_scenario(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    done = reprieve("run", small)
    assert (done.returncode, done.stderr) == (0, "")
    out = tmp_path / "out" / "small"
    assert sorted(path.name for path in out.iterdir()) == FILES
    written = ", ".join(f"out/small/{name}" for name in (*FILES[1:], FILES[0]))
    assert " ".join(done.stdout.splitlines()[-2:]).endswith(f"wrote {written}")
    summary = json.loads((out / "summary.json").read_text())
    assert summary.keys() >= {"schema", "requests", "flash", "device", "run"}
    assert summary["schema"] == 2
    assert summary["requests"]["total"]["count"] == 3000
    reads, writes = summary["requests"]["read"], summary["requests"]["write"]
    assert reads["count"] + writes["count"] == 3000
    assert reads["bytes"] == 8192 * reads["count"]
    run = summary["run"]
    assert (list(run), run["seed"]) == (["seed", "page_transactions", "version"], 7)
    machine = json.loads((out / "run.json").read_text())
    assert machine["page_transactions_per_s"] == run["page_transactions"] / machine["wall_s"]
    assert machine["peak_rss_bytes"] > 10_000_000
    assert machine["cpu_s"] > 0 and machine["prepare_s"] >= 0


def test_table_shows_the_summary(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    lines = reprieve("run", small, "--out", "o").stdout.splitlines()
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    cells = next(line.split() for line in lines if line.startswith("write"))
    latency_ns = summary["requests"]["write"]["latency_ns"]
    assert cells[1] == f"{summary['requests']['write']['count']:,}"
    assert cells[2] == f"{latency_ns['mean'] / 1000:,.1f}"
    assert cells[-1] == f"{latency_ns['max'] / 1000:,.1f}"


def test_log_has_a_row_for_each_request(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    assert reprieve("run", small, "--requests", "--out", "o").returncode == 0
    rows = pq.read_table(tmp_path / "o" / "requests.parquet")
    assert rows.schema == LOG
    assert sorted(rows["id"].to_pylist()) == list(range(3000))
    assert set(rows["op"].to_pylist()) == {"read", "write"}
    assert rows["completion_ns"].to_pylist() == sorted(rows["completion_ns"].to_pylist())
    parts = rows[f"{COMPONENTS[0]}_ns"]
    for name in COMPONENTS[1:]:
        assert pc.min(rows[f"{name}_ns"]).as_py() >= 0
        parts = pc.add(parts, rows[f"{name}_ns"])
    latency = pc.subtract(rows["completion_ns"], rows["arrival_ns"])
    assert parts.to_pylist() == latency.to_pylist()


def test_log_agrees_with_the_summary(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    assert reprieve("run", small, "--requests", "--out", "o").returncode == 0
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    rows = pq.read_table(tmp_path / "o" / "requests.parquet").to_pylist()
    for op in ("read", "write"):
        group = summary["requests"][op]
        latencies = [r["completion_ns"] - r["arrival_ns"] for r in rows if r["op"] == op]
        assert group["count"] == len(latencies)
        assert group["latency_ns"]["min"] == min(latencies)
        assert group["latency_ns"]["max"] == max(latencies)
        mean = sum(latencies) / len(latencies)
        assert abs(group["latency_ns"]["mean"] - mean) <= 1e-9 * mean
        for name, mean_ns in group["components_ns"].items():
            column = [r[f"{name}_ns"] for r in rows if r["op"] == op]
            assert abs(mean_ns - sum(column) / len(column)) <= 1e-9 * mean


def test_two_runs_are_the_same(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    for out in ("a", "b"):
        assert reprieve("run", small, "--requests", "--out", out).returncode == 0
    a, b = tmp_path / "a", tmp_path / "b"
    assert (a / "summary.json").read_text() == (b / "summary.json").read_text()
    for name in ("requests.parquet", "scenario.toml"):
        assert (a / name).read_bytes() == (b / name).read_bytes()


def test_another_seed_is_another_run(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    assert reprieve("run", small, "--out", "a").returncode == 0
    assert reprieve("run", small, "--set", "seed=8", "--out", "b").returncode == 0
    a, b = ((tmp_path / out / "summary.json").read_text() for out in "ab")
    assert a != b


def test_resolved_scenario_repeats_the_run(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    assert reprieve("run", small, "--set", "timing.t_read_us=30", "--out", "a").returncode == 0
    assert reprieve("run", "a/scenario.toml", "--out", "b").returncode == 0
    a, b = tmp_path / "a", tmp_path / "b"
    assert (a / "scenario.toml").read_bytes() == (b / "scenario.toml").read_bytes()
    assert (a / "summary.json").read_text() == (b / "summary.json").read_text()


def test_print_shows_what_the_run_would_store(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    printed = reprieve("run", small, "--print")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert not (tmp_path / "out").exists()
    reprieve("run", small, "--out", "o")
    assert printed.stdout == (tmp_path / "o" / "scenario.toml").read_text()


def test_later_run_replaces_earlier_results(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    reprieve("run", small, "--requests", "--report", "--out", "o")
    (tmp_path / "o" / "notes.txt").write_text("mine")
    assert reprieve("run", small, "--set", "seed=8", "--out", "o").returncode == 0
    names = sorted(path.name for path in (tmp_path / "o").iterdir())
    # The log and the report of the earlier run would contradict the new summary.
    assert names == sorted(["notes.txt", *FILES])
    assert json.loads((tmp_path / "o" / "summary.json").read_text())["run"]["seed"] == 8
