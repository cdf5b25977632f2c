"""Every file has the columns and fields that the reference says, and no other."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import reprieve as rp
from reprieve._native import empty_log
from reprieve.characterize import measure
from reprieve.die_rig import rig_source, run_commands
from reprieve.latency import power_csv
from reprieve.power_failure import power_loss
from reprieve.reference.files import SUMMARY, Column, columns_of
from reprieve.simulation import EnoughError
from reprieve_studies.verdicts import Verdict

from .drive import SMALL
from .test_power import POWER
from .test_power_loss import LOSS

COMMANDS = "arrival_ns,op,plane,block,page\n0,read,0,0,0\n"
DRIVE: dict[str, Any] = tomllib.loads(SMALL)
LOST: dict[str, Any] = tomllib.loads(LOSS)


def names(columns: Sequence[Column]) -> list[str]:
    return [name for column in columns for name in column.names()]


def head(text: str) -> list[str]:
    return next(csv.reader(text.splitlines()))


def test_requests() -> None:
    assert names(columns_of("requests")) == empty_log().names


def test_rig() -> None:
    source = rig_source("fast12-slc", [])
    assert names(columns_of("rig")) == head(run_commands(source, COMMANDS, "commands")[0])
    metered = rig_source("fast12-slc", ["power.account=on"])
    _, steps, _ = run_commands(metered, COMMANDS, "commands", power=True)
    assert names(columns_of("rig_power")) == head(steps)
    assert names(columns_of("command")) == head(COMMANDS)


def test_power() -> None:
    bins = rp.run(DRIVE, **POWER).power
    assert bins is not None
    assert names(columns_of("power")) == head(power_csv(bins))
    assert names(columns_of("power"))[:-1] == list(bins)


def test_power_loss() -> None:
    written = head(power_loss(LOST, cuts=1).csv())
    recovery = [f"recovery_{name}" for name in names(columns_of("recovery"))]
    assert names(columns_of("power_loss")) + recovery == written


def test_bench() -> None:
    assert names(columns_of("bench")) == measure("mlc-fast12", (), 1, 1).runs.names


def test_verdicts() -> None:
    assert names(columns_of("verdicts")) == list(Verdict("c", "s", "1", 1.0, 1.0, 0.0).row())


def test_comparison(tmp_path: Path) -> None:
    rp.compare(DRIVE, {"policy": ["RPS", "PE0"]}, out=tmp_path, workload__requests=10)
    written = json.loads((tmp_path / "compare.json").read_text(encoding="utf-8"))
    found = [
        f"{name}.{field}" if isinstance(value, list) else name
        for name, value in written.items()
        for field in (value[0] if isinstance(value, list) else [""])
    ]
    assert names(columns_of("compare")) == found


# ---- The summary --------------------------------------------------------------------------------

# Features that go together, in as few drives as take them all.
SETTINGS: list[dict[str, Any]] = [
    {"parallelism.multi_plane": "page"},
    {
        "host.interface": "nvme",
        "read_cache.bytes": 65536,
        "buffer.acknowledge": "back",
        "buffer.bytes": 65536,
        "buffer.replacement": "lru",
        "suspension.host_write_suspends": ["erase"],
        "ftl.count_erases": True,
        "ftl.factory_bad_share": 0.02,
        "ftl.over_provisioning": 0.4,
        "workload.trim_fraction": 0.1,
        "workload.flush_every_requests": 50,
        "workload.fua_fraction": 0.1,
    },
    {
        "host.interface": "nvme",
        "flow.one.read_fraction": 0.1,
        "flow.two.read_fraction": 0.9,
        "reliability.model": "power",
        "reliability.epsilon": 1e-4,
        "reliability.rated_cycles": 3000,
        "ecc.code": "ldpc",
        "ftl.mapping": "demand",
        "ftl.map_cache_bytes": 4096,
    },
    {"timing.wordline_pages": 2},
    {"ftl.precondition": "steady", "buffer.acknowledge": "back", "workload.read_fraction": 0.3},
    {"ftl.copyback": True},
    {
        "timing.wordline_pages": 2,
        "slc_cache.mode": "dynamic",
        "slc_cache.t_slc_read_us": 5,
        "slc_cache.slc_program_iterations": 2,
        "ftl.over_provisioning": 0.7,
    },
    {"zones.model": "host-managed", "workload.read_fraction": 1},
    {"ftl.mapping_bytes": 512},
    {"scheduling.dispatch": "mbm"},
    {"ftl.scan_period_s": 1},
    {
        "power.account": "on",
        "power.vdd_core_v": 3,
        "power.vdd_q_v": 1.8,
        "thermal.model": "rc",
        "thermal.c_per_w": 20,
        "thermal.time_constant_s": 10,
        "thermal.light_budget_mw": 500,
        "thermal.heavy_budget_mw": 400,
    },
]

# One row that stays, and one for each reason to leave one out.
ROWS = """0 0.0 0 0 Read 8 8
1 2.0 0 0 Read 8 8
2 2.0 0 0 Read 8 8
3 2.0 0 1 Read 8 8
4 2.0 0 0 Read 8 0
5 2.0 0 0 Read 9223372036854775807 8
"""
WANTED = {"start_s": 1, "devices": [0], "drop_duplicates_within_us": 1}


def enough(_share: float | None, requests: int) -> None:
    """End a run as Ctrl-C does."""
    if requests:
        raise EnoughError


def summaries(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield summaries of runs that between them have every feature."""
    for sets in SETTINGS:
        yield rp.run(DRIVE, **sets).summary
    yield rp.run(DRIVE, watch=enough, workload__requests=5000).summary
    # What requests waited behind is kept with their log.
    yield rp.run(DRIVE, requests=True).summary
    yield rp.run(LOST, power_loss__at_us=100000).summary
    trace = folder / "rows.txt"
    trace.write_text(ROWS.replace(" ", "\t"), encoding="utf-8")
    replay = {"trace": str(trace), "format": "diskmon", **WANTED}
    yield rp.run({"device": "fast12-slc", "workload": replay}).summary


def leaves(tree: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def pattern(name: str) -> re.Pattern[str]:
    """Match a field whose words in capitals stand for any name."""
    return re.compile(re.sub(r"\b[A-Z]+\b", "[^.]+", name.replace(".", r"\.")))


def test_every_field_of_a_summary_is_told_and_every_field_told_is_there(tmp_path: Path) -> None:
    found = {leaf for summary in summaries(tmp_path) for leaf in leaves(summary)}
    told = [pattern(name) for _, columns in SUMMARY.values() for name in names(columns)]
    untold = {leaf for leaf in found if not any(each.fullmatch(leaf) for each in told)}
    missing = {each.pattern for each in told if not any(each.fullmatch(leaf) for leaf in found)}
    assert (untold, missing) == (set(), set())
