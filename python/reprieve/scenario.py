"""Scenarios as object, file or dictionary, with overrides, as TOML text."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve import _native
from reprieve._native import UserError
from reprieve.keys import SECTIONS, Top, Workload
from reprieve.named_policies import Split, reference, split
from reprieve.sections import DEPTH_MAX, Flows, bare, known, only_while, plain, schema, writable
from reprieve.toml_values import parse_toml

__all__ = ["Scenario", "ScenarioLike", "Source", "toml_text"]


class Scenario(Top):
    """A scenario whose keys are attributes: `scenario.timing.t_read_us = 50`.

    A key that is read has the value that would hold in a run: what is set here, else what device,
    part and load say, else the default. `del` takes back what is set here; None for a key that may
    be absent makes it so, whatever device, part and load say.

    >>> scenario = rp.Scenario(device="fast12-mlc")
    >>> scenario.timing.t_read_us
    25
    >>> scenario.timing.t_read_us = 50
    >>> print(scenario.to_toml(), end="")
    device = "fast12-mlc"
    [timing]
    t_read_us = 50
    """

    _given: dict[str, Any]
    _bare_flows: tuple[str, ...] = ()
    """Flows that were given without a key: their loads are that of `[workload]`."""
    _place = "<Scenario>"
    _effective: tuple[str, Mapping[str, Any]] = ("", {})

    @classmethod
    def from_toml(cls, text: str) -> Scenario:
        """Make a scenario from the text of its file; raises UserError if the text is wrong."""
        return cls._from(text, "<Scenario>")

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Scenario:
        """Make a scenario from a file; its paths are relative to the folder of the file.

        Raises UserError if the file cannot be read or is wrong.
        """
        return cls._from(Source.read(Path(path)).text, os.fspath(path))

    @classmethod
    def _from(cls, text: str, place: str) -> Scenario:
        made, tables = cls(), parse_toml(text, place)
        try:
            made._take(tables)
        except UserError as error:
            raise UserError(f"{place}: {error}") from None
        if place != cls._place:
            # Its lines are not those of the file any more.
            made.__dict__["_place"] = str(Path(place).with_name(f"<{Path(place).name}>"))
        return made

    def _take(self, tables: Mapping[str, Any]) -> None:
        self.__dict__.setdefault("_given", {})
        for name, value in tables.items():
            _named(name, "")
            if name == "flow" and value is not None:
                for flow, keys in _keys_of("flow", value, "tables of flows").items():
                    _named(flow, "flow.")
                    self._take_table(f"flow.{flow}", keys)
                    if not keys:
                        self.__dict__["_bare_flows"] = (*self._bare_flows, flow)
            elif isinstance(value, Mapping) and name not in schema()[""]:
                self._take_table(name, value)
            elif value is not None:
                self.write(name, value)

    def _take_table(self, prefix: str, keys: object) -> None:
        for key, value in _keys_of(prefix, keys, "a table of keys").items():
            _named(key, f"{prefix}.")
            if isinstance(value, Mapping) and f"{prefix}.{key}" in (*SECTIONS, EQUILIBRIUM):
                self._take_table(f"{prefix}.{key}", value)
            else:
                self.write(f"{prefix}.{key}", value)

    def to_toml(self) -> str:
        """Write what is set here as the text of a scenario file."""
        return toml_text(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return what is set here as a dictionary of the file's form."""
        tables: dict[str, Any] = {}
        for key, value in self._given.items():
            *path, name = _steps(key)
            table = tables
            for step in path:
                table = table.setdefault(step, {})
            table[name] = _listed(value)
        for flow in self._bare_flows:
            tables.setdefault("flow", {}).setdefault(flow, {})
        return tables

    def resolve(self) -> Scenario:
        """Return the scenario with every key that applies; raises UserError if it cannot run."""
        made = Scenario.from_toml(Source.of(self, {}).resolve())
        made.__dict__["_place"] = self._place
        return made

    def copy(self) -> Scenario:
        """Return a copy with the same values."""
        made = Scenario()
        made._given.update(self._given)
        made.__dict__.update(_place=self._place, _bare_flows=self._bare_flows)
        return made

    def replace(self, **overrides: Any) -> Scenario:
        """Return a copy with some values changed: `replace(seed=2, timing__t_read_us=50)`.

        Raises UserError if there is no such key.
        """
        made = self.copy()
        for key, value in overrides.items():
            made.write(key.replace("__", "."), value)
        return made

    def read(self, key: str) -> Any:
        """Return the value of a key such as "timing.t_read_us".

        Raises UserError if there is no such key.
        """
        _check(key)
        if key not in self._given:
            return self._holds(key)
        value = self._given[key]
        return None if value == "none" and _rules(key)["takes_none"] else value

    def write(self, key: str, value: Any) -> None:
        """Set a key such as "timing.t_read_us".

        Raises UserError if there is no such key, or if the value is wrong.
        """
        _check(key)
        if key == EQUILIBRIUM and isinstance(value, Mapping):
            self._take_table(key, value)
            return
        if value is None:
            rules = _rules(key)
            if not rules["optional"]:
                raise UserError(
                    f"{key} = None: must be {rules['value']}; del takes back what is set"
                )
            if not rules["takes_none"]:
                self._given.pop(key, None)
                return
            value = "none"
        self._given[key] = plain(key, reference(value))

    def take_back(self, key: str) -> None:
        """Unset a key; raises UserError if there is no such key, or if it is not set here."""
        _check(key)
        if key not in self._given:
            raise UserError(f"{key} is not set here, so that it cannot be taken back")
        del self._given[key]

    def _holds(self, key: str) -> Any:
        if names := _rules(key)["stands_for"]:
            values = [self.read(name) for name in names]
            if any(value != values[0] for value in values):
                each = " and ".join(f"{name} = {self.read(name)}" for name in names)
                raise UserError(f"{key} stands for {each}, which differ; read them")
            return values[0]
        text = self.to_toml()
        if self._effective[0] != text:
            resolved = tomllib.loads(self._resolve(key, text))
            self.__dict__["_effective"] = (text, resolved)
        value: Any = self._effective[1]
        for step in _steps(key):
            value = value.get(step, {})
        rules = _rules(key)
        if value == {} and rules["when"] and not rules["optional"]:
            raise UserError(
                f"{key} has no part in this scenario; it applies only while "
                f"{only_while(rules['when'])}"
            )
        if value == {} or (value == "none" and rules["takes_none"]):
            return None
        return plain(key, value)

    def _resolve(self, key: str, text: str) -> str:
        loaded = any(given == "load" or given.startswith(_LOADS) for given in self._given)
        resolve = _native.resolve if loaded else _native.resolve_rig
        try:
            parts = split(text, self._place, ())
            return parts.written(resolve(text, self._place, list(parts.sets)))
        except UserError as error:
            raise UserError(f"{key} is not set, and what would hold is open: {error}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return (self.to_dict(), self._place) == (other.to_dict(), other._place)

    __hash__ = None  # type: ignore[assignment] # it changes

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"Scenario({', '.join(given)})"

    def _repr_html_(self) -> str:
        from reprieve.html import table

        rows = [[key, toml_value(value, key)] for key, value in self._given.items()]
        return table("Scenario", ["key", "value"], rows)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *SECTIONS, "flow"]

    # Hidden from type checkers, who would believe that every attribute exists.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            if name in SECTIONS:
                return SECTIONS[name](self, name)
            if name == "flow":
                return Flows(self, Workload, list(self.to_dict().get("flow", ())))
            return self.read(name)

        def __setattr__(self, name: str, value: Any) -> None:
            self.write(name, value)

        def __delattr__(self, name: str) -> None:
            self.take_back(name)


