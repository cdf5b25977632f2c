"""The help of every command at 80 columns: whole lines, plain words, examples that work."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer

from reprieve.cli import EXIT_OK, commands, main
from reprieve.cli.groups import GROUPS
from reprieve.cli.help import example

from .drive import Reprieve

NAMES = sorted(name for name, _ in commands.each())
OF_COMMANDS = sorted(name for found in GROUPS.values() for name in found)
ROOT = Path(__file__).resolve().parents[2]


def help_of(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*name.split()[1:], "--help"]) == EXIT_OK
    return capsys.readouterr().out


def paragraphs(text: str) -> list[list[str]]:
    """Return the lines of each paragraph; a term of a list begins one, as an indent less does."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        is_term = line.startswith("  ") and not line.startswith("   ")
        if not line.strip() or is_term or line.endswith(":"):
            found.append([])
        if line.strip() and not line.endswith(":"):
            found[-1].append(line)
    return [lines for lines in found if lines]


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_80_columns_and_wraps_once(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(name, monkeypatch, capsys)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert not any(line != line.rstrip() for line in text.splitlines())
    for word in ("<bool>", "<str>", "<path>", "range]", "[default: (", "\\["):
        assert word not in text
    for lines in paragraphs(text):
        short = [line for line in lines[:-1] if len(line) < 40]
        assert short == [], f"{name}: wrapped twice"
    assert f"\nUsage: {name}" in text


def test_a_paragraph_that_is_wrapped_twice_is_found() -> None:
    twice = "A text that fills the line from its very beginning to its end, and\nis cut\nagain.\n"
    (lines,) = paragraphs(twice)
    assert [line for line in lines[:-1] if len(line) < 40] == ["is cut"]
    listed = "Options:\n  --one  A text.\n  --two  Another,\n         longer.\n"
    assert [len(lines) for lines in paragraphs(listed)] == [1, 2]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "reprieve"])
def test_help_has_an_example_of_its_command(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(name, monkeypatch, capsys)
    assert example(name).startswith(name)
    assert f"Example:\n  {example(name)}\n" in text


def test_each_command_is_in_a_group(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [f"reprieve {name}" for name in OF_COMMANDS] == [n for n in NAMES if n != "reprieve"]
    text = help_of("reprieve", monkeypatch, capsys)
    places = [text.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert "\nCommands:\n" not in text
    # A command behind the title of its group.
    assert text.index("\nTraces:\n") < text.index("\n  trace ") < text.index("\nDevices and parts")


def words_of(name: str) -> list[str]:
    return shlex.split(example(f"reprieve {name}"))[1:]


@pytest.mark.parametrize("name", OF_COMMANDS)
def test_each_example_is_understood(name: str) -> None:
    command: Any = typer.main.get_command(commands.app)
    words = words_of(name)
    context = command.make_context("reprieve", list(words))
    while hasattr(command, "resolve_command"):
        _, command, words = command.resolve_command(context, words)
        context = command.make_context(command.name, list(words), parent=context)


RUN = (
    *("init", "run", "explain", "compare", "sweep", "query"),
    *("trace info", "trace head", "trace convert", "trace fit"),
    *("devices", "parts", "loads", "policies", "schema", "rig", "drives", "calibrate"),
)
"""Examples that take a moment, in an order in which each has the files that it needs."""

MSR = "".join(
    f"{128166372003061629 + 10_000 * row},host,0,{'Read' if row % 3 else 'Write'},"
    f"{8192 * (row * 7 % 1000)},8192,1000\n"
    for row in range(1000)
)


@pytest.mark.seconds(12)
def test_the_cheap_examples_run_one_after_the_other(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text(MSR)
    shutil.copy(ROOT / "examples/read-during-a-program.csv", tmp_path / "commands.csv")
    for name in RUN:
        done = reprieve(*words_of(name))
        assert (done.returncode, done.stderr) == (0, ""), name
        assert done.stdout, name
    left = {path.name for path in tmp_path.iterdir()}
    assert {"scenario.toml", "results.csv", "load.toml", "small.csv.gz", "my-drive"} <= left


def test_without_arguments_the_help_is_printed(reprieve: Reprieve) -> None:
    for words, title in (((), "Run and compare:"), (("trace",), "Commands:")):
        done = reprieve(*words)
        assert (done.returncode, done.stderr) == (2, "")
        assert f"\n{title}\n" in done.stdout
    assert os.linesep * 3 not in done.stdout
