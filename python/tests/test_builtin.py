"""`reprieve devices`, `parts`, `loads` and `policies`."""

from __future__ import annotations

import pytest

import reprieve as rp

from .drive import Reprieve

KINDS = {
    "devices": (rp.devices, rp.device),
    "parts": (rp.parts, rp.part),
    "loads": (rp.loads, rp.load),
}


@pytest.mark.parametrize("kind", KINDS)
def test_list_and_one(reprieve: Reprieve, kind: str) -> None:
    every, one_of = KINDS[kind]
    entries = every()
    text = one_of(entries[0].name)
    listed = reprieve(kind)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert max(map(len, listed.stdout.splitlines())) <= 80
    # A text that is wrapped goes on in its column, with nothing before it.
    words = f" {' '.join(listed.stdout.split())} "
    assert all(f" {entry.name} {' '.join(entry.doc.split())} " in words for entry in entries)
    one = reprieve(kind, entries[0].name)
    assert one.stdout.rstrip("\n") == text.rstrip("\n")


def test_policies_by_key_and_by_name(reprieve: Reprieve) -> None:
    listed = reprieve("policies").stdout
    for key, entries in rp.policies().items():
        for entry in entries:
            assert any(line.split()[:2] == [key, entry.name] for line in listed.splitlines())
    lines = reprieve("policies", "RPS").stdout.splitlines()
    one = [line.split()[:2] for line in lines if not line.startswith(" ")]
    assert one[2:] == [["scheduling.policy", "rps"], ["policy", "rps"]]
    hints = {"deadlin": "did you mean deadline?", "x": "`reprieve policies` lists all"}
    for wrong, hint in hints.items():
        done = reprieve("policies", wrong)
        assert (done.returncode, done.stderr) == (2, f"policies: there is no {wrong}; {hint}\n")


def test_version(reprieve: Reprieve) -> None:
    assert reprieve("--version").stdout == f"reprieve {rp.__version__}\n"


def test_help_lists_the_commands(reprieve: Reprieve) -> None:
    shown = reprieve("--help").stdout
    for command in (
        "init",
        "run",
        "compare",
        "rig",
        "trace",
        "devices",
        "parts",
        "loads",
        "policies",
        "schema",
    ):
        assert f" {command} " in shown
