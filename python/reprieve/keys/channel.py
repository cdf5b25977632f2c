"""Keys of `[channel]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class Channel(Keys):
    """Keys of `[channel]`.

    What a channel carries, and in which order.
    """

    _section = "channel"

    order: Literal["asked", "data_first", "commands_first"]
    """Who of those that wait has the channel next.

    Default: `"asked"`. Source: data_first: measured on MQSim 7ec40e3. `asked`: As asked; where the
    scheduler prefers reads, theirs first. `data_first`: Pages that leave as asked, then dies in
    turn. `commands_first`: Commands of reads and erases, then as asked.
    """
    transfer_unit_bytes: int | None
    """A read sends out only the units of its page that it needs; absent: the whole page.

    Value: a multiple of 512 from 512 to 16777216, or "none". Default: absent.
    """