_LOADS = ("workload.", "flow.")
EQUILIBRIUM = "precondition.load"
"""The table with the load whose equilibrium a drive starts in; its keys are those of a workload."""


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _steps(key: str) -> list[str]:
    """Split a full name into those of the tables and of the key; a flow's may have dots."""
    if key.startswith("flow."):
        flow, _, name = key.removeprefix("flow.").rpartition(".")
        return ["flow", flow, name]
    return key.split(".")


def _named(name: object, prefix: str) -> None:
    """Refuse what cannot be the name of a table or key."""
    if not isinstance(name, str):
        what = f"of type {type(name).__name__}: must be a string"
        raise UserError(f"{prefix}{name!r}: a name in a scenario, {what}")


def _keys_of(name: str, value: object, wanted: str) -> Mapping[Any, Any]:
    """Return a table; raises UserError if the value is none."""
    if not isinstance(value, Mapping):
        raise UserError(f"{name} = {value!r} of type {type(value).__name__}: must be {wanted}")
    return value


def _check(key: str) -> None:
    """Refuse what is no key, such as "timing.t_raed_us"."""
    *path, name = _steps(key)
    if key in (*SECTIONS, "flow"):
        raise UserError(f"{key} is a section, which has no value; set its keys")
    if not path:
        known("", name, "")
        return
    if path[0] not in (*SECTIONS, "flow"):
        known("", path[0], "")
    section = _section_of(path)
    if section not in SECTIONS:
        # Inside a section that has no such table.
        known(path[0], ".".join([*path[1:], name]), path[0])
    known(section, name, ".".join(path))


def _rules(key: str) -> Mapping[str, Any]:
    """Return what the schema says of a key that is one."""
    *path, name = _steps(key)
    return schema()[_section_of(path)][name]


