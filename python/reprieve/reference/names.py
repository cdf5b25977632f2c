"""The page of the Python names: signatures and docstrings of all that `reprieve` exports."""

from __future__ import annotations

import ast
import inspect
import json
import re
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

_WIDTH = 88
_FENCES = re.MULTILINE | re.DOTALL


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
        parts += [f"### `{name}`\n", _fence(name, function), _prose(function.__doc__)]
    parts.append("## Classes\n")
    for name, kind in sorted(classes.items()):
        # A compiled class says of itself in one sentence what its stub says in full.
        doc = ast.get_docstring(class_tree(kind)) if _is_compiled(kind) else kind.__doc__
        parts += [f"### `{name}`\n", _prose(doc), *_members(kind)]
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
    if _is_compiled(kind):
        yield from _compiled(kind.__name__, tree)
        return
    for name, value in vars(kind).items():
        if name.startswith("_") or name in attributes:
            continue
        getter = getattr(value, "fget", None) or getattr(value, "func", None)  # cached or not
        method = getattr(value, "__func__", value)  # of a class, or of an object
        if inspect.isfunction(getter):
            typed = _annotation(inspect.signature(getter).return_annotation)
            yield f"#### `{kind.__name__}.{name}`: `{typed}`\n"
            yield _prose(getter.__doc__)
        elif inspect.isfunction(method):
            yield f"#### `{kind.__name__}.{name}()`\n"
            yield _fence(name, method)
            yield _prose(method.__doc__)


def _compiled(kind: str, tree: ast.ClassDef) -> Iterator[str]:
    """Tell the properties and methods of a class that has a stub in place of a source."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        doc = ast.get_docstring(node)
        if any(
            isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list
        ):
            assert node.returns is not None
            yield f"#### `{kind}.{node.name}`: `{ast.unparse(node.returns)}`\n"
        else:
            yield f"#### `{kind}.{node.name}()`\n"
            arguments, returned = ast.unparse(node.args), ast.unparse(node.returns or node.args)
            yield f"```python\ndef {node.name}({arguments}) -> {returned}: ...\n```\n"
        yield _prose(doc)


def _is_compiled(kind: type) -> bool:
    return getattr(_native, kind.__name__, None) is kind


def class_tree(kind: type) -> ast.ClassDef:
    """Parse a class: from its source, or from the stub if it is compiled."""
    if _is_compiled(kind):
        stubs = Path(reprieve.__file__).parent.glob("_native*.pyi")
        nodes = [node for stub in stubs for node in ast.parse(stub.read_text("utf-8")).body]
        found = [node for node in nodes if getattr(node, "name", "") == kind.__name__]
    else:
        found = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    (tree,) = found
    assert isinstance(tree, ast.ClassDef)
    return tree


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


def _fence(name: str, function: Any) -> str:
    """Show a signature as code, a parameter a line where it is long."""
    signature = inspect.signature(function)
    parameters = list(_written(signature))
    arrow = f" -> {_annotation(signature.return_annotation)}: ..."
    line = f"def {name}({', '.join(parameters)}){arrow}"
    if len(line) > _WIDTH:
        line = "\n    ".join([f"def {name}(", *(f"{one}," for one in parameters)]) + f"\n){arrow}"
    return f"```python\n{line}\n```\n"


def _written(signature: inspect.Signature) -> Iterator[str]:
    """Write the parameters as Python does; a function that is a default is left to the words."""
    by_name = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not by_name:
            yield "*"
            by_name = True
        text = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
        typed = parameter.annotation is not parameter.empty
        text += f": {_annotation(parameter.annotation)}" if typed else ""
        if parameter.default is not parameter.empty:
            value = parameter.default
            shown = (
                "..." if callable(value) else json.dumps(value) if isinstance(value, str) else value
            )
            text += f" = {shown}" if typed else f"={shown}"
        yield text


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


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
