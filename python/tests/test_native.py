"""The stub of the compiled module lists what the module has, with the same parameters."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import reprieve
from reprieve import _native


def stub(name: str = "_native") -> ast.Module:
    return ast.parse(Path(reprieve.__file__).with_name(f"{name}.pyi").read_text())


def others() -> list[ast.FunctionDef | ast.ClassDef]:
    """Return what the stub has from others, all of which it names."""
    found = []
    for name in ("_native_policies", "_native_tables"):
        imports = [
            node
            for node in stub().body
            if isinstance(node, ast.ImportFrom) and node.module == f"reprieve.{name}"
        ]
        taken = {alias.name for node in imports for alias in node.names}
        own = [
            node for node in stub(name).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        ]
        assert {node.name for node in own} == taken
        found += own
    return found


def test_names_are_those_of_the_module() -> None:
    named = {
        node.target.id if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        else getattr(node, "name", "")
        for node in stub().body
        if isinstance(node, (ast.AnnAssign, ast.FunctionDef, ast.ClassDef))
    }  # fmt: skip
    named |= {node.name for node in others()}
    public = {name for name in dir(_native) if not name.startswith("__")}
    assert named == public | {"__version__"}


def test_methods_are_those_of_the_class() -> None:
    simulation = next(
        node for node in stub().body if isinstance(node, ast.ClassDef) and node.name == "Simulation"
    )
    for written in (simulation, *others()):
        if isinstance(written, ast.ClassDef):
            named = {node.name for node in written.body if isinstance(node, ast.FunctionDef)}
            named |= {
                node.target.id
                for node in written.body
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            }
            public = {name for name in vars(getattr(_native, written.name)) if name[:2] != "__"}
            assert {name for name in named if name[:2] != "__"} == public


def test_parameters_are_those_of_the_functions() -> None:
    for node in stub().body:
        if isinstance(node, ast.FunctionDef):
            parameters = inspect.signature(getattr(_native, node.name)).parameters
            assert list(parameters) == [argument.arg for argument in node.args.args]