def _section_of(path: list[str]) -> str:
    """Return the section of the schema that has the keys of a table."""
    is_load = path[:1] == ["flow"] or ".".join(path) == EQUILIBRIUM
    return "workload" if is_load else ".".join(path)


ScenarioLike = str | os.PathLike[str] | Mapping[str, Any] | Scenario
"""Scenario of a run: a path, a dictionary of the file's form, or a `Scenario`."""


def read_file(path: Path, what: str) -> str:
    """Return the text of a TOML file; raises UserError, which names what it is, if it has none."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: byte {error.start} is not UTF-8; a {what} is TOML in UTF-8"
        ) from None
    except OSError as error:
        raise UserError(
            f"{path}: cannot read the {what}: {error.strerror}; name a TOML file"
        ) from None
    except ValueError as error:
        why = f"cannot read the {what}: {error}; name a TOML file"
        raise UserError(f"{str(path)!a}: {why}") from None


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
        """Read a scenario file; raises UserError if it cannot be read."""
        return cls(read_file(path, "scenario"), str(path), tuple(sets))

    @classmethod
    def of(cls, scenario: ScenarioLike, overrides: Mapping[str, Any]) -> Source:
        """Take a scenario as Python has it: an object, a path, or a dictionary of the file's form.

        In an override's name two underscores stand for the dot: `timing__t_read_us=50`.
        """
        names = {key: key.replace("__", ".") for key in overrides}
        sets = [f"{names[key]}={toml_value(value, names[key])}" for key, value in overrides.items()]
        if isinstance(scenario, Scenario):
            return cls(scenario.to_toml(), scenario._place, tuple(sets))
        if isinstance(scenario, Mapping):
            return cls(toml_text(scenario), "<dict>", tuple(sets))
        if not isinstance(scenario, (str, os.PathLike)):
            raise UserError(
                f"a scenario is {scenario!r} of type {type(scenario).__name__}; "
                "must be a path, a dictionary of the file's form or a Scenario"
            )
        return cls.read(Path(scenario), sets)

    @property
    def keys_set(self) -> list[str]:
        """The keys that its overrides give."""
        return [text.partition("=")[0].strip() for text in self.sets]

    def with_sets(self, sets: Sequence[str]) -> Source:
        """Return the same scenario with further overrides, which win."""
        return Source(self.text, self.path, (*self.sets, *sets))

    def resolve(self) -> str:
        """Every key with its value, as TOML with identical results; raises UserError if wrong."""
        parts = self.split()
        resolved = parts.written(_native.resolve(self.text, self.path, list(parts.sets)))
        parts.look()
        return resolved

    def built_in(self, why: str) -> Source:
        """Return it for what asks no policy of Python; UserError, which says why, if it names one.

        A file may name one where an override names a built-in policy.
        """
        parts = self.split()
        parts.refuse(why)
        return Source(self.text, self.path, parts.sets)

    def split(self) -> Split:
        """Take out the policies of Python; raises UserError if one is not named as it must be."""
        return split(self.text, self.path, self.sets)


def toml_value(value: object, key: str = "a scenario value", depth: int = 0) -> str:
    """Write one value in TOML; UserError, which names the key, if TOML has no such value."""
    value = reference(bare(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
        return json.dumps(writable(key, value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        if depth == DEPTH_MAX:
            raise UserError(f"{key}: lists inside each other; must be {DEPTH_MAX} at most")
        return "[" + ", ".join(toml_value(item, key, depth + 1) for item in value) + "]"
    raise UserError(
        f"{key} is {value!r} of type {type(value).__name__}; "
        "use a bool, int, float, str, path or list, and leave a key out to not set it"
    )


def toml_text(scenario: Mapping[str, Any]) -> str:
    """Write a scenario's dictionary as TOML: keys of the top, then one table a section."""
    return "\n".join(_table("", scenario)) + "\n"


def _table(header: str, keys: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Write a table, and after it those inside it: each section is one, and each flow."""
    if depth > DEPTH_MAX:
        raise UserError(f"{header}: tables inside each other; must be {DEPTH_MAX} at most")
    prefix, own, inside = f"{header}." if header else "", list[str](), list[str]()
    for key, value in keys.items():
        if isinstance(value, Mapping):
            inside += _table(f"{prefix}{_key(key)}", value, depth + 1)
        else:
            own.append(f"{_key(key)} = {toml_value(value, f'{prefix}{key}')}")
    head = [f"[{header}]"] if header and (own or not inside) else []
    return [*head, *own, *inside]


def _key(name: str) -> str:
    _named(name, "")
    bare_key = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare_key else json.dumps(writable("a name in a scenario", name))
