"""Examples of README and guide work as they stand, and the reference is up to date."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from reprieve.reference.commands import options

from .markdown import Block, blocks
from .tree import Tree

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Tree(ROOT)

# What a reader has at hand in a checkout, as far as the pages use it.
AT_HAND = ("Makefile", "devices", "examples", "parts", "traces")

PAGES = [
    path
    for path in (*PROJECT.files("README.md"), *PROJECT.files("docs/guide/*.md"))
    if any(block.is_runnable for block in blocks(PROJECT.text(path)))
]


def command_of(block: Block, folder: Path) -> list[str]:
    """Return the command that runs a block; the blocks of a page share `folder`."""
    if block.language == "sh":
        return ["bash", "-euo", "pipefail", "-c", block.code]
    if block.language == "python":
        return [sys.executable, "-c", block.code]
    scenario = folder / f"line-{block.line}.toml"
    scenario.write_text(block.code, encoding="utf-8")
    return ["reprieve", "run", "--print", scenario.name]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader would, with the installed `reprieve` first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.seconds(10)
@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_page_run(page: str, tmp_path: Path) -> None:
    for name in AT_HAND:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name)
        else:
            shutil.copy(source, tmp_path / name)
    for block in blocks(PROJECT.text(page)):
        if block.is_runnable:
            done = run(command_of(block, tmp_path), tmp_path)
            assert done.returncode == 0, f"{page}:{block.line}:\n{done.stdout}{done.stderr}"


def commands_of_table() -> list[str]:
    """Return the commands of the table of tasks, in its order."""
    table = (
        PROJECT.text("docs/guide/commands.md")
        .partition("| task | command |")[2]
        .partition("\n\n")[0]
    )
    return [code for code in re.findall(r"`([^`]+)`", table) if code.startswith("reprieve ")]


# Rows that take minutes; `make long` runs them, the last one where it may.
SLOW_ROWS = ("reprieve reproduce", "reprieve validate", "reprieve database")


@pytest.mark.seconds(20)
def test_rows_of_tasks_run_as_written(tmp_path: Path) -> None:
    """One after the other in one folder, as a reader would who goes down the table."""
    for name in AT_HAND:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    commands = commands_of_table()
    assert len(commands) > 15, "the table has another form"
    for command in commands:
        if command.startswith(SLOW_ROWS) and "REPRIEVE_LONG" not in os.environ:
            continue
        if command.startswith("reprieve database") and os.geteuid() != 0:
            continue
        if command == "reprieve ui":
            # It opens a browser; python/tests/test_explorer.py has it served without.
            continue
        line = ["bash", "-euo", "pipefail", "-c", command]
        if command.startswith("reprieve serve"):
            # It serves until it is told to stop.
            line[-1] = (
                f"exec 3< <(exec {command}); pid=$!; read -r told <&3; kill -INT $pid; "
                'cat <&3; wait $pid; [[ "$told" == serving* ]]'
            )
        done = run(line, tmp_path)
        assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"


@pytest.mark.seconds(20)
def test_the_demo_prints_what_readme_says() -> None:
    """Line by line, marks included; what `make demo` would run, without a build."""
    said = run(["make", "--no-print-directory", "--dry-run", "demo"], ROOT).stdout
    command = next(
        line for line in said.replace("\\\n", " ").splitlines() if "reprieve compare" in line
    )
    done = run(["bash", "-euo", "pipefail", "-c", command], ROOT)
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    block = PROJECT.text("README.md").partition("```text demo\n")[2].partition("\n```")[0]
    assert printed == block.splitlines()
    assert "?" not in block, "every number that README shows has an interval"


OPTIONS = options()
_CALL = re.compile(r"(?<![\w/.-])reprieve ((?:[a-z][a-z-]* ?)*)([^`|;&>]*)")


def wrong_calls(text: str) -> list[str]:
    """Return the calls of our program, in code, that name no command or option of it."""
    code = "\n".join(block.code for block in blocks(text) if block.language == "sh")
    code += "\n" + "\n".join(re.findall(r"`(reprieve [^`\n]*)`", text))
    wrong = []
    for words, rest in _CALL.findall(code.replace("\\\n", " ")):
        named = [f"reprieve {' '.join(words.split()[:count])}" for count in (2, 1)]
        known = next((OPTIONS[name] for name in named if name in OPTIONS), None)
        asked = re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest.partition("\n")[0])
        if words.strip() and (known is None or set(asked) - known - {"--help"}):
            wrong.append(f"reprieve {words}{rest}".strip())
    return wrong


@pytest.mark.parametrize("page", list(PROJECT.files("*.md")))
def test_commands_and_options_exist(page: str) -> None:
    assert not wrong_calls(PROJECT.text(page))


def test_wrong_command_or_option_is_noticed() -> None:
    right = "`reprieve run a.toml --set b=c`, `reprieve trace info x --json`, `reprieve --help`\n"
    assert wrong_calls(right + "```sh\nreprieve run a \\\n  --out b | head -3\n```\n") == []
    assert wrong_calls("`reprieve rum a.toml`") == ["reprieve rum a.toml"]
    assert wrong_calls("`reprieve run a --outt b`") == ["reprieve run a --outt b"]
    assert wrong_calls("```sh\nreprieve run a \\\n  --outt b\n```\n") != []


def test_blocks_are_found_and_told_apart() -> None:
    page = (
        "# Page\n\n```sh runnable\nreprieve devices\n```\n\n```sh\nmake demo\n```\n\n"
        '```toml\n# Whole.\nseed = 1\n```\n\n```toml\n[ftl]\ngc_victim = "greedy"\n```\n\n'
        "```text\nout\n```\n\n```python\nimport reprieve\n```\n"
    )
    found = [(block.language, block.line, block.is_runnable) for block in blocks(page)]
    assert found == [
        ("sh", 3, True),
        ("sh", 7, False),
        ("toml", 11, True),
        ("toml", 16, False),
        ("text", 21, False),
        ("python", 25, True),
    ]


@pytest.mark.parametrize(
    ("language", "code", "succeeds"),
    [
        ("sh", "true", True),
        ("sh", "false\ntrue", False),
        ("sh", "false | true", False),
        ("python", "assert 1 + 1 == 2", True),
        ("python", "assert 1 + 1 == 3", False),
    ],
)
def test_block_that_fails_is_noticed(
    language: str, code: str, succeeds: bool, tmp_path: Path
) -> None:
    done = run(command_of(Block(language, (), 1, code), tmp_path), tmp_path)
    assert (done.returncode == 0) == succeeds


def test_the_guide_lists_the_public_modules() -> None:
    section = PROJECT.text("docs/guide/python.md").partition("\n## A study of your own\n")[2]
    rows = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(reprieve[\w.]*)`", row)}
    contracts = tomllib.loads(PROJECT.text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    (public,) = (contract for contract in contracts if contract.get("id") == "public")
    allowed = {importing.rpartition(" ")[2] for importing in public["ignore_imports"]}
    # The import of this function looks like one of the module in which it is.
    assert named | {"reprieve", "reprieve.calibration.calibrate"} == allowed
