"""`reprieve devices`, `parts`, `loads`, `policies` and `schema`: what is built in."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from reprieve import _native, registries, words
from reprieve._native import UserError
from reprieve.cli.completion import among
from reprieve.cli.console import say, show, table
from reprieve.cli.options import argument
from reprieve.registries import Entry


def _among(entries: Callable[[], Iterable[Entry]]) -> Any:
    """Return the argument of a command that lists these, or prints one of them."""
    return argument("Print this one; without it, list all.", "[NAME]", among(entries))


def _policies() -> list[Entry]:
    return [entry for entries in registries.policies().values() for entry in entries]


def devices(name: Annotated[str | None, _among(registries.devices)] = None) -> None:
    """List the built-in devices, or print one with its sources."""
    _show("device", registries.devices, registries.device, name)


def parts(name: Annotated[str | None, _among(registries.parts)] = None) -> None:
    """List the built-in NAND parts, or print one with its sources."""
    _show("part", registries.parts, registries.part, name)


def loads(name: Annotated[str | None, _among(registries.loads)] = None) -> None:
    """List the built-in loads, or print one with its sources."""
    _show("load", registries.loads, registries.load, name)


def policies(name: Annotated[str | None, _among(_policies)] = None) -> None:
    """List the built-in policies, or say what those called NAME do."""
    found = [
        (key, entry)
        for key, entries in registries.policies().items()
        for entry in entries
        if name is None or entry.name.lower() == name.lower()
    ]
    if not found:
        known = (entry.name for entry in _policies())
        hint = words.hint(str(name), known, "`reprieve policies` lists all")
        raise UserError(f"policies: there is no {name}; {hint}")
    rows = table("", ["key", "value", ""], left=3)
    for key, entry in found:
        rows.add_row(key, entry.name, entry.doc)
    show(rows)


def schema() -> None:
    """Print JSON Schema of scenario files, for editors that complete and check them."""
    say(_native.json_schema())


def _show(
    word: str, entries: Callable[[], Sequence[Entry]], of: Callable[[str], str], name: str | None
) -> None:
    if name is not None:
        say(of(name))
        return
    rows = table("", [word, ""], left=2)
    for entry in entries():
        rows.add_row(entry.name, entry.doc)
    show(rows)
