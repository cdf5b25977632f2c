"""Roles of keys: what is chosen, what is given from outside, and what no drive can have."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from reprieve.sections import all_keys

T = TypeVar("T")


@lru_cache(maxsize=256)
def _parsed(toml: str) -> dict[str, Any]:
    """Parse a resolved scenario: each chart of a report asks again."""
    return tomllib.loads(toml)


def is_environment(key: str) -> bool:
    """Return whether a key is given, as a load or a seed is; `workload.*` of a flow is, too."""
    found = all_keys().get(key)
    return key.startswith("flow.") or (found is not None and found["role"] == "environment")


def bounds_in(toml: str) -> list[str]:
    """Return the choices of a resolved scenario that no drive can have, such as `policy = pe0`."""
    scenario = _parsed(toml)
    found = []
    for name, key in all_keys().items():
        value = at(scenario, name)
        if value is not None and _word(value) in key["bounds"]:
            found.append(f"{key['name']} = {_word(value)}")
    return found


def is_bound(key: str, value: object) -> bool:
    """Return whether no drive can have this value of a key."""
    found = all_keys().get(key)
    return found is not None and _word(value) in found["bounds"]


def at(scenario: Mapping[str, Any], name: str) -> Any:
    """Return the value of a key in a parsed scenario; None if it has none."""
    value: Any = scenario
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _word(value: Any) -> str:
    return re.sub(r"\.0$", "", str(value)).lower()


def load_of(toml: str) -> dict[str, Any]:
    """Return all that is given in a resolved scenario: its load, seed, wear and the like."""
    scenario = _parsed(toml)
    # A key that only one policy looks at, and which is absent, is no other load.
    given = ((name, at(scenario, name)) for name in all_keys() if is_environment(name))
    found = {name: value for name, value in given if value not in (None, "none")}
    return {**found, "flow": scenario.get("flow")}


def is_plain(toml: str) -> bool:
    """Return whether a drive has read priority and suspends nothing."""
    scenario = _parsed(toml)
    has_none = at(scenario, "suspension.program") == "none"
    suspends = not has_none or bool(at(scenario, "suspension.erase"))
    return at(scenario, "scheduling.policy") == "rps" and not suspends


class Labelled(Protocol):
    """Part of a result that says how it was made."""

    @property
    def scenario(self) -> str:
        """The resolved scenario."""


def bases(runs: Mapping[str, Labelled], baseline: str | None = None) -> dict[str, str]:
    """Return for each run the one that it is measured by, which has the same load.

    That is the run that `baseline` names, else the first with read priority and no suspension,
    else the first of all. Where no load has two runs, all are measured by the first.
    """
    made = getattr(runs, "bases", None)
    if made is not None and baseline is None:
        return dict(made)

    def base(labels: Sequence[str]) -> str:
        named = [each for each in labels if baseline is not None and is_named(each, baseline)]
        plain = [each for each in labels if is_plain(runs[each].scenario)]
        return [*named, *plain, *labels][0]

    return by_load({label: repr(load_of(run.scenario)) for label, run in runs.items()}, base)


def by_load(loads: Mapping[T, str], base: Callable[[Sequence[T]], T]) -> dict[T, T]:
    """Return for each of these the base of its load; one of all, where no load has two."""
    groups: dict[str, list[T]] = {}
    for each, load in loads.items():
        groups.setdefault(load, []).append(each)
    if loads and len(groups) == len(loads):
        groups = {"": [*loads]}
    found = {each: one for all_of in groups.values() for one in [base(all_of)] for each in all_of}
    return {each: found[each] for each in loads}


def is_named(label: str, baseline: str) -> bool:
    """Return whether a label is this one, or has all its words besides those of a load."""
    return label == baseline or {*baseline.split()} <= {*label.split()}


def bound_runs(runs: Mapping[str, Labelled]) -> list[str]:
    """Return the runs of drives that cannot be built."""
    return [label for label, run in runs.items() if bounds_in(run.scenario)]
