"""What to simulate: a scenario from a file or a dictionary, with overrides, as TOML text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprieve import _native
from reprieve._native import UserError

Scenario = str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """A scenario before it is resolved."""

    text: str
    """TOML."""
    path: str
    """Shown in errors; paths inside the scenario are relative to its directory."""
    sets: tuple[str, ...] = ()
    """Overrides in order, each `KEY=VALUE` with the value in TOML."""

    @classmethod
    def read(cls, path: Path, sets: Sequence[str] = ()) -> Source:
        """Read a scenario file; UserError if it cannot be read."""
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path}: byte {error.start} is not UTF-8; a scenario is TOML in UTF-8"
            ) from None
        except OSError as error:
            raise UserError(
                f"{path}: cannot read the scenario: {error.strerror}; name a TOML file"
            ) from None
        return cls(text, str(path), tuple(sets))

    @classmethod
    def of(cls, scenario: Scenario, overrides: Mapping[str, Any]) -> Source:
        """Take a scenario as Python has it: a path, or a dictionary of the file's form.

        In an override's name two underscores stand for the dot: `timing__t_read_us=50`.
        """
        sets = [f"{key.replace('__', '.')}={toml_value(value)}" for key, value in overrides.items()]
        if isinstance(scenario, Mapping):
            return cls(toml_text(scenario), "<dict>", tuple(sets))
        return cls.read(Path(scenario), sets)

    def with_sets(self, sets: Sequence[str]) -> Source:
        """Return the same scenario with further overrides, which win."""
        return Source(self.text, self.path, (*self.sets, *sets))

    def resolve(self) -> str:
        """Every key with its value, as TOML that gives identical results; UserError if wrong."""
        return _native.resolve(self.text, self.path, list(self.sets))


def toml_value(value: object) -> str:
    """Write one value in TOML; UserError if TOML has no such value."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()  # a numpy scalar
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    raise UserError(
        f"a scenario value is {value!r} of type {type(value).__name__}; "
        "use a bool, int, float, str, path or list, and leave a key out to not set it"
    )


def toml_text(scenario: Mapping[str, Any]) -> str:
    """Write a scenario's dictionary as TOML: keys of the top, then one table a section."""
    lines = [
        f"{_key(key)} = {toml_value(value)}"
        for key, value in scenario.items()
        if not isinstance(value, Mapping)
    ]
    for section, keys in scenario.items():
        if isinstance(keys, Mapping):
            lines.append(f"[{_key(section)}]")
            lines.extend(f"{_key(key)} = {toml_value(value)}" for key, value in keys.items())
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name)
