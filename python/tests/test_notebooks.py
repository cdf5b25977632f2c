"""Every notebook runs from beginning to end, where there is nothing but the package."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted(Path(__file__).resolve().parents[2].glob("notebooks/*.ipynb"))


def test_there_are_two_to_begin_with_and_one_for_each_paper() -> None:
    from reprieve_studies.papers import PAPERS

    # Drives that were measured, and an experiment of our own, have no paper but their pages.
    papers = set(PAPERS) - {"zns-a", "drives", "deadline"}
    assert [path.stem for path in NOTEBOOKS] == sorted(["array", *papers, "quick-start"])


# What the kernel's own libraries warn of is theirs.
@pytest.mark.seconds(4)
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(notebook, kernel_name="python3", timeout=None, resources=resources)
    client.execute()
    run = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in run] == list(range(1, len(run) + 1))
