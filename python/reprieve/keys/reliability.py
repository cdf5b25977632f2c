"""Keys of `[reliability]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reprieve.sections import Keys


class Reliability(Keys):
    """Keys of `[reliability]`.

    Raw bit errors, epsilon + alpha C^k + beta C^m t^n + gamma C^p R^q + delta S, and wear.
    """

    _section = "reliability"

    model: Literal["none", "power"]
    """Whether cells err and wear.

    Default: `"none"`. `none`: Cells neither err nor wear out. `power`: Power laws of cycles, age
    and reads; blocks count their wear.
    """
    epsilon: float
    """Share of bits that are wrong from the start.

    Value: a number at least 0 and at most 0.5. Default: `0`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    alpha: float
    """Factor of wear, over the cycles C of the block.

    Value: a number at least 0 and at most 0.5. Default: `0`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    k: float
    """Exponent of the cycles in wear.

    Value: a number at least 0 and at most 10. Default: `1`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    beta: float
    """Factor of retention, over cycles C and days t.

    Value: a number at least 0 and at most 0.5. Default: `0`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    m: float
    """Exponent of the cycles in retention.

    Value: a number at least 0 and at most 10. Default: `1`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    n: float
    """Exponent of the days since the page was programmed.

    Value: a number at least 0 and at most 10. Default: `1`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    gamma: float
    """Factor of read disturb, over cycles C and reads R.

    Value: a number at least 0 and at most 0.5. Default: `0`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    p: float
    """Exponent of the cycles in read disturb.

    Value: a number at least 0 and at most 10. Default: `1`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    q: float
    """Exponent of the reads of the block since its erase.

    Value: a number at least 0 and at most 10. Default: `1`. Source: Kim, Choi and Min, FAST 2019,
    for the form.
    """
    delta: float
    """Added for each suspension S of the program that wrote the page.

    Value: a number at least 0 and at most 0.5. Default: `0`. Source: Zambelli et al. 2021, Figure
    9: no change, so 0.
    """
    rber_factor_by_type: Sequence[float] | None
    """Factor of the rate of pages of each type; absent: alike.

    Value: a list of numbers at least 0 and at most 1000, or "none". Default: absent. Only while
    timing.page_types is given.
    """
    rated_cycles: int | None
    """Cycles that a block is rated for; absent: the summary tells no lifetime.

    Value: an integer from 1 to 100000000, or "none". Default: absent.
    """
    age_days: float
    """Days that the data of before the first request has lain there.

    Value: a number at least 0 and at most 36500. Default: `0`. Only while reliability.model is
    power.
    """
    cycles_at_start: int
    """Cycles of the blocks before the first request.

    Value: an integer from 0 to 100000000. Default: `0`. Only while reliability.model is power.
    """
    cycles_spread: float
    """Each block draws its cycles at the start from within so much of their mean.

    Value: a number at least 0 and at most 1. Default: `0`. Only while reliability.model is power.
    """
    wear_per_program_suspend: float
    """Share of a cycle that the suspension of a program costs its block.

    Value: a number at least 0 and at most 1. Default: `0`. Only while reliability.model is power.
    Source: US9886214B2 and US10152273B2 book suspensions as wear; no figure is published.
    """
    wear_per_erase_suspend: float
    """Share of a cycle that the suspension of an erase costs its block.

    Value: a number at least 0 and at most 1. Default: `0`. Only while reliability.model is power.
    Source: US9886214B2 and US10152273B2 book suspensions as wear; no figure is published.
    """
    wear_per_suspend: float
    """Share of a cycle that the suspension of a program or erase costs its block.

    Value: a number at least 0 and at most 1. Default: `0`. Only while reliability.model is power.
    Source: US9886214B2 and US10152273B2 book suspensions as wear; no figure is published.
    """
    warranty_days: int
    """Days over which the rated cycles last, for drive writes a day.

    Value: an integer from 1 to 36500. Default: `1825`. Only while reliability.model is power.
    Source: five years, usual for enterprise drives.
    """
