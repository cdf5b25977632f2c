"""Every notebook runs from beginning to end, and its outputs are those that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted(Path(__file__).resolve().parents[2].glob("notebooks/*.ipynb"))


def test_there_are_two_to_begin_with_and_one_for_each_paper() -> None:
    from reprieve_studies.papers import PAPERS

    # Drives that were measured and experiments of our own have no paper but their pages, and AERO's
    # has its own.
    papers = set(PAPERS) - {"zns-a", "drives", "deadline", "aero", "zones", "arrays", "kv-cache"}
    assert [path.stem for path in NOTEBOOKS] == sorted(["array", *papers, "quick-start"])


def printed(cell: Any) -> str:
    """Return what a cell prints; the simulator repeats it to the letter."""
    texts = [output["text"] for output in cell.outputs if output["output_type"] == "stream"]
    return "".join(texts)


# What the kernel's own libraries warn of is theirs.
@pytest.mark.seconds(4)
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(tmp_path)}}
    kept = [printed(cell) for cell in notebook.cells if cell.cell_type == "code"]
    client = NotebookClient(notebook, kernel_name="python3", timeout=None, resources=resources)
    client.execute()
    run = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [printed(cell) for cell in run] == kept, "run it again and keep what it prints"
    assert [cell.execution_count for cell in run] == list(range(1, len(run) + 1))
