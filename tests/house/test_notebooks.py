"""Notebooks are kept as they are written: with a title and text, without what runs left."""

import json

import pytest

from .test_docs import PROJECT

NOTEBOOKS = list(PROJECT.files("notebooks/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_notebook_is_as_written(path: str) -> None:
    text = PROJECT.text(path)
    cells = json.loads(text)["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert cells[0]["source"][0].startswith("# ")
    for number, cell in enumerate(cells):
        what = f"{path}: cell {number}"
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], f"{what}: strip its outputs"
            assert cell["execution_count"] is None, f"{what}: strip its count"
        assert cell["metadata"] == {}, f"{what}: strip its metadata"
        for line in cell["source"]:
            assert len(line.rstrip("\n")) <= 110, f"{what}: a line is too long: {line}"
    kinds = [cell["cell_type"] for cell in cells]
    assert kinds.count("markdown") * 2 >= kinds.count("code"), f"{path}: say what is seen"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
