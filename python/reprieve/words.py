"""Text from elsewhere, as it may stand in a sentence on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return one line of text; what could steer a terminal, such as an escape, is written out."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in " ".join(text.split())
    )


def said(error: BaseException) -> str:
    """Return the text of an exception, whose `__str__` is foreign code and may fail."""
    try:
        return printable(str(error))
    except Exception as failure:
        return f"(its text cannot be made: {type(failure).__name__})"
