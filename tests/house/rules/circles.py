"""No circle of files: what a file uses never leads back to it, its own folder's mod.rs aside."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from ..rust import used_paths
from ..tree import Problem, Tree

Graph = dict[str, set[str]]


def files_form_no_circle(tree: Tree) -> Iterator[Problem]:
    """Find files of a crate that use each other, be it by way of others."""
    for crate in tree.crates():
        for circle in circles(uses_of(tree, f"crates/{crate}/src/")):
            yield Problem(circle[0], 0, f"is in a circle of files: {' -> '.join(circle)}")


def uses_of(tree: Tree, source: str) -> Graph:
    """Return which files of a crate use which, tests left out.

    A mod.rs puts the files of its folder together, and these may use what it defines: neither
    counts.
    """
    files = {_module(path, source): path for path in _sources(tree, source)}
    graph: Graph = {path: set() for path in files.values()}
    for module, path in files.items():
        for used in used_paths(tree.text(path), module):
            target = _file_of(used, files)
            if target and target != path and not _is_above(target, path):
                graph[path] |= {target} if not _is_above(path, target) else set()
    return graph


def circles(graph: Graph) -> list[list[str]]:
    """Return groups of nodes of which each leads to all others, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for used in sorted(graph[node]):
            if used not in number:
                visit(used)
                lowest[node] = min(lowest[node], lowest[used])
            elif used in stack:
                lowest[node] = min(lowest[node], number[used])
        if lowest[node] == number[node]:
            place = stack.index(node)
            group = stack[place:]
            del stack[place:]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def _sources(tree: Tree, source: str) -> Iterator[str]:
    for path in tree.files(f"{source}*.rs"):
        if "/tests/" not in path and PurePosixPath(path).stem != "tests":
            yield path


def _module(path: str, source: str) -> tuple[str, ...]:
    parts = PurePosixPath(path.removeprefix(source)).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def _file_of(used: tuple[str, ...], files: dict[tuple[str, ...], str]) -> str | None:
    """Return the file in which a path ends: that of its longest part that is a module."""
    if used[0] != "crate":
        return None
    modules = (used[1:end] for end in range(len(used), 0, -1))
    return next((files[module] for module in modules if module in files), None)


def _is_above(upper: str, lower: str) -> bool:
    """Say whether a file is the root of a folder, or of the crate, in which another one lies."""
    path = PurePosixPath(upper)
    return path.stem in ("mod", "lib", "main") and PurePosixPath(lower).is_relative_to(path.parent)
