"""Enough of Rust's grammar for the house rules: code without comments, functions, modules, uses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A comment, a raw string, a string, or a character; a lifetime ('a) is none of them.
_NOT_CODE = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | \bb?r(?P<hashes>\#*)".*?"(?P=hashes)
      | b?"(?:\\.|[^"\\])*"
      | b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])'
    """,
    re.VERBOSE | re.DOTALL,
)
_FUNCTION = re.compile(r"\bfn\s+(\w+)")
_MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", re.MULTILINE)
_PLACED_MODULE = re.compile(r'#\[path\s*=\s*"([^"]+)"\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;')
_USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
_INLINE_PATH = re.compile(r"\b((?:crate|super|self|reprieve_\w+)(?:::\w+)+)")


@dataclass(frozen=True)
class Function:
    """A function with a body; `lines` counts from the line of `fn` to the closing brace."""

    name: str
    line: int
    lines: int


def code_of(text: str) -> str:
    """Blank out comments and literals; every line keeps its number."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def functions(text: str) -> Iterator[Function]:
    """Yield every function that has a body."""
    code = code_of(text)
    for match in _FUNCTION.finditer(code):
        opening = _body_start(code, match.end())
        if opening is None:
            continue
        start = code.count("\n", 0, match.start())
        end = code.count("\n", 0, _closing(code, opening))
        yield Function(match.group(1), start + 1, end - start + 1)


def block(code: str, opening: int) -> str:
    """Return what the brace at `opening` encloses, of code without comments and literals."""
    return code[opening + 1 : _closing(code, opening)]


def declared_modules(text: str) -> list[tuple[str, str | None]]:
    """List `mod name;` in order, with the file that a `#[path]` gives it."""
    placed = {name: path for path, name in _PLACED_MODULE.findall(text)}
    return [(name, placed.get(name)) for name in _MODULE.findall(code_of(text))]


def used_paths(text: str, module: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Collect what the code of `module` names, as paths from `crate` or a crate of ours."""
    code = code_of(text)
    written: set[tuple[str, ...]] = set()
    for tree in _USE.findall(code):
        written.update(_leaves(tree))
    written.update(tuple(path.split("::")) for path in _INLINE_PATH.findall(code))
    return {absolute for path in written if (absolute := _absolute(path, module))}


def _body_start(code: str, start: int) -> int | None:
    """Find the brace that opens a function's body; `None` for a signature without one."""
    depth = 0
    for index in range(start, len(code)):
        character = code[index]
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth == 0 and character == ";":
            return None
        elif depth == 0 and character == "{":
            return index
    return None


def _closing(code: str, opening: int) -> int:
    depth = 0
    for index in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return len(code)


def _leaves(tree: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a `use` tree: `a::{b, c::d}` gives `a::b` and `a::c::d`."""
    tree = re.sub(r"\s+as\s+\w+", "", tree).strip()
    opening = tree.find("{")
    if opening < 0:
        path = tuple(part.strip() for part in tree.split("::") if part.strip() not in ("", "*"))
        yield path[:-1] if path[-1:] == ("self",) and len(path) > 1 else path
        return
    prefix = tree[:opening]
    for branch in _split(tree[opening + 1 : tree.rindex("}")]):
        yield from _leaves(prefix + branch)


def _split(branches: str) -> Iterator[str]:
    """Split at the commas that no brace encloses."""
    depth, start = 0, 0
    for index, character in enumerate(branches + ","):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if branches[start:index].strip():
                yield branches[start:index].strip()
            start = index + 1


def _absolute(path: tuple[str, ...], module: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return `path` from the crate's root; `None` when it leads out of our code."""
    if path[0] == "crate" or path[0].startswith("reprieve_"):
        return path
    if path[0] == "self":
        return ("crate", *module, *path[1:])
    if path[0] == "super":
        up = 0
        while up < len(path) and path[up] == "super":
            up += 1
        return ("crate", *module[: max(len(module) - up, 0)], *path[up:])
    return None
