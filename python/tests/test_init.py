"""`reprieve init`: what it writes runs as it is, for every built-in device."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import reprieve as rp

from .drive import Reprieve

FEWER = ("--set", "geometry.blocks_per_plane=96", "--set", "workload.requests=2000")
"""To fill the whole of a large drive takes ten seconds and more."""


@pytest.mark.parametrize("device", [entry.name for entry in rp.devices()])
def test_what_is_written_runs(device: str, tmp_path: Path, reprieve: Reprieve) -> None:
    shown = reprieve("init", "new", "--device", device).stdout
    folder = tmp_path / "new"
    assert {path.name for path in folder.iterdir()} == {
        "scenario.toml",
        "sweep.toml",
        "reprieve.schema.json",
    }
    assert "reprieve run new/scenario.toml --out new/out --report" in shown

    text = (folder / "scenario.toml").read_text()
    assert text.startswith("#:schema ./reprieve.schema.json\n")
    schema = json.loads((folder / "reprieve.schema.json").read_text())
    jsonschema.validate(tomllib.loads(text), schema)

    resolved = reprieve("run", "new/scenario.toml", "--print").stdout
    assert resolved.startswith("seed = 1\n")
    reprieve("run", "new/scenario.toml", *FEWER, "--out", "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    counted = summary["requests"]["total"]["count"] + summary["measure"]["requests_excluded"]
    assert counted == 2000


def test_the_sweep_runs(tmp_path: Path, reprieve: Reprieve) -> None:
    reprieve("init")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(sweep.read_text().replace("20000", "500"))
    swept = reprieve("sweep", "sweep.toml", "--out", "swept")
    assert swept.returncode == 0, swept.stderr
    assert (tmp_path / "swept" / "points.parquet").exists()


def test_nothing_is_overwritten(tmp_path: Path, reprieve: Reprieve) -> None:
    (tmp_path / "sweep.toml").write_text("mine\n")
    failed = reprieve("init", ".")
    assert failed.returncode == 2
    assert failed.stderr == ("sweep.toml: is there already, and stays as it is; give another DIR\n")
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.toml"]
    assert (tmp_path / "sweep.toml").read_text() == "mine\n"


def test_a_misspelt_device_is_answered(tmp_path: Path, reprieve: Reprieve) -> None:
    failed = reprieve("init", "new", "--device", "fast12-mcl")
    assert failed.returncode == 2
    assert "fast12-mlc" in failed.stderr
    assert not (tmp_path / "new").exists()
