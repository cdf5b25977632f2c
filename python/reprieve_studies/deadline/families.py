"""The three families of policies and the points of each that are tried: as many for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from reprieve_studies.deadline.benches import DATA, Bench
from reprieve_studies.frame import listed

Keys = Mapping[str, Any]
Family = str

FAMILIES: Mapping[Family, Mapping[str, Any]] = {of["name"]: of for of in listed(DATA["family"])}
RELAXED, NEVER = "relaxation", "never"
"""Families of the policies that relaxations suggest, and of no suspension at all."""
_NEVER: Keys = {"suspension.policy": "threshold", "suspension.min_remaining_us": 1e9}
PRICE = "relaxation.price"


def points(family: Family, bench: Bench, tries: int) -> list[Keys]:
    """Return `tries` points of a family: its plainest, then those of Sobol's sequence."""
    if family == NEVER:
        return [_NEVER]
    if family == RELAXED:
        return [{PRICE: price} for price in DATA["relaxation"]["prices"]]
    # Takes half a second to import, which every other study would take too.
    from scipy.stats import qmc

    of = FAMILIES[family]
    sobol = qmc.Sobol(len(of["keys"]), seed=1)
    places = sobol.random_base2(math.ceil(math.log2(max(tries - 1, 1))))[: tries - 1]
    rest = [{key: _value(bench, float(x), *how)
             for x, (key, *how) in zip(at, of["keys"], strict=True)} for at in places]  # fmt: skip
    plain = {key: _scaled(bench, *value) if isinstance(value, list) else value
             for key, value in of["plain"].items()}  # fmt: skip
    every = ({"policy": of["policy"], **one} for one in (plain, *rest))
    return [{f"suspension.{key}": value for key, value in one.items() if value != ""}
            for one in every]  # fmt: skip


def _value(bench: Bench, x: float, scale: Any, least: float = 0, span: float = 0) -> Any:
    """Return the value of a key at a place of the unit cube, as its row has it."""
    if isinstance(scale, list):
        return scale[int(x * len(scale))]
    return least + int(x * span) if scale == "whole" else _scaled(bench, scale, least + span * x)


def _scaled(bench: Bench, scale: str, factor: float) -> Any:
    return round(factor * getattr(bench, scale), 1)


def words(keys: Keys) -> str:
    """Say a point in words: its keys without their sections, or its policy if it has no others."""
    named = {key.rpartition(".")[2]: value for key, value in keys.items()}
    policy = str(named.pop("policy", ""))
    return ", ".join(f"{name} {value}" for name, value in named.items()) or policy
