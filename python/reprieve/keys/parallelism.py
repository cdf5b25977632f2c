"""Keys of `[parallelism]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class Parallelism(Keys):
    """Keys of `[parallelism]`.

    What a die can do at once.
    """

    _section = "parallelism"

    multi_plane: Literal["none", "page", "block"]
    """What of different planes one read, program or erase takes together.

    Default: `"none"`. Source: data sheets of NAND parts; page alone is the rule of MQSim (FAST
    2018). `none`: Nothing: a command is of one plane. `page`: Pages of the same number in their
    blocks, or any blocks. `block`: The same, of blocks of the same number in their planes.
    """
    independent_plane_reads: bool
    """Whether each plane reads by itself while others read.

    Value: true or false. Default: `false`. Source: Micron data sheets of 3D parts: independent
    multi-plane reads.
    """
    cache_program: bool
    """Whether the page of the next program comes in while one runs.

    Value: true or false. Default: `false`. Source: data sheets of NAND parts.
    """
