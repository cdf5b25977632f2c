"""JSON with values deleted or replaced at random, for tests of what reads files of others."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**63, 10**400, 0.5, -0.0, 1e300, float("nan"), float("inf"), ""),
    *("x", "1", "${X}", "4k", [], [1], [[]], {}, {"x": {}}),
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a JSON value with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def mutated(output: Any, draw: random.Random) -> Any:
    """Return a copy with one or two values deleted or replaced."""
    output = copy.deepcopy(output)
    for _ in range(draw.randint(1, 2)):
        found = list(places(output))
        if not found:
            break
        container, key = draw.choice(found)
        if draw.random() < 0.2:
            del container[key]
        else:
            container[key] = copy.deepcopy(draw.choice(VALUES))
    return output
