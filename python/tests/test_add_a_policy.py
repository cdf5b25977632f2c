"""The recipe of docs/guide/add-a-policy.md, applied as it stands to a copy of the project."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "docs/guide/add-a-policy.md"
COPIED = ("Cargo.toml", "Cargo.lock", "crates", "benches", "fuzz", "devices", "parts", "loads")

BLOCK = re.compile(r"^```(rust|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`(crates/[\w/]+\.rs)`")
DEV_DEPENDENCIES = re.compile(rb"^\[dev-dependencies\]\n(?:[^\n\[][^\n]*\n)*", re.MULTILINE)


def steps() -> list[tuple[str, str, str]]:
    """Return path, language and text of every block of Rust; the last path names its file."""
    text = RECIPE.read_text().split("## In Rust")[1]
    found = []
    for block in BLOCK.finditer(text):
        path = PATH.findall(text[: block.start()])[-1]
        found.append((path, block[1], block[2]))
    return found


def inserted(text: str, diff: str) -> str:
    """Return the text with the lines of a diff that begin with a plus, between the other ones."""
    lines = diff.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if line.startswith(" "))
    after = "".join(f"{line[1:]}\n" for line in lines)
    assert text.count(before) == 1, f"{RECIPE.name} shows what the code does not have:\n{before}"
    return text.replace(before, after)


def project() -> dict[Path, bytes]:
    """Return the files of the project after the recipe, by their paths in it."""
    files = {}
    for name in COPIED:
        top = ROOT / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file():
                files[path.relative_to(ROOT)] = path.read_bytes()
    for name, language, text in steps():
        path = Path(name)
        whole = inserted(files[path].decode(), text) if language == "diff" else text
        files[path] = whole.encode()
    # The recipe's test needs nothing of what the other tests of its crate do, which takes long to
    # compile.
    package = Path("crates/ssd/Cargo.toml")
    files[package] = DEV_DEPENDENCIES.sub(b"", files[package])
    return files


def write(files: dict[Path, bytes], folder: Path) -> None:
    """Make these the files of a folder; one that is as it was keeps its time, for Cargo."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.relative_to(folder) not in files:
            path.unlink()
    for path, content in files.items():
        file = folder / path
        if not file.exists() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


@pytest.mark.seconds(60)
def test_the_recipe_builds_a_policy_that_does_what_it_says() -> None:
    folder = ROOT / "target/recipe"
    write(project(), folder / "project")
    # One small drive is run: to optimise what runs it would take far longer, and nobody debugs it.
    profile = {"OPT_LEVEL": "0", "DEBUG": "0"}
    own = {"CARGO_TARGET_DIR": str(folder)}
    own |= {f"CARGO_PROFILE_TEST_{key}": value for key, value in profile.items()}
    run = subprocess.run(
        ["cargo", "test", "--quiet", "--offline", "-p", "reprieve-ssd", "--test", "patient"],
        cwd=folder / "project",
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 passed" in run.stdout


def test_the_recipe_takes_three_files() -> None:
    """A policy with a key of its own: its file, the registry's line, the key's row."""
    own = {path for path, _, _ in steps() if "/tests/" not in path}
    assert len(own) == 3, own
