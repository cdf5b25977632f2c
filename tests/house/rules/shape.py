"""The shape of files: their length, width, size and opening, and words they must not have."""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..rust import code_of, functions
from ..tree import Problem, Tree

_TUPLE = re.compile(r"[(,]\s*\((?:[^()]|\([^()]*\))*\)\s*:\s*&?(?:'\w+ )?(?:mut )?\(")
_SENTENCE_END = (".", "?", "!", ":")


def files_are_short(tree: Tree) -> Iterator[Problem]:
    """Find files of Rust and Python beyond the limit of lines."""
    for path in _sources(tree):
        limit = tables.TEST_FILE_LINES if _is_test(path) else tables.FILE_LINES
        if (length := len(tree.lines(path))) > limit:
            yield Problem(path, 0, f"{length} lines; at most {limit}: split it")


def rooms_keep_to_their_budgets(tree: Tree) -> Iterator[Problem]:
    """Find parts of the project that have more lines than their ceiling, tests left out."""
    for name, room in tables.ROOMS.items():
        paths = {path for pattern in room.patterns for path in tree.files(pattern)}
        length = sum(_length(tree, path) for path in paths if not _is_test(path))
        if length > room.ceiling:
            what = f"{length:,} lines; at most {room.ceiling:,}: delete as much as you add"
            yield Problem("tests/house/tables.py", 0, f"room {name} has {what}")


def _length(tree: Tree, path: str) -> int:
    """Count the lines of a file before the tests at its end."""
    return tree.text(path).partition("#[cfg(test)]\nmod")[0].count("\n")


def functions_are_short(tree: Tree) -> Iterator[Problem]:
    """Find functions of Rust and Python beyond the limit of lines."""
    for path in _sources(tree):
        for name, line, length in _functions(tree, path):
            if length > tables.FUNCTION_LINES:
                what = f"function {name} has {length} lines; at most {tables.FUNCTION_LINES}"
                yield Problem(path, line, what)


def functions_take_no_tuple_apart(tree: Tree) -> Iterator[Problem]:
    """Find crates with more parameters `(a, b): (A, B)` than they may have, tests left out."""
    for crate in tree.crates():
        paths = [path for path in tree.files(f"crates/{crate}/src/*.rs") if not _is_test(path)]
        found = [path for path in paths for _ in _TUPLE.finditer(code_of(tree.text(path)))]
        if len(found) > (ceiling := tables.TUPLE_PARAMETERS.get(crate, 0)):
            what = f"{len(found)} parameters are tuples; at most {ceiling}: make it a struct, in "
            yield Problem(f"crates/{crate}", 0, what + " ".join(sorted({*found})))


def lines_are_narrow(tree: Tree) -> Iterator[Problem]:
    """Find lines of Rust and Python wider than a page."""
    for path in _sources(tree):
        for number, line in enumerate(tree.lines(path), 1):
            if len(line) > tables.COLUMNS:
                what = f"{len(line)} columns; at most {tables.COLUMNS}"
                yield Problem(path, number, what)


def examples_in_comments_are_text(tree: Tree) -> Iterator[Problem]:
    """Find examples in comments of Rust, which `make test` does not compile."""
    for path in tree.files():
        inside = False
        for number, line in enumerate(tree.lines(path) if path.endswith(".rs") else (), 1):
            fence = re.match(r"\s*//[/!] ```(\w*)", line)
            if fence and not inside and fence[1] != "text":
                what = "no doc test is run: mark it ```text, or make it a test"
                yield Problem(path, number, what)
            inside ^= fence is not None


def files_say_what_they_are_for(tree: Tree) -> Iterator[Problem]:
    """Find files that do not open with a sentence, pages without a title."""
    for path in tree.text_files():
        name = PurePosixPath(path).name
        if name in tables.NO_HEAD or not _needs_head(path):
            continue
        if path.endswith(".md"):
            if not re.match(r"# \S", tree.text(path)):
                yield Problem(path, 1, "a page opens with its title, `# …`")
        elif not _head(path, tree.text(path)).endswith(_SENTENCE_END):
            yield Problem(path, 1, "open with a sentence that says what the file is for")


def files_are_small(tree: Tree) -> Iterator[Problem]:
    """Find large files that are no traces or figures."""
    for path in tree.files():
        if path.startswith(tables.LARGE_FILES_IN):
            continue
        if (size := tree.size_bytes(path)) > tables.FILE_BYTES:
            yield Problem(path, 0, f"{size} bytes; at most {tables.FILE_BYTES} outside traces/")


def no_forbidden_words(tree: Tree) -> Iterator[Problem]:
    """Find paths of a machine, unfinished work, `unsafe` outside the bindings."""
    for path in tree.text_files():
        yield from _matches(path, tree.text(path), tables.FORBIDDEN)
        if path.endswith((".rs", ".py")) and not _is_test(path):
            yield from _matches(path, tree.text(path), tables.FORBIDDEN_OPENINGS)
        if path.endswith(".rs"):
            code = code_of(tree.text(path))
            yield from _matches(path, code, tables.FORBIDDEN_IN_RUST)
            if not path.startswith(tables.UNSAFE_ONLY_IN):
                where = f"`unsafe` outside {' and '.join(tables.UNSAFE_ONLY_IN)}"
                yield from _matches(path, code, {r"\bunsafe\b": where})


def _sources(tree: Tree) -> Iterator[str]:
    return (path for path in tree.files() if path.endswith((".rs", ".py", ".pyi")))


def _is_test(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return "tests" in parts or parts[-1] in ("tests.rs", "conftest.py")


def _functions(tree: Tree, path: str) -> Iterator[tuple[str, int, int]]:
    if path.endswith(".rs"):
        for function in functions(tree.text(path)):
            yield function.name, function.line, function.lines
        return
    for node in ast.walk(ast.parse(tree.text(path), filename=path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def _needs_head(path: str) -> bool:
    kinds = (".rs", ".py", ".pyi", ".md", ".toml", ".cff", ".yml", ".sh")
    return path.endswith(kinds) or path == "Makefile" or path.startswith(".ci/")


def _head(path: str, text: str) -> str:
    """Return the opening sentence of a file, empty if it has none."""
    if path.endswith(".rs"):
        return _paragraph(text, "//!")
    if path.endswith((".py", ".pyi")):
        return (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]
    return _paragraph(re.sub(r"\A#!.*\n", "", text), "#")


def _paragraph(text: str, marker: str) -> str:
    """Return the first paragraph of the opening comment, without its markers."""
    words: list[str] = []
    for line in text.splitlines():
        content = line.removeprefix(marker).strip()
        if not line.startswith(marker) or not content:
            break
        words.append(content)
    return " ".join(words)


def _matches(path: str, text: str, patterns: dict[str, str]) -> Iterator[Problem]:
    for pattern, what in patterns.items():
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            yield Problem(path, line, f"{match.group()!r}: {what}")
