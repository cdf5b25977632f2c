"""Built-in devices, parts, loads and policies, by name."""

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
    """A registered choice.

    >>> rp.policies()["ftl.gc_victim"][0]
    Entry(name='greedy', doc='the full block with the fewest valid pages')
    """

    name: str
    """As a scenario writes it."""
    doc: str
    """One sentence."""


def entries(kind: str) -> list[Entry]:
    """Return a registry in its own order."""
    return [Entry(name, doc) for name, doc in _native.registry(kind)]


def devices() -> list[Entry]:
    """Built-in devices.

    >>> [entry.name for entry in rp.devices()][:2]
    ['fast12-slc', 'fast12-mlc']
    """
    return entries("devices")


def parts() -> list[Entry]:
    """Built-in NAND parts.

    >>> "mlc-fast12" in [entry.name for entry in rp.parts()]
    True
    """
    return entries("parts")


def loads() -> list[Entry]:
    """Built-in loads.

    >>> [entry.name for entry in rp.loads()][:2]
    ['fin1-flows', 'fin2-flows']
    """
    return entries("loads")


def policies() -> dict[str, list[Entry]]:
    """Built-in policies by the key of the scenario that chooses among them.

    >>> [entry.name for entry in rp.policies()["policy"]]
    ['fifo', 'rps', 'per', 'pe0', 'pes-ips', 'pes-ipc']
    """
    return {key: entries(kind) for kind, key in POLICY_KINDS.items()}


def device(name: str) -> str:
    """Return a built-in device as TOML, with the source of each number.

    Raises UserError if there is none of this name.

    >>> print(rp.device("fast12-slc").splitlines()[0])
    # The SLC drive of Wu and He, FAST 2012: 16 chips, each with a channel of its own.
    """
    return _native.preset("devices", name)


def part(name: str) -> str:
    """Return a built-in part as TOML, with the source of each number.

    Raises UserError if there is none of this name.

    >>> [line for line in rp.part("mlc-fast12").splitlines() if line.startswith("t_read_us")]
    ['t_read_us = 25             # Tr_phy']
    """
    return _native.preset("parts", name)


def load(name: str) -> str:
    """Return a built-in load as TOML, with the source of each number.

    Raises UserError if there is none of this name.

    >>> rp.load("fin1-flows").startswith("# Reads and writes as flows of their own, from")
    True
    """
    return _native.preset("loads", name)
