"""The wheel that `make wheel` builds, installed where there is no checkout; with `make long`."""

from __future__ import annotations

import json
import os
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

import reprieve as rp

from .drive import SMALL

DIST = Path(__file__).resolve().parents[2] / "dist"

PROGRAM = """
import json, pathlib, sys
import reprieve as rp
result = rp.run("small.toml")
result.report("report.html")
print(json.dumps({
    "file": rp.__file__,
    "devices": [entry.name for entry in rp.devices()],
    "parts": [rp.part(entry.name) for entry in rp.parts()],
    "loads": [rp.load(entry.name) for entry in rp.loads()],
    "requests": result.summary["requests"],
    "keys": rp.Scenario(device="fast12-mlc").geometry.channels,
}))
"""


@pytest.mark.skipif(not os.environ.get("REPRIEVE_LONG"), reason="a part of `make long`")
def test_wheel_stands_alone(tmp_path: Path) -> None:
    (wheel,) = DIST.glob("*.whl")
    name, version, python, abi, _platform = wheel.stem.split("-")
    assert (name, version, python, abi) == ("reprieve", rp.__version__, "cp311", "abi3")
    with zipfile.ZipFile(wheel) as packed:
        folders = {Path(each).parts[0].partition("-")[0] for each in packed.namelist()}
        has_explorer = "reprieve/ui/reprieve.wasm" in packed.namelist()
    assert folders == {"reprieve"}, "the studies are a package of their own"
    built = Path(rp.__file__).parent / "ui" / "reprieve.wasm"
    assert has_explorer == built.exists(), "the explorer comes along if it is built"
    place = tmp_path / "venv"
    venv.create(place, with_pip=True)
    # Nothing of this checkout may be found by its own name.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    (tmp_path / "small.toml").write_text(SMALL)

    def run(*command: str) -> str:
        done = subprocess.run(
            [str(place / "bin" / command[0]), *command[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[plots]")
    told = json.loads(run("python", "-c", PROGRAM))
    assert Path(told["file"]).is_relative_to(place)
    assert told["devices"] == [entry.name for entry in rp.devices()]
    assert told["parts"] == [rp.part(entry.name) for entry in rp.parts()]
    assert told["loads"] == [rp.load(entry.name) for entry in rp.loads()]
    assert told["requests"] == rp.run(tmp_path / "small.toml").summary["requests"]
    assert told["keys"] == rp.Scenario(device="fast12-mlc").geometry.channels
    run("reprieve", "run", "small.toml", "--report", "--out", "o")
    names = sorted(path.name for path in (tmp_path / "o").iterdir())
    assert names == ["report.html", "scenario.toml", "summary.json"]
