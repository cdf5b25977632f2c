"""The stub of the compiled module lists what the module has, with the same parameters."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import reprieve
from reprieve import _native


def stub(name: str = "_native") -> ast.Module:
    return ast.parse(Path(reprieve.__file__).with_name(f"{name}.pyi").read_text())


def tables() -> list[ast.FunctionDef | ast.ClassDef]:
    """Return what the stub has from another one, all of which it names."""
    imports = [
        node
        for node in stub().body
        if isinstance(node, ast.ImportFrom) and node.module == "reprieve._native_tables"
    ]
    taken = {alias.name for node in imports for alias in node.names}
    found = [
        node
        for node in stub("_native_tables").body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert {node.name for node in found} == taken
    return found


def test_names_are_those_of_the_module() -> None:
    named = {
        node.target.id if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        else getattr(node, "name", "")
        for node in stub().body
        if isinstance(node, (ast.AnnAssign, ast.FunctionDef, ast.ClassDef))
    }  # fmt: skip
    named |= {node.name for node in tables()}
    public = {name for name in dir(_native) if not name.startswith("__")}
    assert named == public | {"__version__"}


def test_methods_are_those_of_the_class() -> None:
    simulation = next(
        node for node in stub().body if isinstance(node, ast.ClassDef) and node.name == "Simulation"
    )
    for written in (simulation, *tables()):
        if isinstance(written, ast.ClassDef):
            named = {node.name for node in written.body if isinstance(node, ast.FunctionDef)}
            public = {name for name in vars(getattr(_native, written.name)) if name[:2] != "__"}
            assert {name for name in named if name[:2] != "__"} == public


def test_parameters_are_those_of_the_functions() -> None:
    for node in stub().body:
        if isinstance(node, ast.FunctionDef):
            parameters = inspect.signature(getattr(_native, node.name)).parameters
            assert list(parameters) == [argument.arg for argument in node.args.args]
