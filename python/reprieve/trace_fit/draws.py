"""Requests of a trace, and those that a scenario's loads draw."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import _native
from reprieve.scenario import ScenarioLike, Source
from reprieve.trace_fit.order import Requests
from reprieve.traces import Trace, workload_head

_ALL = (1 << 63) - 1


def requests_of(trace: Trace, count: int | None = None) -> Requests:
    """Return the first reads and writes of a trace, or all. Raises UserError if a row is wrong."""
    return Requests.of_rows(trace.head(_ALL if count is None else count))


def drawn(scenario: ScenarioLike, count: int | None = None, **overrides: Any) -> Requests:
    """Return the first reads and writes of a scenario's loads, or all; nothing is simulated.

    Raises UserError if the scenario is wrong, or if one of several flows is a closed loop.
    """
    return Requests.of_rows(workload_head(scenario, _ALL if count is None else count, **overrides))


def drawn_times(scenario: ScenarioLike, count: int) -> NDArray[np.int64]:
    """Return when the first reads and writes of a scenario's loads arrive, from the first, in ns.

    The same as `drawn(scenario, count).time_ns`, in a small part of the time.
    """
    source = Source.of(scenario, {})
    times = _native.workload_times(source.text, source.path, list(source.sets), count)
    return (times - times[:1]).astype(np.int64)
