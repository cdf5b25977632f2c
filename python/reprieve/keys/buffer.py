"""Keys of `[buffer]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class Buffer(Keys):
    """Keys of `[buffer]`.

    The write buffer.
    """

    _section = "buffer"

    bytes: int
    """Capacity of the write buffer; at least one page.

    Value: an integer from 512 to 1099511627776. Default: `67108864`. Source: Wu and He, FAST 2012,
    section 3.1: 64 MB.
    """
    acknowledge: Literal["through", "back"]
    """When a write is acknowledged.

    Default: `"through"`. `through`: When its last page is programmed. `back`: When its last page is
    in the buffer.
    """
    replacement: Literal["immediate", "fifo", "lru"]
    """When a page in the buffer goes to the flash, and which goes first.

    Default: `"immediate"`. Only while buffer.acknowledge is back. `immediate`: Every page goes at
    once. `fifo`: Above a watermark, the page that came into the buffer first. `lru`: Above a
    watermark, the page written or read longest ago.
    """
    high_watermark: float
    """Pages go to the flash when more than this share of the buffer is dirty.

    Value: a number at least 0 and below 1. Default: `0.8`. Only while buffer.replacement is fifo or
    lru.
    """
    low_watermark: float
    """They go until no more than this share is dirty; at most the high watermark.

    Value: a number at least 0 and below 1. Default: `0.5`. Only while buffer.replacement is fifo or
    lru.
    """
    flush_idle_us: float | None
    """All dirty pages go when no request has been open for so long; absent: they stay.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while buffer.replacement is fifo or lru.
    """
    read_hits: bool
    """Whether reads of pages in the write buffer are answered from it; else from the flash.

    Value: true or false. Default: `true`.
    """
