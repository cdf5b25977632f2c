"""Gaps in the docstrings of public Python names: meanings, units, shapes, errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER = re.compile(r"\b(?:int|float|NDArray)\b")
_UNIT_IN_NAME = re.compile(r"(?:^|_)(?:ns|us|ms|s|bytes|mw|uw)$")
_QUANTITY = re.compile(
    r"\b(?:ns|µs|mW|µW|bytes|sectors?|numbers?|shares?|seed|factor|cycles|multiples|percent|unit)\b"
)

# Calls that fail only if the program is at fault, by class or as functions.
CANNOT_FAIL = {
    "": {"devices", "loads", "parts", "policies"},
    "Comparison": {"normalised", "to_json"},
    "Drive": {"next", "poll", "summary"},
    "Latency": {"cdf"},
    "Plots": {"bars", "busy", "qos", "suspended"},
    "PowerLoss": {"csv", "summary"},
    "Prompts": {"load_ns"},
    "Scenario": {"copy", "to_dict", "to_toml"},
    "SimpyDrive": {"__init__"},
}


@dataclass(frozen=True)
class Name:
    """A public field, property, method or function, as its source or its stub has it."""

    kind: str
    name: str
    typed: str
    doc: str
    parameters: tuple[tuple[str, str], ...] = ()
    is_call: bool = False

    def __str__(self) -> str:
        return f"{self.kind}.{self.name}" if self.kind else self.name


def of_class(tree: ast.ClassDef) -> Iterator[Name]:
    """Yield what a class has in public: fields with what stands below them, properties, methods."""
    for field, below in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and not ast.unparse(field.target).startswith("_"):
            typed = ast.unparse(field.annotation)
            if not typed.startswith("ClassVar"):
                yield Name(tree.name, ast.unparse(field.target), typed, _string(below))
        elif isinstance(field, ast.FunctionDef) and not field.name.startswith("_"):
            yield of_function(field, tree.name)


def of_function(tree: ast.FunctionDef, kind: str = "") -> Name:
    """Return a function, method or property."""
    marks = {ast.unparse(mark) for mark in tree.decorator_list}
    is_call = not marks & {"property", "cached_property"}
    arguments = [*tree.args.args, *tree.args.kwonlyargs]
    parameters = tuple(
        (one.arg, ast.unparse(one.annotation)) for one in arguments if one.annotation is not None
    )
    typed = ast.unparse(tree.returns) if tree.returns else ""
    doc = ast.get_docstring(tree) or ""
    return Name(kind, tree.name, typed, doc, parameters, is_call)


def gaps(name: Name, doc_of_class: str = "") -> Iterator[str]:
    """Say what a docstring leaves out; that of a class may speak for all its methods."""
    if not name.doc:
        yield f"{name}: says nothing"
        return
    if "NDArray" in name.typed and "shape" not in name.doc:
        yield f"{name}: an array without its shape"
    if _NUMBER.search(name.typed) and not _has_unit(name.name, name.doc):
        yield f"{name}: a number without a unit"
    for parameter, typed in name.parameters:
        said = f"`{parameter}`" in name.doc
        if _NUMBER.search(typed) and not said and not _UNIT_IN_NAME.search(parameter):
            yield f"{name}: says nothing of {parameter}, a number"
    may_fail = name.is_call and name.name not in CANNOT_FAIL.get(name.kind, ())
    by_class = re.search(r"each method|An exception in a method", doc_of_class)
    if may_fail and "UserError" not in name.doc and not by_class:
        yield f"{name}: does not say when it raises UserError"


def _has_unit(name: str, doc: str) -> bool:
    return bool(_UNIT_IN_NAME.search(name) or _QUANTITY.search(doc))


def _string(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return str(statement.value.value)
    return ""
