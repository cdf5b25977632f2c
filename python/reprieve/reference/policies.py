"""The page of the policies: each registry, each entry, and the keys that only it reads."""

import tomllib
from collections.abc import Mapping
from typing import Any

from reprieve.reference.markdown import anchor, plain, table
from reprieve.registries import POLICY_KINDS, Entry, entries
from reprieve.roles import at
from reprieve.scenario import Source, toml_value
from reprieve.sections import all_keys

_HEAD = """# Policies

Everything that `reprieve policies` lists: every choice of every registry, by the key that chooses.
The last column has the keys that only this choice reads. The [guide](../guide/add-a-policy.md)
shows how to add one.
"""

# Registries beside the policies, which `reprieve policies` leaves out.
_MORE_KINDS = {"generators": "workload.generator", "formats": "workload.format"}

# What a shorthand stands for; the drive is any that can suspend.
_LONG = ("scheduling.policy", "suspension.program", "suspension.erase")
_DRIVE = {"device": "fast12-mlc", "load": "fin1-flows"}


def page() -> str:
    """Return the page."""
    known = all_keys()
    parts = [_HEAD]
    for kind, name in (POLICY_KINDS | _MORE_KINDS).items():
        choices, default = entries(kind), known[name]["default_toml"]
        shown = _shorthands(choices) if name == "policy" else _registry(known, name, choices)
        parts.append(f"## `{name}`\n\n{plain(known[name]['doc'])} Key: {_key_link(name)}, default ")
        parts[-1] += f"{'absent' if default is None else f'`{default}`'}.\n\n{shown}"
    return "\n".join(parts)


def _key_link(name: str) -> str:
    """Lead to the section of a key in the page of the scenario."""
    return f"[`{name}`](scenario.md#{anchor(name)})"


def _registry(known: Mapping[str, Mapping[str, Any]], name: str, choices: list[Entry]) -> str:
    read_with = {
        choice.name: [
            key
            for key, facts in known.items()
            for need in facts["when"]
            if need["key"] == name and choice.name in need["values"]
        ]
        for choice in choices
    }
    rows = [
        (f"`{choice.name}`", plain(choice.doc), ", ".join(map(_key_link, read_with[choice.name])))
        for choice in choices
    ]
    return table(["value", "what it does", "keys of its own"], rows)


def _shorthands(choices: list[Entry]) -> str:
    rows = []
    for choice in choices:
        resolved = tomllib.loads(Source.of(_DRIVE, {"policy": choice.name}).resolve())
        sets = [f"`{key} = {toml_value(at(resolved, key))}`" for key in _LONG]
        rows.append((f"`{choice.name}`", plain(choice.doc), ", ".join(sets)))
    return table(["value", "what it does", "stands for"], rows)
