"""Numbers with a unit, from the command line, Python and JSON Schema; mistakes in TOML."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

import reprieve as rp
from reprieve import _native

from .drive import SMALL

Reprieve = Callable[..., subprocess.CompletedProcess[str]]
SCHEMA = json.loads(_native.json_schema())


def printed(reprieve: Reprieve, file: Path, *sets: str) -> str:
    done = reprieve("run", str(file), "--print", *(f"--set={each}" for each in sets))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("with_unit", "plain"),
    [
        ("timing.t_read_us=50us", "timing.t_read_us=50"),
        ("timing.t_read_us=0.05 ms", "timing.t_read_us=50"),
        ("buffer.bytes=16MiB", "buffer.bytes=16777216"),
        ("workload.requests=4k", "workload.requests=4000"),
    ],
)
def test_set_takes_units(reprieve: Reprieve, small: Path, with_unit: str, plain: str) -> None:
    assert printed(reprieve, small, with_unit) == printed(reprieve, small, plain)


def test_another_unit_is_refused(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = reprieve("run", str(small), "--set", "timing.t_read_us=4KiB", "--out", str(out))
    assert (done.returncode, out.exists()) == (2, False)
    assert done.stderr == (
        '--set: timing.t_read_us = "4KiB": "KiB" is none of its units (ns, us, ms, s); must be a '
        "time in microseconds, whole in nanoseconds, from 0 to 10000000000\n"
    )


def test_python_and_sweeps_take_units(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    scenario = rp.Scenario.from_file(tmp_path / "small.toml")
    changed = scenario.replace(timing__t_read_us="50 us")
    assert changed.resolve() == scenario.replace(timing__t_read_us=50).resolve()
    found = rp.sweep(
        {
            "scenario": str(tmp_path / "small.toml"),
            "design": "grid",
            "axes": {"timing.t_read_us": ["40us", "0.05ms"]},
            "set": {"workload.requests": "0.2k"},
        },
        out=tmp_path / "out",
    )
    assert found.points.column("total_count").to_pylist() == [200, 200]
    # The array read of a page.
    assert found.points.column("read_components_ns_array").to_pylist() == [40_000, 50_000]


@pytest.mark.parametrize(
    ("section", "key", "value", "is_right"),
    [
        ("timing", "t_read_us", "50us", True),
        ("timing", "t_read_us", "0.5 ms", True),
        ("timing", "t_read_us", 50, True),
        ("timing", "t_read_us", -1, False),
        ("timing", "t_read_us", "50KiB", False),
        ("buffer", "bytes", "16 MiB", True),
        ("buffer", "bytes", "16MB", True),
        ("buffer", "bytes", "16us", False),
        ("workload", "request_bytes", [["4k", 1], [8192, 2]], True),
        ("workload", "requests", "100k", True),
        ("workload", "requests", "many", False),
        ("suspension", "max_per_operation", "none", True),
    ],
)
def test_the_schema_has_the_units(section: str, key: str, value: object, is_right: bool) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert validator.is_valid({section: {key: value}}) == is_right


def test_a_mistake_in_toml_is_one_sentence(reprieve: Reprieve, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('device = "fast12-mlc"\n[workload]\nrequests = 1,000\n')
    done = reprieve("run", str(bad))
    assert (done.returncode, done.stdout) == (2, "")
    said = "not TOML: a number has no comma: write 1000 for 1,000"
    assert done.stderr == f"{bad}:3:13: {said}\n"
