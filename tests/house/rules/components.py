"""Components: a type that does much has few fields and methods, or is split into types that do."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from .. import tables
from ..rust import block, code_of, functions
from ..tree import Problem, Tree

_STRUCT = re.compile(r"^(?:pub(?:\([^)]*\))? )?struct (\w+)[^;{(]*\{", re.MULTILINE)
_IMPL = re.compile(r"^impl(?:<[^{]*?>)? (?!.* for )(\w+)[^{]*\{", re.MULTILINE)
_FIELD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?\w+:", re.MULTILINE)
_TEST_METHOD = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?fn \w+")


@dataclass
class Component:
    """A type of a crate: where it is declared, its fields, and methods in all its files."""

    path: str = ""
    fields: int = 0
    methods: int = 0


def components_are_narrow(tree: Tree) -> Iterator[Problem]:
    """Find types with many methods that have more of them, or fields, than they may."""
    for crate in tree.crates():
        for name, component in sorted(components(tree, crate).items()):
            if not component.path or component.methods < tables.COMPONENT_FROM_METHODS:
                continue
            many_fields = component.fields > tables.COMPONENT_FIELDS
            if many_fields or component.methods > tables.COMPONENT_METHODS:
                what = (
                    f"{name} has {component.fields} fields and {component.methods} methods; at "
                    f"most {tables.COMPONENT_FIELDS} and {tables.COMPONENT_METHODS}: make a "
                    "component of some that belong together"
                )
                yield Problem(component.path, 0, what)


def components(tree: Tree, crate: str) -> dict[str, Component]:
    """Count fields and methods of the types of a crate, those of traits and tests left out."""
    found: dict[str, Component] = defaultdict(Component)
    for path in tree.files(f"crates/{crate}/src/*.rs"):
        if "/tests/" in path or PurePosixPath(path).stem == "tests":
            continue
        code = code_of(tree.text(path))
        for match in _STRUCT.finditer(code):
            component = found[match[1]]
            component.path = path
            component.fields = len(_FIELD.findall(block(code, match.end() - 1)))
        for match in _IMPL.finditer(code):
            if "#[cfg(test)]" not in code[: match.start()].rstrip()[-12:]:
                body = _TEST_METHOD.sub("", block(code, match.end() - 1))
                found[match[1]].methods += sum(1 for _ in functions(body))
    return found
