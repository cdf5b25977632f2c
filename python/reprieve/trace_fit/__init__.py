"""Loads from traces: how the requests of a trace follow each other, and flows that do the same."""

from reprieve.trace_fit.draws import drawn, requests_of
from reprieve.trace_fit.fit import DRAWS, fit
from reprieve.trace_fit.order import Requests, order
from reprieve.trace_fit.side_by_side import Line, side_by_side
from reprieve.trace_fit.verdict import DEVICE, Verdict, verdict

__all__ = [
    "DEVICE",
    "DRAWS",
    "Line",
    "Requests",
    "Verdict",
    "drawn",
    "fit",
    "order",
    "requests_of",
    "side_by_side",
    "verdict",
]
