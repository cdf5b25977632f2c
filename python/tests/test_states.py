"""A drive in its steady state is prepared once: later commands take it, with the same results."""

from __future__ import annotations

from pathlib import Path

import pytest

from .drive import Reprieve

STEADY = """
device = "fast12-mlc"

[geometry]
channels = 4
blocks_per_plane = 64

[ftl]
precondition = "steady"

[workload]
generator = "mixed"
requests = 500
read_fraction = 0.5
queue_depth = 16
"""
WRITTEN = ("summary.json", "requests.parquet", "scenario.toml", "drive.state")


def outputs(folder: Path, reprieve: Reprieve, *words: str) -> dict[str, bytes]:
    """Run a steady drive in a folder of its own; return what it has written, by name."""
    folder.mkdir()
    (folder / "drive.toml").write_text(STEADY)
    command = ["run", f"{folder}/drive.toml", "--requests", "--out", f"{folder}/out", *words]
    kept = ["--save-state", f"{folder}/out/drive.state", "--save-state-at", "start"]
    reprieve(*command, *kept)
    return {name: (folder / "out" / name).read_bytes() for name in WRITTEN}


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the states of a folder, by name; a file that was used has another time."""
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.glob("*")}


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_second_command_takes_the_state(
    is_moved: bool, tmp_path: Path, reprieve: Reprieve, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = outputs(tmp_path / "cold", reprieve)
    states = tmp_path / "cache/reprieve/states"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("REPRIEVE_STATES", str(states) if is_moved else "")
    assert outputs(tmp_path / "first", reprieve) == cold
    [(name, (number, time_ns))] = files(states).items()
    assert outputs(tmp_path / "second", reprieve) == cold
    # Taken, not written anew: the same file, which was used.
    [(again, (number_again, time_again_ns))] = files(states).items()
    assert (again, number_again) == (name, number)
    assert time_again_ns > time_ns
    # Another drive has another state, another length of the run has not.
    outputs(tmp_path / "longer", reprieve, "--set", "workload.requests=600")
    assert len(files(states)) == 1
    outputs(tmp_path / "seed", reprieve, "--set", "seed=2")
    assert len(files(states)) == 2


def test_a_wrong_file_is_replaced(
    tmp_path: Path, reprieve: Reprieve, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = outputs(tmp_path / "cold", reprieve)
    states = tmp_path / "states"
    monkeypatch.setenv("REPRIEVE_STATES", str(states))
    outputs(tmp_path / "first", reprieve)
    [path] = states.iterdir()
    whole = path.read_bytes()
    changed = whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]
    for number, wrong in enumerate((b"", whole[:-1], changed)):
        path.write_bytes(wrong)
        assert outputs(tmp_path / f"wrong{number}", reprieve) == cold
        assert path.read_bytes() == whole


@pytest.mark.parametrize("where", ["a file", "no home", "off"])
def test_a_place_that_cannot_be_had_does_no_harm(
    where: str, tmp_path: Path, reprieve: Reprieve, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = outputs(tmp_path / "cold", reprieve)
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    match where:
        case "a file":
            monkeypatch.setenv("REPRIEVE_STATES", str(tmp_path / "file"))
        case "no home":
            monkeypatch.delenv("REPRIEVE_STATES")
            monkeypatch.delenv("HOME")
    assert outputs(tmp_path / "run", reprieve) == cold
    assert not (tmp_path / ".cache").exists()
