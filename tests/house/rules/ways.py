"""The lists of ARCHITECTURE.md that lead through the code name functions that exist."""

import re
from collections.abc import Iterator

from ..tree import Problem, Tree

PAGE = "ARCHITECTURE.md"
SECTION = "## Three ways through the code"
SOURCE = "crates/"
_QUOTED = re.compile(r"`([^`]+)`")


def ways_name_functions_that_exist(tree: Tree) -> Iterator[Problem]:
    """Find files and functions of the lists that are not, or no longer, in the code."""
    path = ""
    for number, line in _lines(tree):
        for name in _QUOTED.findall(line):
            if name.endswith(".rs"):
                path = f"{SOURCE}{name}"
                if not tree.exists(path):
                    yield Problem(PAGE, number, f"{path} does not exist")
            elif _is_missing(name, path, tree):
                yield Problem(PAGE, number, f"{path} has no function {name}")


def _is_missing(name: str, path: str, tree: Tree) -> bool:
    is_function = re.fullmatch(r"[a-z_]+", name) is not None and tree.exists(path)
    return is_function and not re.search(rf"\bfn {name}\b", tree.text(path))


def _lines(tree: Tree) -> Iterator[tuple[int, str]]:
    inside = False
    for number, line in enumerate(tree.lines(PAGE), 1):
        if line.startswith("## "):
            inside = line == SECTION
        elif inside:
            yield number, line
