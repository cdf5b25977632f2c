"""The project keeps the house rules, but for the exceptions that tables.py lists with a reason."""

import re
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from .rules import RULES
from .rules.names import tables_name_what_exists
from .tables import EXCEPTIONS, Exempt
from .tree import Problem, Tree

PROJECT = Tree(Path(__file__).resolve().parents[2])


@cache
def problems_of(rule: str) -> list[Problem]:
    """Return what a rule finds in the project, exceptions and all."""
    return list(RULES[rule](PROJECT))


@pytest.mark.parametrize("rule", RULES)
def test_project_keeps_rule(rule: str) -> None:
    excepted = [exempt.path for exempt in EXCEPTIONS if exempt.rule == rule]
    problems = [
        str(problem)
        for problem in problems_of(rule)
        if not any(fnmatch(problem.path, path) for path in excepted)
    ]
    assert not problems, "\n" + "\n".join(problems)


@pytest.mark.parametrize("exempt", EXCEPTIONS, ids=lambda exempt: f"{exempt.rule}: {exempt.path}")
def test_exception_is_still_needed(exempt: Exempt) -> None:
    found = [problem.path for problem in problems_of(exempt.rule)]
    assert any(fnmatch(path, exempt.path) for path in found), f"remove the exception {exempt}"


def test_tables_name_what_exists(tmp_path: Path) -> None:
    assert not list(tables_name_what_exists(PROJECT))
    # Where there is nothing, everything that the tables name is missing.
    missing = [problem.what for problem in tables_name_what_exists(Tree(tmp_path))]
    assert "there are no policies in sched" in missing


def test_crates_that_make_test_leaves_out_have_no_tests() -> None:
    left_out = set(re.findall(r"--exclude (\S+)", (PROJECT.root / "Makefile").read_text()))
    members = tomllib.loads((PROJECT.root / "Cargo.toml").read_text())["workspace"]["members"]
    for folder in (PROJECT.root / member for member in members):
        name = tomllib.loads((folder / "Cargo.toml").read_text())["package"]["name"]
        if name in left_out:
            sources = [path.read_text() for path in folder.rglob("*.rs")]
            assert not any("#[test]" in source or "proptest!" in source for source in sources), name
            left_out.remove(name)
    assert not left_out, f"there is no crate {left_out}"
