"""Markdown that a forge and the site read alike: tables, code, text that is meant as it stands."""

import re
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; cells are Markdown already, but for the bars that would end them."""
    lines = [" | ".join(heads), "|".join("---" for _ in heads)]
    lines += [
        " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) for row in rows
    ]
    lines[0], lines[2:] = f"| {lines[0]} |", [f"| {line} |" for line in lines[2:]]
    lines[1] = f"|{lines[1]}|"
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """Show a text as code; empty if there is none."""
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    """Keep what a person wrote from being read as markup, except code in backticks."""
    pieces = re.split(r"(`[^`]*`)", text)
    pieces[::2] = [re.sub(r"([\\*<\[])", r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


def anchor(title: str) -> str:
    """Return the anchor that a forge gives to a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
