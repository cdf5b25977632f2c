"""The stub of the compiled module lists what the module has, with the same parameters."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import reprieve
from reprieve import _native


def stub() -> ast.Module:
    return ast.parse(Path(reprieve.__file__).with_name("_native.pyi").read_text())


def test_names_are_those_of_the_module() -> None:
    named = {
        node.target.id if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        else getattr(node, "name", "")
        for node in stub().body
        if isinstance(node, (ast.AnnAssign, ast.FunctionDef, ast.ClassDef))
    }  # fmt: skip
    public = {name for name in dir(_native) if not name.startswith("__")}
    assert named == public | {"__version__"}


def test_methods_are_those_of_the_class() -> None:
    written = next(
        node for node in stub().body if isinstance(node, ast.ClassDef) and node.name == "Simulation"
    )
    named = {node.name for node in written.body if isinstance(node, ast.FunctionDef)}
    public = {name for name in dir(_native.Simulation) if not name.startswith("__")}
    assert named == public | {"__init__"}


def test_parameters_are_those_of_the_functions() -> None:
    for node in stub().body:
        if isinstance(node, ast.FunctionDef):
            parameters = inspect.signature(getattr(_native, node.name)).parameters
            assert list(parameters) == [argument.arg for argument in node.args.args]
