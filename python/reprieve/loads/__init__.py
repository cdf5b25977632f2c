"""Loads from traces: how the requests of a trace follow each other, and flows that do the same."""

from reprieve.loads.draws import drawn, requests_of
from reprieve.loads.fit import DRAWS, FittedLoad, fit
from reprieve.loads.order import Order, Requests, order
from reprieve.loads.side_by_side import Line, side_by_side

__all__ = [
    "DRAWS",
    "FittedLoad",
    "Line",
    "Order",
    "Requests",
    "drawn",
    "fit",
    "order",
    "requests_of",
    "side_by_side",
]
