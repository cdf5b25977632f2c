"""Notebooks are kept with their outputs, which need no network, and name what they need."""

import ast
import json
import re
import tomllib

import pytest

from .test_docs import PROJECT

NOTEBOOKS = list(PROJECT.files("notebooks/*.ipynb"))
SHOWN = {"text/plain", "text/html", "image/svg+xml", "image/png"}
EXTRAS = tomllib.loads(PROJECT.text("pyproject.toml"))["project"]["optional-dependencies"]
OF_EXTRA = {"altair": "altair", "pyarrow": "pyarrow", "reprieve_studies": "scipy"}
"""Modules that are no part of the base, and the requirement by which an extra brings them."""


def brought(extra: str) -> set[str]:
    """Return the packages of an extra, those of the extras that it takes in among them."""
    found = set[str]()
    for requirement in EXTRAS[extra]:
        inside = re.match(r"reprieve\[([\w,]+)\]", requirement)
        if inside:
            for other in inside[1].split(","):
                found |= brought(other)
        else:
            found.add(re.split(r"[<>=!;\[ ]", requirement)[0])
    return found


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_notebook_is_kept_with_its_outputs(path: str) -> None:
    cells = json.loads(PROJECT.text(path))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert cells[0]["source"][0].startswith("# ")
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in codes] == list(range(1, len(codes) + 1))
    for number, cell in enumerate(cells):
        what = f"{path}: cell {number}"
        assert cell["metadata"] == {}, f"{what}: strip its metadata"
        for output in cell.get("outputs", []):
            assert output["output_type"] in {"stream", "execute_result"}, what
            assert {*output.get("data", {})} <= SHOWN, f"{what}: it loads a library"
            shown = json.dumps(output)
            assert "<script" not in shown and "cdn." not in shown, f"{what}: it needs a network"
        for line in cell["source"]:
            assert len(line.rstrip("\n")) <= 110, f"{what}: a line is too long: {line}"
    kinds = [cell["cell_type"] for cell in cells]
    assert kinds.count("markdown") * 2 >= kinds.count("code"), f"{path}: say what is seen"


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_notebook_names_the_extras_of_what_it_imports(path: str) -> None:
    cells = json.loads(PROJECT.text(path))["cells"]
    named = re.search(r"`pip install 'reprieve\[([\w,]+)\]'([\w ]*)`", "".join(cells[0]["source"]))
    assert named, f"{path}: its first cell says what it needs: pip install 'reprieve[…]'"
    has = {*named[2].split()}.union(*(brought(extra) for extra in named[1].split(",")))
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    modules = {
        (node.module or "").split(".")[0] if isinstance(node, ast.ImportFrom) else name.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    # A column of requests as a table is one of pyarrow.
    modules |= {"pyarrow"} if ".requests." in code or ".to_arrow(" in code else set()
    wanted = {OF_EXTRA.get(name, name) for name in modules} - {"numpy", "random", "reprieve"}
    assert wanted <= has, f"{path}: {wanted - has} is in no extra that it names"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
