"""Sums, exponentials and logarithms against those of exact and of decimal numbers."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from reprieve.elementary import dot, exp, log

LAST_PLACES = 4


def places_off(found: float, exact: Decimal) -> float:
    """Return the error in units of the last place."""
    return abs(float((Decimal(found) - exact) / Decimal(math.ulp(float(exact)))))


def test_exponentials_and_logarithms_are_right_to_the_last_places() -> None:
    draw = np.random.default_rng(5)
    powers = np.concatenate([draw.normal(0, 1, 500), draw.uniform(-700, 700, 500), [0.0, 1.0]])
    values = np.concatenate(
        [1 + draw.normal(0, 0.01, 500), 10 ** draw.uniform(-300, 300, 500), [2]]
    )
    with localcontext() as context:
        context.prec = 40
        for power, found in zip(powers.tolist(), exp(powers).tolist(), strict=True):
            assert places_off(found, Decimal(power).exp()) <= LAST_PLACES
        for value, found in zip(values.tolist(), log(values).tolist(), strict=True):
            assert places_off(found, Decimal(value).ln()) <= LAST_PLACES


def test_ends_are_those_of_the_exact_functions() -> None:
    with np.errstate(over="ignore"):
        found = exp(np.array([0.0, -800.0, 800.0, math.nan]))
    assert found[:3].tolist() == [1.0, 0.0, math.inf]
    assert math.isnan(found[3])
    assert log(np.array([1.0])).tolist() == [0.0]


def test_sums_with_weights_are_right() -> None:
    draw = np.random.default_rng(6)
    rows, weights = draw.normal(size=(20, 63)), draw.normal(size=63)
    for row, found in zip(rows.tolist(), dot(rows, weights).tolist(), strict=True):
        exact = sum(map(Fraction.__mul__, map(Fraction, row), map(Fraction, weights.tolist())))
        assert math.isclose(found, exact, rel_tol=1e-12, abs_tol=1e-14)
