"""Finds phrases that the project's prose avoids: `python -m house.prose`, in `make lint`."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from .tree import Problem, Tree

RULES = Path(__file__).with_name("prose.toml")
# Text that is no prose: fenced blocks, code, placeholders, comments, targets of links.
_NO_PROSE = re.compile(
    r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`|\{[{%#].*?[}%#]\}|<!--.*?-->|\]\([^)]*\)",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"^[ \t]*//.*(?:\n[ \t]*//.*)*", re.MULTILINE)
_MARKER = re.compile(r"^[ \t]*//[/!]? ?", re.MULTILINE)


def prose_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the prose of a page or a source file, each piece with the line that it starts at."""
    if path.endswith(".md"):
        yield 1, _without_code(text)
        return
    if path.endswith(".rs"):
        for match in _COMMENT.finditer(text):
            line = 1 + text.count("\n", 0, match.start())
            yield line, _without_code(_MARKER.sub("", match.group()))
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) or (isinstance(node, ast.keyword) and node.arg == "help"):
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            if isinstance(value, str):
                yield node.value.lineno, _without_code(value)


def problems(tree: Tree, rules: Path = RULES) -> Iterator[Problem]:
    """Yield each phrase of the rules in the Markdown, Python package and Rust crates of a tree."""
    given = tomllib.loads(rules.read_text(encoding="utf-8"))
    globs = ("*.md", "python/reprieve/*.py", "python/reprieve_studies/*.py", *given["rust"])
    files = (path for glob in globs for path in tree.files(glob))
    for path in (path for path in files if not _is_skipped(path, given["skipped"])):
        phrases = given["phrases"] | (given["heads"] if path.endswith((".rs", ".py")) else {})
        for start, text in prose_of(path, tree.text(path)):
            for pattern, instead in phrases.items():
                for match in re.finditer(pattern.replace(" ", r"\s+"), text):
                    line = start + text.count("\n", 0, match.start())
                    yield Problem(path, line, f"{match.group()!r}: write {instead}")


def _without_code(text: str) -> str:
    return _NO_PROSE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def _is_skipped(path: str, patterns: list[str]) -> bool:
    return any(fnmatch(path, pattern) for pattern in patterns)


if __name__ == "__main__":
    found = [*problems(Tree(Path(__file__).resolve().parents[2]))]
    sys.exit("\n".join(map(str, found)) or None)
