"""`reprieve devices`, `parts`, `loads`, `policies` and `schema`: what is built in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from reprieve import _native, registries
from reprieve._native import UserError
from reprieve.cli.console import say, show, table
from reprieve.registries import Entry


def _among(entries: Callable[[], Iterable[Entry]]) -> Any:
    """Return the argument of a command that lists these, or prints one of them."""

    def begun(incomplete: str) -> list[str]:
        found = dict.fromkeys(entry.name for entry in entries())
        return [name for name in found if name.startswith(incomplete)]

    told = "Print this one; without it, list all."
    return typer.Argument(metavar="[NAME]", help=told, autocompletion=begun)


def _policies() -> list[Entry]:
    return [entry for entries in registries.policies().values() for entry in entries]


def devices(name: Annotated[str | None, _among(registries.devices)] = None) -> None:
    """List the built-in devices, or print one with its sources."""
    if name is None:
        _list("device", registries.devices())
    else:
        say(registries.device(name))


def parts(name: Annotated[str | None, _among(registries.parts)] = None) -> None:
    """List the built-in NAND parts, or print one with its sources."""
    if name is None:
        _list("part", registries.parts())
    else:
        say(registries.part(name))


def loads(name: Annotated[str | None, _among(registries.loads)] = None) -> None:
    """List the built-in loads, or print one with its sources."""
    if name is None:
        _list("load", registries.loads())
    else:
        say(registries.load(name))


def policies(name: Annotated[str | None, _among(_policies)] = None) -> None:
    """List the built-in policies, or say what those called NAME do."""
    found = [
        (key, entry)
        for key, entries in registries.policies().items()
        for entry in entries
        if name is None or entry.name.lower() == name.lower()
    ]
    if not found:
        near = get_close_matches(str(name), [entry.name for entry in _policies()], 1)
        hint = f"did you mean {near[0]}?" if near else "`reprieve policies` lists all"
        raise UserError(f"policies: there is no {name}; {hint}")
    rows = table("", ["key", "value", ""], left=3)
    for key, entry in found:
        rows.add_row(key, entry.name, entry.doc)
    show(rows)


def schema() -> None:
    """Print JSON Schema of scenario files, for editors that complete and check them."""
    say(_native.json_schema())


def _list(word: str, entries: Sequence[Entry]) -> None:
    rows = table("", [word, ""], left=2)
    for entry in entries:
        rows.add_row(entry.name, entry.doc)
    show(rows)
