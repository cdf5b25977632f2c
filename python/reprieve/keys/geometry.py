"""Keys of `[geometry]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from reprieve.sections import Keys


class Geometry(Keys):
    """Keys of `[geometry]`.

    How many of what the drive has; at most 2147483632 pages in all.
    """

    _section = "geometry"

    channels: int
    """Independent buses between controller and flash.

    Value: an integer from 1 to 2147483648. It must be given.
    """
    dies_per_channel: int
    """Dies that share a channel.

    Value: an integer from 1 to 2147483648. It must be given.
    """
    chips_per_channel: int
    """Chips (packages) on a channel; divides dies_per_channel.

    Value: an integer from 1 to 2147483648. Default: that of `geometry.dies_per_channel`.
    """
    planes_per_die: int
    """Planes of a die.

    Value: an integer from 1 to 2147483648. It must be given.
    """
    blocks_per_plane: int
    """Erase blocks of a plane.

    Value: an integer from 1 to 2147483648. It must be given.
    """
    pages_per_block: int
    """Pages of a block.

    Value: an integer from 1 to 2147483648. It must be given.
    """
    page_bytes: int
    """User bytes of a page.

    Value: a multiple of 512 from 512 to 16777216. It must be given.
    """
