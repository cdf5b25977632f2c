"""Sums, exponentials and logarithms that are the same on every processor, to the last bit.

Those of NumPy, BLAS and the C library depend on its instructions. These add, multiply and divide.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
"""The logarithm of 2 in two parts; the first has so few digits that some multiples are exact."""


def dot(rows: Floats, weights: Floats) -> Floats:
    """Return the sum of each row with weights."""
    found: Floats = (rows * weights).sum(axis=-1)
    return found


def exp(powers: Floats) -> Floats:
    """Return e to these powers: a power of 2 and a series, within two units in the last place."""
    powers = np.clip(powers, -800, 800)
    twos = np.nan_to_num(np.rint(powers / sum(_LN2)))
    rest = (powers - twos * _LN2[0]) - twos * _LN2[1]
    found = np.ones_like(rest)
    for term in range(14, 0, -1):
        found = 1 + found * rest / term
    return np.ldexp(found, twos.astype(np.int32))


def log(values: Floats) -> Floats:
    """Return natural logarithms of positive values: that of a power of 2, and a series."""
    parts, twos = np.frexp(values)
    is_low = parts < np.sqrt(0.5)
    parts, twos = np.where(is_low, 2 * parts, parts), twos - is_low
    ratio = (parts - 1) / (parts + 1)
    found = np.zeros_like(ratio)
    for term in range(27, 0, -2):
        found = found * ratio * ratio + 1 / term
    return np.asarray(twos * _LN2[0] + (twos * _LN2[1] + 2 * ratio * found))
