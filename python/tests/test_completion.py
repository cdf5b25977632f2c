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


def test_a_key_that_is_whole_offers_its_values(program: str) -> None:
    policies = [choice["name"] for choice in schema()["suspension"]["policy"]["choices"]]
    whole = [f"suspension.policy={name}" for name in policies]
    assert completed(program, "reprieve run x --set suspension.policy=") == whole != []
    # A key with no other beside it, too: the shell writes what they share.
    assert completed(program, "reprieve run x --set suspension.polic") == whole
    assert completed(program, "reprieve tune x --vary ftl.gc_preemptible=t") == [
        "ftl.gc_preemptible=true"
    ]
    found = completed(program, "reprieve run x --set device=fast12-")
    assert found == [f"device={one.name}" for one in rp.devices() if "fast12-" in one.name]
    limit = "suspension.max_per_program="
    assert completed(program, f"reprieve run x --set {limit}") == [f"{limit}none"]
    assert completed(program, "reprieve run x --set seed=") == []
    assert completed(program, "reprieve run x --set no.such=") == []
    # A list goes on; a policy in capitals is completed so.
    assert completed(program, "reprieve compare x --axis policy=fifo,rp") == ["policy=fifo,rps"]
    assert completed(program, "reprieve compare x --axis policy=FIFO,RP") == ["policy=FIFO,RPS"]


def test_keys_by_their_beginning(program: str) -> None:
    found = completed(program, "reprieve run x --set po")
    sections = schema().items()
    keys = [f"{section}.{key}".lstrip(".") for section, names in sections for key in names]
    assert found == [f"{key}=" for key in keys if key.startswith("po")]
    assert {"policy=", "power.account=", "power_loss.mode="} <= {*found}


@pytest.mark.parametrize(
    ("words", "replies"),
    [
        # Bash gives a word and the breaks in it one by one, and puts in what follows the last.
        (["--set", "suspension.policy", "=", "dea"], ["deadline"]),
        (["--set", "suspension.policy", "="], ["always", "batch", "deadline", "threshold"]),
        (["--set", "suspension.polic"], None),
        (["--axis", "policy", "=", "fifo,rp"], ["fifo,rps"]),
        (["--set", "=", "suspension.policy", "=", "dea"], ["deadline"]),
        (["--set", "suspension.policy", "=", "always", "--fo"], ["--force"]),
    ],
)
def test_bash_takes_words_apart(program: str, words: list[str], replies: list[str] | None) -> None:
    command = ["reprieve", "compare" if "--axis" in words else "run", "x.toml", *words]
    asked = {
        "_REPRIEVE_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(command),
        "COMP_CWORD": str(len(command) - 1),
    }
    done = subprocess.run(
        [program], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    whole = ["always", "batch", "deadline", "threshold"]
    wanted = [f"suspension.policy={word}" for word in whole] if replies is None else replies
    assert (done.stdout.split(), done.stderr) == (wanted, "")


NAMES = {
    "rig --device fast12-ml": ["fast12-mlc"],
    "trace info --load fin1-f": ["fin1-flows"],
    "trace fit t.csv --device fast12-ml": ["fast12-mlc"],
    "init --device fast12-ml": ["fast12-mlc"],
    "calibrate --start fast12-ml": ["fast12-mlc"],
    "calibrate --free timing.t_prog_c": [],
    "characterize tlc3d-z": ["tlc3d-zambelli"],
    "reproduce st": ["starblaze"],
    "drives zns": ["zns-a"],
    "tune x --min read.p99": ["read.p99", "read.p99_9", "read.p99_99"],
    "tune x --max io": ["iops"],
    "tune x --where write.me": ["write.mean"],
}


@pytest.mark.parametrize("line", NAMES)
def test_names_are_completed(program: str, line: str) -> None:
    assert completed(program, f"reprieve {line}") == NAMES[line]


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
    # A key waits for its value: no space behind its sign.
    assert "== *= ]] && compopt -o nospace" in installed.read_text()
    assert str(installed) in (tmp_path / ".bashrc").read_text()
