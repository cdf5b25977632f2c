"""The page of the Python names: signatures and docstrings of all that `reprieve` exports."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reprieve
from reprieve import _native
from reprieve.plot import Plots
from reprieve.reference.markdown import plain

_HEAD = """# Python names

Every public name of `import reprieve as rp`, with its signature and an example that runs as it
stands. The [guide](../guide/python.md) shows them at work.
"""

_FENCES = re.MULTILINE | re.DOTALL
_NAMED = r"= (?!None|True|False)(?P<name>[^\W\d]\w*)(?=[,)])"
"""The default of a parameter that is a name: of a function, or of a number."""


def page() -> str:
    """Return the page."""
    exported = [name for name in reprieve.__all__ if not name.startswith("_")]
    found = {name: getattr(reprieve, name) for name in exported}
    functions = {name: value for name, value in found.items() if not inspect.isclass(value)}
    # Charts come out of `plot` of a result or a comparison, and nobody makes them by hand.
    classes = {name: value for name, value in found.items() if name not in functions}
    classes["Plots"] = Plots
    parts = [_HEAD, "## Functions\n"]
    for name, function in functions.items():
        (tree,) = ast.parse(_source(function)).body
        assert isinstance(tree, ast.FunctionDef)
        parts += [f"### `{name}`\n", _fence(function, tree), _prose(ast.get_docstring(tree))]
    parts.append("## Classes\n")
    for name, kind in sorted(classes.items()):
        parts += [f"### `{name}`\n", _prose(ast.get_docstring(class_tree(kind))), *_members(kind)]
    return "\n".join(parts)


def _members(kind: type) -> Iterator[str]:
    """Tell the fields, properties and methods of a class that are its own and public."""
    tree = class_tree(kind)
    attributes = dict(_attributes(tree))
    if attributes:
        lines = [
            f"- `{name}`" + (f": `{typed}`" if typed else "") + (f". {plain(doc)}" if doc else "")
            for name, (typed, doc) in attributes.items()
        ]
        yield "\n".join(lines) + "\n"
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if {ast.unparse(mark) for mark in node.decorator_list} & {"property", "cached_property"}:
            assert node.returns is not None
            yield f"#### `{kind.__name__}.{node.name}`: `{ast.unparse(node.returns)}`\n"
        else:
            yield f"#### `{kind.__name__}.{node.name}()`\n"
            yield _fence(kind, node)
        yield _prose(ast.get_docstring(node))


def class_tree(kind: type) -> ast.ClassDef:
    """Parse a class: from its source, or from the stub if it is compiled."""
    nodes = ast.parse(_source(kind)).body
    (tree,) = (node for node in nodes if getattr(node, "name", "") == kind.__name__)
    assert isinstance(tree, ast.ClassDef)
    return tree


def _source(value: Any) -> str:
    """Return the source of a function or class, of a compiled one the stub that has it."""
    name = value.__name__
    if getattr(_native, name, None) is not value:
        return textwrap.dedent(inspect.getsource(value))
    stubs = (
        stub.read_text("utf-8") for stub in Path(reprieve.__file__).parent.glob("_native*.pyi")
    )
    return next(text for text in stubs if re.search(rf"^class {name}\b", text, re.MULTILINE))


def _attributes(tree: ast.ClassDef) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the documented or annotated attributes of a class: name, type and docstring.

    A string that stands under an attribute is its docstring, in the class as in its constructor.
    """
    constructors = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    for statements in [tree.body, *(node.body for node in constructors)]:
        for statement, after in zip(statements, [*statements[1:], None], strict=True):
            name, typed = _assigned(statement)
            doc = _string(after)
            in_class = statements is tree.body and isinstance(statement, ast.AnnAssign)
            if name and not name.startswith("_") and (doc or in_class):
                yield name, (typed, doc)


def _string(statement: ast.stmt | None) -> str:
    """Return the text of a statement that is a string and nothing else; else nothing."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""


def _assigned(statement: ast.stmt) -> tuple[str, str]:
    """Return the name and the type that a statement gives a value to; empty if it does not."""
    if isinstance(statement, ast.AnnAssign):
        name = ast.unparse(statement.target).removeprefix("self.")
        return name, ast.unparse(statement.annotation)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return ast.unparse(statement.targets[0]).removeprefix("self."), ""
    return "", ""


def _fence(owner: Any, function: ast.FunctionDef) -> str:
    """Show a signature as code; a function that is a default is left to the words."""
    known = vars(sys.modules[owner.__module__])

    def default(named: re.Match[str]) -> str:
        value = known.get(named["name"])
        return f"= {value}" if isinstance(value, int | float) else "= ..."

    first = function.body[0].lineno - 1
    lines = _source(owner).splitlines()[function.lineno - 1 : max(first, function.lineno)]
    written = re.sub(_NAMED, default, textwrap.dedent("\n".join(lines)).removesuffix(" ..."))
    return f"```python\n{written} ...\n```\n"


def _prose(docstring: str | None) -> str:
    """Return a docstring as Markdown; the lines that name a parameter become a list."""
    pieces = re.split(r"(^```.*?^```$)", inspect.cleandoc(docstring or ""), flags=_FENCES)
    found = [
        piece
        if piece.startswith("```")
        else "\n".join(map(_paragraph, piece.strip().split("\n\n")))
        for piece in pieces
        if piece.strip()
    ]
    return "\n".join(piece.rstrip("\n") + "\n" for piece in found)


def _paragraph(text: str) -> str:
    if text.startswith(">>>"):
        return f"```pycon\n{text}\n```\n"
    if re.match(r"`\w+`(?:, `\w+`)*: ", text):
        items = re.split(r"\n(?=`\w+`(?:, `\w+`)*(?:: | and `))", text)
        return "\n".join(f"- {plain(' '.join(item.split()))}" for item in items) + "\n"
    return plain(" ".join(text.split())) + "\n"
