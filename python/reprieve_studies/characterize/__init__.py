"""A part on the bench: programs suspended again and again, as Zambelli et al. (2021) did it."""

import os
from pathlib import Path
from typing import Any

from reprieve.characterize import ALIKE, VARIETY, Measured, measure
from reprieve.outputs import ResultDirectory
from reprieve.tables import Table, write
from reprieve_studies.article import Article, write_article
from reprieve_studies.characterize import page

__all__ = ["Measured", "characterize", "characterize_into"]


def characterize(
    part: str,
    *,
    wordlines: int = 50,
    seed: int = 1,
    alike: bool = False,
    out: str | os.PathLike[str] | None = None,
    **overrides: Any,
) -> Table:
    """Suspend programs of a part with every pair of delays; return one row a program.

    The table is one that pyarrow, pandas and polars take as it is: `pyarrow.table(found)`.

    `part`: name of a built-in part, or path of a part's file.
    `wordlines`: how many, drawn at random from a block.
    `alike`: wordlines differ in their numbers of iterations alone.
    `out`: a directory for `runs.parquet`, `report.html`, `verdicts.json` and `figures/`.
    `overrides`: keys of the scenario's timing and suspension sections, as for `run`.

    Raises UserError if the part cannot suspend programs or a setting is wrong.
    """
    measured = measure(part, overrides, wordlines, seed, ALIKE if alike else VARIETY)
    if out is not None:
        characterize_into(measured, Path(out), "reprieve characterize")
    return measured.runs


def characterize_into(measured: Measured, directory: Path, command: str) -> Article:
    """Write `runs.parquet`, `report.html`, `verdicts.json` and `figures/`, all at the end."""
    article = page.article(measured, command)
    with ResultDirectory(directory) as out:
        write(measured.runs, out.open("runs.parquet"))
        write_article(out, article)
        out.commit()
    return article
