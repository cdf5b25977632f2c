"""Student's t: how far a mean of few samples strays from what it is the mean of."""

import math
from functools import lru_cache

LEVEL = 0.95
"""Confidence level of intervals."""


@lru_cache
def student_t(freedom: int) -> float:
    """Return the two-sided quantile of Student's t at `LEVEL`; `freedom`: degrees of freedom."""
    low, high = 0.0, 20.0
    assert freedom > 0, "an interval has two samples or more"
    while (middle := (low + high) / 2) not in (low, high):
        if _within(middle, freedom) < LEVEL:
            low = middle
        else:
            high = middle
    return high


def _within(t: float, freedom: int) -> float:
    """Return the probability of −t to t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    sine, cosine = t / math.sqrt(freedom + t * t), math.sqrt(freedom / (freedom + t * t))
    is_odd = freedom % 2
    # Powers of the cosine up to freedom − 2, each with the product of n / (n + 1) below it.
    term = cosine if is_odd else 1.0
    total = term if freedom > 1 else 0.0
    for power in range(2 + is_odd, freedom - 1, 2):
        term *= cosine * cosine * (power - 1) / power
        total += term
    if is_odd:
        return 2 / math.pi * (_angle(t / math.sqrt(freedom)) + sine * total)
    return sine * total


def _angle(tangent: float) -> float:
    """Return an arc tangent: processors agree on square roots, and not on trigonometry."""
    for _ in range(4):
        tangent /= 1 + math.sqrt(1 + tangent * tangent)
    series = 0.0
    for odd in range(19, 0, -2):
        series = 1 / odd - tangent * tangent * series
    return 16 * tangent * series
