"""The wheel that `make wheel` builds, installed where there is no checkout; with `make long`."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import zipfile
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import reprieve as rp
from reprieve.drives import load, names

from .drive import SMALL

DIST = Path(__file__).resolve().parents[2] / "dist"

PROGRAM = """
import json, pathlib, sys
import reprieve as rp
from reprieve.drives import load, names
result = rp.run("small.toml")
result.report("report.html")
print(json.dumps({
    "file": rp.__file__,
    "devices": [entry.name for entry in rp.devices()],
    "parts": [rp.part(entry.name) for entry in rp.parts()],
    "loads": [rp.load(entry.name) for entry in rp.loads()],
    "measured": {name: len(load(name).conditions) for name in names()},
    "requests": result.summary["requests"],
    "keys": rp.Scenario(device="fast12-mlc").geometry.channels,
}))
"""


pytestmark = pytest.mark.skipif(not os.environ.get("REPRIEVE_LONG"), reason="a part of `make long`")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# What the header of an ELF file calls a machine.
MACHINES = {"x86_64": 62, "aarch64": 183}


def interpreter(version: str) -> str:
    """Return a Python of this version, on the path or of pyenv; skip the test without one."""
    name = f"python{version}"
    for found in (shutil.which(name), *Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}")):
        if found is None:
            continue
        # A shim may be on the path without what it stands for.
        asked = [str(found), "-c", "import ensurepip, venv"]
        if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            return str(found)
    pytest.skip(f"NOT TESTED: there is no {name} with venv")


def test_each_wheel_is_for_its_machine_and_no_newer_system() -> None:
    wheels = list(DIST.glob("*.whl"))
    assert wheels
    for wheel in wheels:
        name, version, python, abi, system = wheel.stem.split("-")
        assert (name, python, abi) == ("reprieve", "cp311", "abi3")
        # PyPI writes a development version in its own form.
        assert version == rp.__version__.replace("-dev", ".dev0")
        with zipfile.ZipFile(wheel) as packed:
            core = packed.read("reprieve/_native.abi3.so")
        (machine,) = (number for name, number in MACHINES.items() if system.endswith(name))
        assert int.from_bytes(core[18:20], "little") == machine
        promised = re.match(r"manylinux_2_(\d+)_", system)
        needed = max(map(int, re.findall(rb"GLIBC_2\.(\d+)", core)))
        assert promised is not None and needed <= int(promised[1])


def length_served(program: Path, environment: dict[str, str]) -> int:
    """Return the length of the simulator for browsers that `reprieve ui` offers."""
    command = [str(program), "ui", "--no-open", "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())
            assert found is not None
            connection = HTTPConnection("127.0.0.1", int(found[1]))
            connection.request("HEAD", "/reprieve.wasm")
            answer = connection.getresponse()
            assert answer.status == HTTPStatus.OK
            assert answer.getheader("Content-Type") == "application/wasm"
            return int(answer.getheader("Content-Length", "0"))
        finally:
            server.terminate()


def test_wheel_is_described_without_its_folder() -> None:
    for wheel in DIST.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            (name,) = (name for name in packed.namelist() if name.endswith("/METADATA"))
            head, _, text = packed.read(name).decode().partition("\n\n")
        assert "\nProject-URL: Repository, https://" in head
        assert "\nProvides-Extra: all\n" in head
        assert text.startswith("# Reprieve\n")
        targets = re.findall(r"\]\(([^)\s]+)\)", text)
        assert all(target.startswith(("https://", "#")) for target in targets)


@pytest.mark.parametrize("version", VERSIONS)
def test_wheel_stands_alone(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    (wheel,) = DIST.glob(f"*_{platform.machine()}.whl")
    with zipfile.ZipFile(wheel) as packed:
        folders = {Path(each).parts[0].partition("-")[0] for each in packed.namelist()}
        has_explorer = "reprieve/ui/reprieve.wasm" in packed.namelist()
    assert folders == {"reprieve", "reprieve_studies"}
    built = Path(rp.__file__).parent / "ui" / "reprieve.wasm"
    assert has_explorer == built.exists(), "`make wheel` builds the explorer if it can"
    place = tmp_path / "venv"
    subprocess.run([python, "-m", "venv", place], check=True)
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

    install = ("pip", "install", "--quiet", "--disable-pip-version-check")
    run(*install, str(wheel))
    packages = {row["name"].lower() for row in json.loads(run("pip", "list", "--format=json"))}
    assert not packages & {"pyarrow", "pandas", "polars", "duckdb", "scipy", "altair"}
    run("reprieve", "run", "small.toml", "--requests", "--out", "base")
    assert len(pq.read_table(tmp_path / "base" / "requests.parquet")) == 3000
    run("reprieve", "explain", "base")
    if has_explorer:
        assert length_served(place / "bin" / "reprieve", environment) == built.stat().st_size
    study = [str(place / "bin" / "reprieve"), "reproduce", "fast12"]
    done = subprocess.run(study, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = (
        "reprieve reproduce needs altair, which is not installed: pip install 'reprieve[studies]'"
    )
    assert (done.returncode, done.stderr) == (2, f"{said}\n")
    run(*install, f"{wheel}[plots]")
    told = json.loads(run("python", "-c", PROGRAM))
    assert Path(told["file"]).is_relative_to(place)
    assert told["devices"] == [entry.name for entry in rp.devices()]
    assert told["parts"] == [rp.part(entry.name) for entry in rp.parts()]
    assert told["loads"] == [rp.load(entry.name) for entry in rp.loads()]
    assert told["measured"] == {name: len(load(name).conditions) for name in names()}
    assert told["requests"] == rp.run(tmp_path / "small.toml").summary["requests"]
    assert told["keys"] == rp.Scenario(device="fast12-mlc").geometry.channels
    run("reprieve", "run", "small.toml", "--report", "--out", "o")
    written = {path.name for path in (tmp_path / "o").iterdir()}
    assert {"report.html", "scenario.toml", "series.parquet", "summary.json"} <= written
