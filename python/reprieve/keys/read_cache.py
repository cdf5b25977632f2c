"""Keys of `[read_cache]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class ReadCache(Keys):
    """Keys of `[read_cache]`.

    The cache of pages that were read.
    """

    _section = "read_cache"

    bytes: int
    """Capacity of the read cache; 0: there is none.

    Value: an integer from 0 to 1099511627776. Default: `0`.
    """
    replacement: Literal["fifo", "lru"]
    """Which page makes room for another.

    Default: `"lru"`. `fifo`: The page that came into the cache first. `lru`: The page used longest
    ago.
    """
    fill_on_write: bool
    """Whether pages that are written come into the cache; else they leave it.

    Value: true or false. Default: `false`.
    """
