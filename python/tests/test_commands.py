"""Where commands come from: this package, and those whose entry points name more."""

from __future__ import annotations

import pytest

from reprieve.cli import EXIT_MISTAKE, EXIT_OK, commands, main


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no other package be installed."""
    monkeypatch.setattr(commands, "entry_points", lambda **_: ())


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
