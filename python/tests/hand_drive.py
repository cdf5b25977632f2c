"""Measured drives by hand: the folder of one, on a small device."""

from __future__ import annotations

from pathlib import Path

HEAD = """# A drive by hand.
name = "Hand 1"
device = "fast12-mlc"
capacity_bytes = 1_000_000_000
source = "measured by hand"
licence = "facts"

[scenario.geometry]
blocks_per_plane = 64
pages_per_block = 16

"""
"""Beginning of `drive.toml`, up to its conditions."""


def folder_of(folder: Path, more: str, rows: str, fit: str | None = None) -> Path:
    """Write a drive with more than `HEAD`, rows of figures, and a `fit.toml` if given."""
    folder.mkdir()
    (folder / "drive.toml").write_text(HEAD + more)
    (folder / "figures.csv").write_text("condition,job,op,metric,value\n" + rows)
    if fit is not None:
        (folder / "fit.toml").write_text("# By hand.\n" + fit)
    return folder
