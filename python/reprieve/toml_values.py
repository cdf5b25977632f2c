"""Values of a TOML file, each read by its type or refused by name."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Self

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
    try:
        return TomlValue(str(path), tomllib.loads(read_text(path, what)))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: is no TOML: {error}") from None
