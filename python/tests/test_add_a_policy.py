"""The recipe of docs/guide/add-a-policy.md, applied as it stands to a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "docs/guide/add-a-policy.md"
COPIED = ("Cargo.toml", "Cargo.lock", "crates", "benches", "devices", "parts", "loads")

BLOCK = re.compile(r"^```(rust|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`(crates/[\w/]+\.rs)`")


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


def test_the_recipe_builds_a_policy_that_does_what_it_says(tmp_path: Path) -> None:
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name)
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    for path, language, text in steps():
        file = tmp_path / path
        file.write_text(inserted(file.read_text(), text) if language == "diff" else text)
    run = subprocess.run(
        ["cargo", "test", "--quiet", "--offline", "-p", "reprieve-ssd", "--test", "patient"],
        cwd=tmp_path,
        env={**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target/recipe")},
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
