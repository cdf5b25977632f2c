"""The order of tests: each of several processes begins with its share of the longest ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Test = TypeVar("Test")


def dealt(tests: Sequence[Test], seconds: Sequence[float], processes: int) -> list[Test]:
    """Return tests in an order whose equal parts, one a process, have as much to do.

    `seconds`: what each takes, or 0. Longer ones are dealt out first; the others follow as they
    were. The parts are those of `--dist worksteal`, which cuts the order into pieces and moves
    tests later from the end of a piece: the last test may be any, but is not a long one.
    """
    of = dict(enumerate(seconds))
    longest = sorted((each for each in of if of[each]), key=lambda each: -of[each])
    others = [each for each in of if not of[each]]
    order: list[int] = []
    for process in range(processes):
        own = longest[process::processes]
        count = max(0, (len(tests) - len(order)) // (processes - process) - len(own))
        order += own + others[:count]
        del others[:count]
    return [tests[each] for each in order]
