"""Keys of a scenario as attributes: what the generated classes of `reprieve.keys` share."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from reprieve import _native
from reprieve._native import UserError

if TYPE_CHECKING:
    from reprieve.scenario import Scenario


class UnknownKeyError(UserError, AttributeError):
    """An attribute that is no key of the scenario file; also an AttributeError, as Python asks."""


@cache
def schema() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return what each key of each section takes; the section "" is before all others."""
    found = json.loads(_native.schema())
    return {
        section["name"]: {key["name"]: key for key in section["keys"]}
        for section in found["sections"]
    }


@cache
def all_keys() -> Mapping[str, Mapping[str, Any]]:
    """Return what each key takes, by its full name."""
    return {key["key"]: key for section in schema().values() for key in section.values()}


class Keys:
    """Keys of one section of a scenario.

    Reading gives what would hold: what was set here, else what device, part and load say, else
    the default; None for what is absent. `del` takes back what was set.
    """

    _section = ""
    _prefix: str

    def __init__(self, holder: "Scenario", prefix: str) -> None:
        object.__setattr__(self, "_holder", holder)
        object.__setattr__(self, "_prefix", prefix)

    def __repr__(self) -> str:
        return f"<keys of [{self._prefix}]: {', '.join(schema()[self._section])}>"

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *schema()[self._section], *self._tables()]

    def _tables(self) -> list[str]:
        """Names of the tables inside this one."""
        start = f"{self._section}."
        return [name.removeprefix(start) for name in schema() if name.startswith(start)]

    # Hidden from type checkers, who would believe that every attribute exists.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in self._tables():
                return type(self).__annotations__[name](self._holder, f"{self._prefix}.{name}")
            return self._holder.read(self._full(name))

        def __setattr__(self, name: str, value: Any) -> None:
            self._holder.write(self._full(name), value)

        def __delattr__(self, name: str) -> None:
            self._holder.take_back(self._full(name))

        def _full(self, name: str) -> str:
            known(self._section, name, self._prefix)
            return f"{self._prefix}.{name}"


Section = TypeVar("Section", bound=Keys)


class Flows(Mapping[str, Section]):
    """Loads at once: `scenario.flow["NAME"]` has the keys of `[workload]` that differ there."""

    def __init__(self, holder: "Scenario", kind: type[Section], names: Sequence[str]) -> None:
        self._holder = holder
        self._kind = kind
        self._names = names

    def __getitem__(self, name: str) -> Section:
        """Return the keys of a flow, which comes to be with the first that is set."""
        return self._kind(self._holder, f"flow.{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def known(section: str, name: str, prefix: str) -> None:
    """Refuse a name that is no key of the section, and say which is near."""
    keys = schema()[section]
    if name in keys:
        return
    if name.startswith("_"):
        raise AttributeError(name)
    full = f"{prefix}.{name}" if prefix else name
    own = [f"{prefix}.{key}" if prefix else key for key in keys]
    if not prefix:
        own += [other for other in schema() if other] + ["flow"]
    elsewhere = list(all_keys())
    near = get_close_matches(full, own, 1) or [
        *(key for key in elsewhere if key.rpartition(".")[2] == name),
        *get_close_matches(full, elsewhere, 1, 0.5),
    ]
    hint = f"; did you mean {near[0]}?" if near else f"; must be one of {', '.join(own)}"
    raise UnknownKeyError(f"{full}: unknown key{hint}")


def bare(value: Any) -> Any:
    """Return a number or list of numpy as Python has it, and every other value as it is."""
    is_numpy = hasattr(value, "tolist") and not isinstance(value, str)
    return value.tolist() if is_numpy else value


def writable(key: str, text: str) -> str:
    """Return a text that can be written in UTF-8; raises UserError if it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError(f"{key} = {text!a}: must be a text that UTF-8 can hold") from None
    return text


DEPTH_MAX = 8
"""Lists inside each other: those of sizes are two."""


def plain(key: str, value: Any, depth: int = 0) -> Any:
    """Return a value as TOML has it, lists as tuples, so that none changes behind our back."""
    value = bare(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return writable(key, value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        if depth == DEPTH_MAX:
            raise UserError(f"{key}: lists inside each other; must be {DEPTH_MAX} at most")
        return tuple(plain(key, item, depth + 1) for item in value)
    raise UserError(
        f"{key} = {value!r} of type {type(value).__name__}: must be a bool, int, float, str, path "
        "or list of those, or None for a key that may be absent"
    )


def only_while(when: Sequence[Mapping[str, Any]]) -> str:
    """Say when a key applies, from what the schema says of it: while one of these holds."""
    return " or ".join(
        f"{need['key']} is {' or '.join(need['values'])}"
        if need["values"]
        else f"{need['key']} is given"
        for need in when
    )
