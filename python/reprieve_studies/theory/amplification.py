"""Write amplification under uniform random writes: mean-field equations, solved by bisection."""

import math
from collections.abc import Callable

_STEPS = 80
_EXACT = 1e-15


def root(low: float, high: float, falling: Callable[[float], float]) -> float:
    """Return where a falling function crosses zero."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return low


def fifo(alpha: float) -> float:
    """Return that of blocks in the order of their filling, and of greedy with infinite blocks.

    The share u of a victim that is still valid solves u = e^(−(1−u)α), which is Lambert's W:
    A = α / (α + W₀(−αe^(−α))) (Desnoyers; Xiang and Kurkoski). `alpha`: physical pages for each
    logical one.
    """
    valid = root(0.0, 1 - 1e-9, lambda u: math.exp(-(1 - u) * alpha) - u)
    return 1 / (1 - valid)


def greedy(alpha: float, pages: int) -> float:
    """Return that of the emptiest of many blocks of `pages` pages (Van Houdt, d to infinity).

    A share c/k of the blocks has k valid pages, from the full ones down to where they are used up.
    """
    valid = pages / alpha
    above = 0.0
    for level in range(pages - 1, -1, -1):
        above += 1 / (level + 1)
        # Shares add up to 1 and valid pages to their mean; the rest has `level` pages.
        c = (valid - level) / (pages - level - level * above)
        rest = 1 - c * above
        if c > 0 and rest >= 0 and rest * level <= c:
            return pages * c / valid
    raise AssertionError(f"no level holds the rest of the blocks at alpha {alpha}")


def d_choices(alpha: float, pages: int, choices: int, *, again: bool = True) -> float:
    """Return that of the emptiest of `choices` blocks drawn at random (Van Houdt, 2013).

    With S_k the share of blocks with at least k valid pages, a victim has fewer than k with
    probability p_k = (1 − S_k^d) / (1 − S_b^d) where a set that gains nothing is drawn `again`,
    and without the divisor where it is taken. With w host writes for each victim the blocks
    balance: p_k = w·k·(S_k − S_(k+1)) / valid. A victim gains w pages.
    """
    valid = pages / alpha

    def gained(writes: float) -> float:
        some = 1 - (valid / (writes * pages)) ** choices if again else 1.0
        at_least, total = 0.0, 0.0
        for level in range(pages, 0, -1):
            at_least = _next(at_least, valid / (writes * level * some), choices)
            total += (1 - at_least**choices) / some
        return total

    writes = root(valid / pages, float(pages), lambda writes: gained(writes) - writes)
    return pages / writes


def _next(at_least: float, factor: float, choices: int) -> float:
    """Solve S = at_least + factor · (1 − S^choices) by Newton's method: convex, so it converges."""
    s = 1.0
    for _ in range(_STEPS):
        step = (s - at_least - factor * (1 - s**choices)) / (
            1 + factor * choices * s ** (choices - 1)
        )
        s -= step
        if abs(step) < _EXACT:
            break
    return s
