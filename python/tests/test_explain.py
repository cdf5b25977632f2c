"""Causes of waits: sums by hand, the command, and its words on missing files."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import reprieve as rp
from reprieve import blame, tables
from reprieve._native import Table
from reprieve.explanation import CATALOGUE, Explanation
from reprieve.request_log import CAUSES, COMPONENTS

from .drive import SMALL, Reprieve

WAITS = [
    f"{name}_ns"
    for name in ["buffer", "rmw", "queue", "suspend_wait", "bus_wait", "suspended", "map"]
]
"""The components in which a request waits for what the drive does."""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def _log(latencies: list[tuple[str, int]]) -> Table:
    """Log requests that wait all the time: reads for an erase, writes for the channel."""
    rows = list[dict[str, object]]()
    for number, (op, latency_ns) in enumerate(latencies):
        row = dict.fromkeys(CAUSES, 0) | {"id": number, "op": op, "arrival_ns": 10 * number}
        row["completion_ns"] = 10 * number + latency_ns
        row["by_erase_ns" if op == "read" else "by_channel_ns"] = latency_ns
        rows.append(row)
    return tables.of_rows(rows)


def test_the_slowest_are_summed_over_batches() -> None:
    # Reads take 1 to 2500 ns, in a mixed order, in two batches: the slowest 1 % are 2476 to 2500,
    # the slowest 0.1 % 2498 to 2500, as 2.5 requests are three; 0.01 % is one.
    order = [1 + 7 * place % 2500 for place in range(2500)]
    assert sorted(order) == list(range(1, 2501))
    rows = [("read", latency) for latency in order] + [("write", 40)]
    batches = [_log(rows[:1000]), _log(rows[1000:])]
    told = blame.section(batches, {"read": 2500, "write": 1})
    sums = {part: row["by_erase_ns"] for part, row in told["read"].items()}
    expected = {"all": 2500 * 2501 // 2, "slowest_1": 25 * 2488}
    assert sums == expected | {"slowest_0_1": 3 * 2499, "slowest_0_01": 2500}
    assert [row["requests"] for row in told["read"].values()] == [2500, 25, 3, 1]
    assert all(row["latency_ns"] == row["by_erase_ns"] for row in told["read"].values())
    assert {row["by_channel_ns"] for row in told["write"].values()} == {40}


def test_nothing_is_told_of_what_there_is_not() -> None:
    told = blame.section([_log([("read", 5)])], {"read": 1, "write": 0})
    assert told["write"]["all"] == dict.fromkeys(("requests", "latency_ns", *CAUSES), 0)


def test_causes_add_up_to_the_waits_in_log_and_summary() -> None:
    result = rp.run({**rp_dict(), "buffer": {"acknowledge": "back", "bytes": 65536}}, requests=True)
    log = result.requests
    columns = {name: np.asarray(log[name]) for name in (*CAUSES, *COMPONENTS)}
    waited = np.sum([columns[name] for name in WAITS], axis=0)
    assert np.array_equal(np.sum([columns[name] for name in CAUSES], axis=0), waited)
    assert waited.max() > 0
    is_read = np.asarray([op == "read" for op in log["op"].to_pylist()])
    for kind, mine in (("read", is_read), ("write", ~is_read)):
        sums = {name: int(columns[name][mine].sum()) for name in CAUSES}
        assert result.blame(kind) == sums
    # A write that is complete in the buffer has no die, a read from the flash has one.
    dies = log["die"].to_pylist()
    assert {die for die, reads in zip(dies, is_read, strict=True) if not reads} == {None}
    assert {0, 1} <= {die for die, reads in zip(dies, is_read, strict=True) if reads}


def rp_dict() -> dict[str, object]:
    import tomllib

    return tomllib.loads(SMALL)


def test_the_file_has_what_memory_has(scenario: Path, tmp_path: Path) -> None:
    kept = rp.run(scenario, requests=True)
    rp.run(scenario, requests=True, out=tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["blame"] == kept.summary["blame"]
    assert set(CAUSES) <= set(pq.read_schema(tmp_path / "out" / "requests.parquet").names)
    assert "blame" not in rp.run(scenario).summary


def test_words_for_every_cause() -> None:
    assert tuple(CATALOGUE) == CAUSES


def test_explain_says_what_the_tail_waited_for(
    reprieve: Reprieve, scenario: Path, tmp_path: Path
) -> None:
    fifo = ("--set", "policy=fifo", "--requests", "--out", "out")
    assert reprieve("run", str(scenario), *fifo).returncode == 0
    told = reprieve("explain", "out", "--slowest", "3")
    assert (told.returncode, told.stderr) == (0, "")
    assert "behind programs of the host" in told.stdout
    words = " ".join(told.stdout.split())
    behind = "What may help against waits behind programs of the host (not tried; "
    tries = "--counterfactual tries geometry.channels = 4): "
    assert f"{behind}{tries}programs that make way for reads" in words
    assert 'scheduling.policy = "fifo"' in " ".join(told.stdout.split())
    lines = told.stdout.splitlines()
    commands = [line for line in lines if line.startswith("reprieve run ")]
    assert max(len(line) for line in lines if line not in commands) <= 80
    found = Explanation.read(tmp_path / "out")
    rows = tables.rows(found.slowest("read", 3))
    latencies = [row["completion_ns"] - row["arrival_ns"] for row in rows]
    longest = found.summary["requests"]["read"]["latency_ns"]["max"]
    assert latencies[0] == longest
    assert latencies == sorted(latencies, reverse=True)
    assert all(str(row["id"]) in told.stdout for row in rows)
    # The command for the slowest read draws it, on the track that is named.
    (of_read, _) = commands
    assert f'on the track "die {rows[0]["die"]}":' in " ".join(told.stdout.split())
    drawn = reprieve(*shlex.split(of_read)[1:])
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "out" / "slowest-read" / "timeline.perfetto-trace").stat().st_size > 0
    words = " ".join(reprieve("explain", "out/slowest-read").stderr.split())
    assert "has no section blame; run it again with --requests" in words


def test_a_counterfactual_is_a_second_run(
    reprieve: Reprieve, scenario: Path, tmp_path: Path
) -> None:
    # Blocks of which one page is read while another is programmed: the main cause that a key takes
    # away. With reads of other pages let through, none waits for its block.
    sets = ("policy=pes-ipc", "suspension.same_block=block", "workload.footprint_share=0.002",
            "workload.rate_iops=700")  # fmt: skip
    options = [word for key in sets for word in ("--set", key)]
    assert reprieve("run", str(scenario), *options, "--requests", "--out", "out").returncode == 0
    found = Explanation.read(tmp_path / "out")
    trials = found.triable()
    assert next(iter(trials)) == "by_same_block_ns"
    assert trials["by_same_block_ns"] == ('suspension.same_block="page"',)
    told = reprieve("explain", "out", "--counterfactual", "--slowest", "0")
    assert told.returncode == 0, told.stderr
    assert 'As it was, and with suspension.same_block = "page"' in told.stdout
    words = " ".join(told.stdout.split())
    assert '(tried below: suspension.same_block = "page")' in words
    assert "not tried" not in words
    other = rp.run(tmp_path / "out" / "scenario.toml", suspension__same_block="page")
    after = other.summary["requests"]["read"]["latency_ns"]["p99"] / 1000
    assert f"{after:,.1f}" in told.stdout


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("summary.json", "summary.json: cannot be read: No such file or directory"),
        ("requests.parquet", "requests.parquet: is missing; run it again with --requests"),
        ("blame", "summary.json: has no section blame; run it again with --requests"),
    ],
)
def test_explain_needs_the_requests(
    reprieve: Reprieve, scenario: Path, tmp_path: Path, missing: str, sentence: str
) -> None:
    options = () if missing == "blame" else ("--requests",)
    assert reprieve("run", str(scenario), *options, "--out", "out").returncode == 0
    if missing != "blame":
        (tmp_path / "out" / missing).unlink()
    told = reprieve("explain", "out")
    assert told.returncode == 2
    assert told.stderr.startswith(f"out/{sentence}")
    assert told.stderr.count("\n") == 1


def test_a_scenario_that_is_none_is_named(
    reprieve: Reprieve, scenario: Path, tmp_path: Path
) -> None:
    assert reprieve("run", scenario, "--requests", "--out", "out").returncode == 0
    (tmp_path / "out/scenario.toml").write_text("x\n")
    told = reprieve("explain", "out")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("out/scenario.toml:1:2: not TOML: ")


def test_wrong_words_are_refused(scenario: Path) -> None:
    result = rp.run(scenario, requests=True)
    for what, part in (("trim", "all"), ("read", "slowest")):
        with pytest.raises(rp.UserError, match="must be"):
            result.blame(what, part)
    result.plot.blame("read").to_dict()
    with pytest.raises(rp.UserError, match="kept no"):
        rp.run(scenario).blame()
