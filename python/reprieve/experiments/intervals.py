"""Confidence intervals of a mean over seeds, by Student's t."""

import math

import numpy as np
from numpy.typing import NDArray

from reprieve.elementary import exp
from reprieve.student import student_t

Floats = NDArray[np.float64]


def mean_intervals(samples: Floats, *, positive: bool) -> tuple[Floats, Floats, Floats]:
    """Return means, lower and upper ends for rows of independent samples, two or more a row.

    `positive`: they cannot be less than 0, and their intervals do not reach below it. Then the
    intervals are made on the scale of logarithms, where the error of a mean is a share of it
    (Meeker and Escobar, Statistical Methods for Reliability Data, 1998, chapter 7).
    """
    count = samples.shape[1]
    mean = samples.mean(axis=1)
    half = student_t(count - 1) * samples.std(axis=1, ddof=1) / math.sqrt(count)
    if not positive:
        return mean, mean - half, mean + half
    factor = exp(np.divide(half, mean, out=np.zeros_like(mean), where=mean != 0))
    return mean, mean / factor, mean * factor
