"""Values of a JSON file that another program wrote, each read by its type or refused by name."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from reprieve import words
from reprieve._native import UserError

_LONG = 60
"""Characters of a value that an error shows."""


_MISSING = object()
"""No value at all, which null is not."""


class _Table(dict[str, Any]):
    """An object of JSON with the names of its duplicate keys."""

    doubled: frozenset[str] = frozenset()


def _table(pairs: list[tuple[str, Any]]) -> _Table:
    found, doubled = _Table(), set()
    for key, value in pairs:
        if key in found:
            # Of options that are given twice the last counts, at its place.
            doubled.add(key)
            del found[key]
        found[key] = value
    found.doubled = frozenset(doubled)
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_table)
"""Reads JSON into tables with the names of their duplicate keys."""


class JsonValue:
    """A value with its place, which every error names."""

    TABLE = "a JSON object"

    def __init__(self, where: str, value: Any, name: str = "", key: str = "") -> None:
        """`where`: file, and the part of it; `name`: keys from there, with dots, `key` the last."""
        self.where = where
        self._key = key
        self.name = name
        self.raw = value

    def fault(self, right: str) -> UserError:
        """Return the error: where it stands, the value, and what would be right."""
        name = f"{self.name} " if self.name else ""
        if self.raw is _MISSING:
            return UserError(f"{self.where}: {name}is missing; must be {right}")
        try:
            shown = json.dumps(self.raw, ensure_ascii=True)
        except ValueError:
            shown = "a number of too many digits"
        except TypeError:
            shown = f"{self.raw}"
        shown = shown if len(shown) <= _LONG else f"{shown[:_LONG]}…"
        equals = f"{name}= " if name else ""
        return UserError(f"{self.where}: {equals}{shown}: must be {right}")

    def at(self, where: str) -> "JsonValue":
        """Return the value with a place of its own: the names of its keys begin anew."""
        return JsonValue(where, self.raw)

    def is_there(self) -> bool:
        """Return whether there is a value; null is one."""
        return self.raw is not _MISSING

    def table(self) -> dict[str, Any]:
        """Return an object of JSON."""
        if not isinstance(self.raw, dict):
            raise self.fault(self.TABLE)
        return self.raw

    def __getitem__(self, key: str) -> Self:
        """Return what an object has under a key, which may be nothing."""
        table = self.table()
        name = f"{self.name}.{key}" if self.name else key
        found = type(self)(self.where, table.get(key, _MISSING), name, key)
        if key in getattr(table, "doubled", ()):
            raise UserError(f"{self.where}: {name} is there twice; must be there once")
        return found

    def values(self) -> Iterator[tuple[str, Self]]:
        """Yield the keys of an object and their values."""
        for key in self.table():
            yield key, self[key]

    def items(self) -> list["JsonValue"]:
        """Return what is in a list."""
        if not isinstance(self.raw, list):
            raise self.fault("a list")
        return [JsonValue(self.where, item, f"{self.name}[{n}]") for n, item in enumerate(self.raw)]

    def items_of(self, count: int) -> list["JsonValue"]:
        """Return the items of a list of `count`."""
        found = self.items()
        if len(found) != count:
            raise self.fault(f"a list of {count}")
        return found

    def key_number(self) -> float:
        """Return the key that the value has in its object, as a finite number."""
        number = words.number(self._key)
        if not math.isfinite(number):
            raise UserError(f"{self.where}: {self.name}: its key must be a number")
        return number

    def number(self, least: float = -math.inf, above: float = -math.inf) -> float:
        """Return a finite number, at least `least` and above `above`."""
        right = "a finite number"
        if above > -math.inf:
            right += f" above {above:g}"
        elif least > -math.inf:
            right += f", at least {least:g}"
        if isinstance(self.raw, bool) or not isinstance(self.raw, int | float):
            raise self.fault(right)
        try:
            number = float(self.raw)
        except OverflowError:
            raise self.fault(right) from None
        if not math.isfinite(number) or number < least or number <= above:
            raise self.fault(right)
        return number

    def whole(self, least: int = 0, most: int = 2**63 - 1) -> int:
        """Return a whole number between two."""
        number = self.raw
        if isinstance(number, float) and number.is_integer() and abs(number) < 2**53:
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise self.fault(f"a whole number, at least {least}")
        return number

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.raw, str):
            raise self.fault("a text")
        return self.raw


def read_text(path: Path, what: str) -> str:
    """Read a file of UTF-8, with or without a byte order mark; `what` says what it must be."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is no text in UTF-8; must be {what}") from None


def decoded(path: Path, text: str, place: int = 0) -> tuple[Any, int]:
    """Decode the JSON that begins at a place; return it and where it ends."""
    try:
        return DECODER.raw_decode(text, place)
    except RecursionError:
        raise UserError(f"{path}: is nested too deeply to be read") from None
    except ValueError as error:
        at = getattr(error, "pos", place)
        line = text.count("\n", 0, at) + 1
        why = getattr(error, "msg", "a number of too many digits")
        is_cut = at >= len(text.rstrip()) or why.startswith("Unterminated")
        cut = "; the file has been cut off" if is_cut else ""
        raise UserError(f"{path}:{line}: is no whole JSON: {why}{cut}") from None


def read_json(path: Path, what: str) -> JsonValue:
    """Read a file of one JSON value."""
    text = read_text(path, what)
    start = len(text) - len(text.lstrip())
    if start == len(text):
        raise UserError(f"{path}: is empty; must be {what}")
    found, end = decoded(path, text, start)
    if text[end:].strip():
        line = text.count("\n", 0, end) + 1
        raise UserError(f"{path}:{line}: has more behind its JSON; must be {what}")
    return JsonValue(str(path), found)
