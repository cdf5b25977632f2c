"""Values of a TOML file, each read by its type or refused by name."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from reprieve import _native
from reprieve._native import UserError
from reprieve.foreign import JsonValue, read_text


class TomlValue(JsonValue):
    """A value with its place, which every error names."""

    TABLE = "a table"

    def table_of(self, keys: Sequence[str]) -> Self:
        """Return the value, which must be a table of some of these keys."""
        for key, value in self.values():
            if key not in keys:
                what = f"{value.name} is no key here; must be one of {', '.join(keys)}"
                raise UserError(f"{self.where}: {what}")
        return self

    def optional(self) -> Self:
        """Return the value, or an empty table if there is none."""
        return self if self.is_there() else type(self)(self.where, {}, self.name)


def read_toml(path: Path, what: str) -> TomlValue:
    """Read a file of TOML; `what` says what it must be."""
    return TomlValue(str(path), parse_toml(read_text(path, what), str(path)))


def parse_toml(text: str, place: str) -> dict[str, Any]:
    """Parse TOML; UserError with the sentence that a scenario with this mistake gets."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        told = f"{place}: not TOML: {error}"
    try:
        _native.resolve(text, place, [])
    except UserError as error:
        # The simulator's reader knows newer TOML, and then complains of something else.
        told = str(error) if ": not TOML: " in str(error) else told
    raise UserError(told)
