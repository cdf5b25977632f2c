"""Where commands come from: this package, and those whose entry points name more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import reprieve as rp
from reprieve.cli import EXIT_MISTAKE, EXIT_OK, commands, main


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no other package be installed."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", commands.OF_STUDIES)
def test_a_command_of_the_studies_says_how_to_install_them(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "fast12"]) == EXIT_MISTAKE
    assert capsys.readouterr().err == (
        f"reprieve {name} needs the package reprieve-studies, which is not installed: "
        "`make studies` in the sources of Reprieve, or `pip install ./studies`\n"
    )


@pytest.mark.usefixtures("alone")
def test_the_help_lists_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == EXIT_OK
    found = capsys.readouterr().out
    assert "power-loss" in found
    assert "reproduce" not in found


def test_the_studies_bring_all_their_commands() -> None:
    assert {*commands.OF_STUDIES} <= {*commands.names()}
    assert all(callable(commands.load(name)) for name in commands.OF_STUDIES)


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
