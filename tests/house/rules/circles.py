"""No circle of files: what a file uses or calls never leads back to it, its parent aside."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..rust import code_of, used_paths
from ..tree import Problem, Tree

Graph = dict[str, set[str]]

_METHOD = re.compile(r"\bfn (\w+)(?:<[^(]*>)?\(\s*(?:&(?:'\w+ )?)?(?:mut )?self\b")
_CALL = re.compile(r"(?<!\.)\.(\w+)(?:::<[^<>]*>)?\(")


def files_form_no_circle(tree: Tree) -> Iterator[Problem]:
    """Find files of a crate that use each other, be it by way of others."""
    for crate in tree.crates():
        for circle in circles(uses_of(tree, f"crates/{crate}/src/")):
            yield Problem(circle[0], 0, f"is in a circle of files: {' -> '.join(circle)}")


def files_call_in_no_circle(tree: Tree) -> Iterator[Problem]:
    """Find crates with more files than they may have that use or call each other in circles."""
    owners = _owners(tree)
    for crate in tree.crates():
        graph = uses_of(tree, f"crates/{crate}/src/")
        for path in graph:
            called = {owners.get(name, path) for name in _CALL.findall(code_of(tree.text(path)))}
            graph[path] |= {each for each in called & {*graph} if not _are_kin(each, path)}
        found = [path for circle in circles(graph) for path in circle]
        if len(found) > (ceiling := tables.FILES_IN_CIRCLES.get(crate, 0)):
            what = f"{len(found)} files call each other in circles; at most {ceiling}: "
            yield Problem(f"crates/{crate}", 0, what + " ".join(found))


def _owners(tree: Tree) -> dict[str, str]:
    """Return the file of each method that only one of all our files defines.

    A call says no type, so that one of a name with several definitions leads nowhere, nor does one
    of a name that the standard library has.
    """
    files = defaultdict(set)
    for path in _sources(tree, "crates/*/src/"):
        for name in _METHOD.findall(code_of(tree.text(path))):
            files[name].add(path)
    own = files.keys() - tables.METHODS_OF_STD.split()
    return {name: min(files[name]) for name in own if len(files[name]) == 1}


def uses_of(tree: Tree, source: str) -> Graph:
    """Return which files of a crate use which, tests left out.

    A parent puts the files of its folder together, and these may use what it defines: neither
    counts.
    """
    files = {_module(path, source): path for path in _sources(tree, source)}
    graph: Graph = {path: set() for path in files.values()}
    for module, path in files.items():
        for used in used_paths(tree.text(path), module):
            target = _file_of(used, files)
            if target and not _are_kin(target, path):
                graph[path].add(target)
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


def _are_kin(one: str, other: str) -> bool:
    """Say whether a file is another, or the root of the folder, or crate, in which that lies."""
    return _is_above(one, other) or _is_above(other, one)


def _is_above(upper: str, lower: str) -> bool:
    path = PurePosixPath(upper)
    folder = path.parent if path.stem in ("mod", "lib", "main") else path.with_suffix("")
    return upper == lower or PurePosixPath(lower).is_relative_to(folder)
