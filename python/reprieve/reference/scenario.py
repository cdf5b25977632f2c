"""The page of the scenario file, which the simulator writes, and what other pages take from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reprieve import _native
from reprieve.reference.markdown import anchor

_SECTION = re.compile(r"^### `([\w.]+)`\n\n(.*?)\n\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)
_CONDITION = re.compile(r"`([\w.]+)` is ((?:`\"[\w-]+\"`(?: or )?)+)")


@dataclass(frozen=True)
class Key:
    """A key of the scenario, as its section of the page tells it."""

    name: str
    doc: str
    facts: tuple[str, ...]
    """Lines of its list: value, default, condition, source, choices."""

    def fact(self, label: str) -> str:
        """Return the text after a label, such as "Default"; empty if nothing does."""
        found = [line for line in self.facts if line.startswith(f"{label}: ")]
        return found[0].partition(": ")[2] if found else ""

    def conditions(self) -> Iterator[tuple[str, str]]:
        """Yield the keys, and for each a value, under which this one is asked for."""
        for line in self.facts:
            if line.startswith("Only while "):
                for key, values in _CONDITION.findall(line):
                    yield from ((key, value) for value in re.findall(r'"([\w-]+)"', values))


def scenario_page() -> str:
    """Return the page of all keys."""
    return _native.reference().rstrip() + "\n"


def keys() -> dict[str, Key]:
    """Read every key from the page."""
    return {
        name: Key(name, doc, tuple(re.findall(r"^- (.*)$", facts, re.MULTILINE)))
        for name, doc, facts in _SECTION.findall(scenario_page())
    }


def key_link(name: str) -> str:
    """Lead to the section of a key, from another page of the reference."""
    return f"[`{name}`](scenario.md#{anchor(name)})"
