"""Keys of `[measure]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from typing import Literal

from reprieve.sections import Keys


class Measure(Keys):
    """Keys of `[measure]`.

    From when on a run is measured; what comes before is simulated and not counted.
    """

    _section = "measure"

    from_request: int
    """Requests with a lower number in order of arrival are excluded.

    Value: an integer from 0 to 9223372036854775807. Default: `0`.
    """
    from_s: float
    """Requests that arrive earlier in simulated time are excluded.

    Value: a time in seconds, whole in nanoseconds, from 0 to 1000000000. Default: `0`.
    """
    warmup: Literal["none", "auto"]
    """Who finds the end of the transient.

    Default: `"none"`. Source: auto: MSER-5; White, Simulation 69(6), 1997; White, Cobb and Spratt,
    Winter Simulation Conference 2000. `none`: Nothing is excluded but what the other keys say.
    `auto`: The run finds the end of its transient, and is simulated again from there.
    """
