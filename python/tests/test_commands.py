"""Where commands come from: this package, and those whose entry points name more."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer

import reprieve as rp
from reprieve.cli import EXIT_MISTAKE, EXIT_OK, commands, main


@pytest.fixture
def another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another package bring the command `count`."""
    point = EntryPoint("count", "reprieve.cli.builtin:devices", commands.GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: (point,))


@pytest.mark.usefixtures("another")
def test_the_help_lists_what_other_packages_bring(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == EXIT_OK
    found = capsys.readouterr().out
    assert all(name in found for name in ("power-loss", "reproduce", "count"))
    assert main(["count"]) == EXIT_OK
    assert "fast12-mlc" in capsys.readouterr().out


def test_every_command_is_where_the_table_says() -> None:
    assert {*commands.OF_STUDIES} <= {*commands.names()}
    for name in commands.COMMANDS:
        found = commands.load(name)
        assert callable(found) or isinstance(found, typer.Typer), name


def test_a_misspelt_command_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reprodce"]) == EXIT_MISTAKE
    assert "'reproduce'" in capsys.readouterr().err


HEAVY = ("altair", "jinja2", "numpy", "pandas", "polars", "pyarrow", "scipy", "vl_convert")
"""Modules that take longer to import than a small simulation takes."""
OF_A_RUN = (*HEAVY, "concurrent.futures", "importlib.metadata", "pydantic", "rich.progress")


def imported(program: str) -> set[str]:
    """Return the modules that a program has imported."""
    code = f"import sys\n{program}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {*done.stderr.split()}


def test_a_run_imports_only_what_it_needs(small: Path, tmp_path: Path) -> None:
    arguments = ["run", str(small), "--set", "seed=2", "--out", str(tmp_path / "out")]
    found = imported(f"from reprieve.cli import main\nassert main({arguments}) == 0")
    assert not found & {*OF_A_RUN}
    assert "reprieve.simulation" in found


def test_the_package_imports_what_is_asked_for() -> None:
    found = imported("import reprieve")
    assert not found & {*HEAVY, "typer", "rich", "reprieve.scenario"}
    assert {*rp.__all__} <= {*dir(rp)}
    for name in rp.__all__:
        assert getattr(rp, name) is not None
    with pytest.raises(AttributeError, match="'reprieve' has no attribute 'walk'"):
        rp.walk  # type: ignore[attr-defined] # noqa: B018
