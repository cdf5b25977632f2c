"""Roles of keys: what a designer chooses, what is given from outside, and what no drive can have."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from reprieve import _native


@cache
def _keys() -> dict[str, dict[str, Any]]:
    sections = json.loads(_native.schema())["sections"]
    return {key["key"]: key for section in sections for key in section["keys"]}


def is_environment(key: str) -> bool:
    """Return whether a key is given, as a load or a seed is; `workload.*` of a flow is, too."""
    found = _keys().get(key)
    return key.startswith("flow.") or found is not None and found["role"] == "environment"


def bounds_in(toml: str) -> list[str]:
    """Return the choices of a resolved scenario that no drive can have, such as `policy = pe0`."""
    scenario = tomllib.loads(toml)
    found = []
    for name, key in _keys().items():
        value: Any = scenario
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None and _word(value) in key["bounds"]:
            found.append(f"{key['name']} = {_word(value)}")
    return found


def _word(value: Any) -> str:
    return re.sub(r"\.0$", "", str(value)).lower()


def baseline(scenarios: Iterable[tuple[str, str]]) -> str | None:
    """Return the name of the first resolved scenario with read priority and no suspension."""
    for name, toml in scenarios:
        scenario = tomllib.loads(toml)
        suspension = scenario.get("suspension", {})
        is_plain = suspension.get("program") == "none" and not suspension.get("erase")
        if is_plain and scenario.get("scheduling", {}).get("policy") == "rps":
            return name
    return None
