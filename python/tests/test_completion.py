"""Answers to a shell that completes a line: commands, options, names and keys."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import reprieve as rp
from reprieve.sections import schema


def completed(program: str, line: str) -> list[str]:
    """Return what bash is told of the last word of a line."""
    asked = {
        "_REPRIEVE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    done = subprocess.run(
        [program], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_and_options_are_completed(program: str) -> None:
    assert completed(program, "reprieve comp") == ["compare"]
    assert completed(program, "reprieve trace in") == ["info"]
    assert completed(program, "reprieve run x.toml --save") == ["--save-state", "--save-state-at"]


def test_names_of_what_is_built_in_are_completed(program: str) -> None:
    of_fast12 = [one.name for one in rp.devices() if one.name.startswith("fast12")]
    assert completed(program, "reprieve devices fast12") == of_fast12 != []
    # Named for suspension and for scheduling, and offered once.
    assert completed(program, "reprieve policies deadl") == ["deadline"]


@pytest.mark.parametrize("option", ["run x.toml --set", "compare x.toml --axis", "tune x --vary"])
def test_keys_of_a_scenario_are_completed(program: str, option: str) -> None:
    of_limits = [f"suspension.{key}=" for key in schema()["suspension"] if key.startswith("max_")]
    assert completed(program, f"reprieve {option} suspension.max_") == of_limits != []
    assert completed(program, f"reprieve {option} see") == ["seed="]


def test_completion_is_installed_for_a_shell(program: str, tmp_path: Path) -> None:
    # Which shell it is would be found out by asking whose child the command is.
    asked = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    subprocess.run(
        [program, "--install-completion", "bash"],
        env={**os.environ, **asked},
        capture_output=True,
        check=True,
    )
    (installed,) = tmp_path.glob(".bash_completions/*")
    assert "complete -o default -F _reprieve_completion reprieve" in installed.read_text()
    assert str(installed) in (tmp_path / ".bashrc").read_text()
