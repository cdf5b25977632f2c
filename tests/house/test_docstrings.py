"""Docstrings of the public Python names say meaning, units, shapes and errors, in `help()` too."""

import ast
import inspect

import pytest

import reprieve as rp
from reprieve import _native
from reprieve.plot import Plots
from reprieve.reference.names import class_tree

from . import docstrings

PUBLIC = {name: getattr(rp, name) for name in rp.__all__ if not name.startswith("_")}
CLASSES = {name: it for name, it in PUBLIC.items() if inspect.isclass(it)} | {"Plots": Plots}
FUNCTIONS = {name: it for name, it in PUBLIC.items() if not inspect.isclass(it)}
# What a policy is shown has these as fields.
COMPILED = ["Operation", "Waiter", *(name for name in CLASSES if hasattr(_native, name))]


@pytest.mark.parametrize("name", CLASSES)
def test_class_says_all(name: str) -> None:
    tree = class_tree(CLASSES[name])
    doc = ast.get_docstring(tree) or ""
    names = list(docstrings.of_class(tree))
    assert doc
    assert [gap for one in names for gap in docstrings.gaps(one, doc)] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_says_all(name: str) -> None:
    (tree,) = ast.parse(inspect.getsource(FUNCTIONS[name])).body
    assert isinstance(tree, ast.FunctionDef)
    assert list(docstrings.gaps(docstrings.of_function(tree))) == []


@pytest.mark.parametrize("name", COMPILED)
def test_help_of_compiled_class_is_that_of_its_stub(name: str) -> None:
    kind = getattr(_native, name)
    tree = class_tree(kind)
    assert inspect.getdoc(kind) == ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            assert inspect.getdoc(getattr(kind, node.name)) == ast.get_docstring(node), node.name


def test_what_is_listed_as_unable_to_fail_exists() -> None:
    for kind, names in docstrings.CANNOT_FAIL.items():
        for name in names:
            assert hasattr(CLASSES[kind] if kind else rp, name), name


WRONG = {
    "def f() -> str: ...": "f: says nothing",
    'def f(rate: float) -> None:\n    """Set. Raises UserError if wrong."""': (
        "f: says nothing of rate, a number"
    ),
    'def f() -> int:\n    """Return it. Raises UserError if not."""': "f: a number without a unit",
    'def f() -> NDArray[Any]:\n    """Return times in ns, or UserError."""': (
        "f: an array without its shape"
    ),
    'def f(path: str) -> None:\n    """Write a file."""': (
        "f: does not say when it raises UserError"
    ),
}


@pytest.mark.parametrize("source", WRONG)
def test_gap_is_found(source: str) -> None:
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.FunctionDef)
    assert list(docstrings.gaps(docstrings.of_function(tree))) == [WRONG[source]]


def test_field_without_a_unit_is_found() -> None:
    (tree,) = ast.parse('class A:\n    size: int\n    """Its size."""\n    left_ns: int\n').body
    assert isinstance(tree, ast.ClassDef)
    found = [gap for one in docstrings.of_class(tree) for gap in docstrings.gaps(one)]
    assert found == ["A.size: a number without a unit", "A.left_ns: says nothing"]
