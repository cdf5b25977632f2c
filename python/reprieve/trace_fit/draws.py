"""Requests of a trace, and those that a scenario's loads draw."""

from __future__ import annotations

from typing import Any

from reprieve.scenario import ScenarioLike
from reprieve.trace_fit.order import Requests
from reprieve.traces import Trace, workload_head

_ALL = (1 << 63) - 1


def requests_of(trace: Trace, count: int | None = None) -> Requests:
    """Return the first reads and writes of a trace, or all. UserError if a row is wrong."""
    return Requests.of_rows(trace.head(_ALL if count is None else count))


def drawn(scenario: ScenarioLike, count: int | None = None, **overrides: Any) -> Requests:
    """Return the first reads and writes of a scenario's loads, or all; nothing is simulated.

    UserError if the scenario is wrong, or if one of several flows is a closed loop.
    """
    return Requests.of_rows(workload_head(scenario, _ALL if count is None else count, **overrides))
