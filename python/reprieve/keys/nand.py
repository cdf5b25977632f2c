"""Keys of `[nand]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from reprieve.sections import Keys


class Nand(Keys):
    """Keys of `[nand]`.

    What goes wrong on the part.
    """

    _section = "nand"

    program_failure: float
    """Probability that a program fails, which retires its block.

    Value: a number at least 0 and below 1. Default: `0`.
    """
    erase_failure: float
    """Probability that an erase fails, which retires the block.

    Value: a number at least 0 and below 1. Default: `0`.
    """
