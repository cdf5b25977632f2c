"""What is built in: devices, parts, loads and policies, by name."""

from __future__ import annotations

from typing import NamedTuple

from reprieve import _native

POLICY_KINDS = {
    "schedulers": "scheduling.policy",
    "dispatchers": "scheduling.dispatch",
    "suspend_policies": "suspension.policy",
    "placements": "ftl.placement",
    "gc_victims": "ftl.gc_victim",
    "streams": "ftl.stream",
    "arbitrations": "host.arbitration",
    "policies": "policy",
}
"""Kinds of policies, and the key of the scenario that chooses among each."""


class Entry(NamedTuple):
    """A registered choice."""

    name: str
    """As a scenario writes it."""
    doc: str
    """One sentence."""


def entries(kind: str) -> list[Entry]:
    """Return a registry in its own order."""
    return [Entry(name, doc) for name, doc in _native.registry(kind)]


def devices() -> list[Entry]:
    """Built-in devices."""
    return entries("devices")


def parts() -> list[Entry]:
    """Built-in NAND parts."""
    return entries("parts")


def loads() -> list[Entry]:
    """Built-in loads."""
    return entries("loads")


def policies() -> dict[str, list[Entry]]:
    """Built-in policies by the key of the scenario that chooses among them."""
    return {key: entries(kind) for kind, key in POLICY_KINDS.items()}


def device(name: str) -> str:
    """TOML of a built-in device with the sources of its numbers; UserError if there is none."""
    return _native.preset("devices", name)


def part(name: str) -> str:
    """TOML of a built-in part with the sources of its numbers; UserError if there is none."""
    return _native.preset("parts", name)


def load(name: str) -> str:
    """TOML of a built-in load with the sources of its numbers; UserError if there is none."""
    return _native.preset("loads", name)
