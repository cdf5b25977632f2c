"""Text from elsewhere, as it may stand in a sentence on a terminal."""

import math
import operator
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from reprieve._native import UserError

P = ParamSpec("P")
R = TypeVar("R")

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]+)")
_ARGUMENTS = {"axis": "axes", "set": "overrides", "fault": "faults"}
"""Arguments that have other names than the options."""


def printable(text: str) -> str:
    """Return one line of text; what could steer a terminal, such as an escape, is written out."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in " ".join(text.split())
    )


def toml_or_word(text: str) -> Any:
    """Return the value that a text is in TOML, or else the text: a bare word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def value(text: str | float) -> int | float | str:
    """Return the number that a text is, or else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def number(text: str) -> float:
    """Return the number that a text is; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def whole(name: str, given: Any, least: int = 0, most: int = (1 << 62) - 1) -> int:
    """Return an argument, a whole number of any type between two; UserError names it if not."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise UserError(f"{name} = {given!r}: must be a whole number")
    if not least <= (found := operator.index(given)) <= most:
        raise UserError(f"{name} = {found}: must be from {least} to {most}")
    return found


def real(name: str, given: Any) -> float:
    """Return an argument, a number of any type; UserError names it if not."""
    if isinstance(given, bool) or not isinstance(given, Real):
        raise UserError(f"{name} = {given!r}: must be a number")
    return float(given)


def hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """Say which of the known names may have been meant, or something else if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, [*known], 1)
    return f"did you mean {near[0]}?" if near else otherwise


def in_python(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function's mistakes name its arguments in place of the command's options."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except UserError as error:
            if (text := of_arguments(str(error))) == str(error):
                raise
            raise UserError(text) from None

    return called


def of_arguments(mistake: str) -> str:
    """Return the text of a mistake, with arguments in place of the command's options."""
    return _OPTION.sub(_argument, mistake.removeprefix("--set: "))


def _argument(option: re.Match[str]) -> str:
    return _ARGUMENTS.get(option[1], option[1].replace("-", "_"))


def said(error: BaseException) -> str:
    """Return the text of an exception, whose `__str__` is foreign code and may fail."""
    try:
        return printable(str(error))
    except Exception as failure:
        return f"(its text cannot be made: {type(failure).__name__})"
