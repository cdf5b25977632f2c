"""Reprieve: an SSD simulator with program and erase suspension, exact to the nanosecond.

>>> import reprieve as rp
>>> result = rp.run("scenario.toml", policy="PES-IPC")
>>> result.latency("read").percentile(99.99)  # ns

Every mistake of a user raises `UserError`, one sentence that says what would be right.
"""

from reprieve._native import UserError, __version__
from reprieve.comparison import Comparison, compare
from reprieve.die_rig import RigRow, rig
from reprieve.power_loss import PowerLoss, power_loss
from reprieve.registries import Entry, device, devices, load, loads, part, parts, policies
from reprieve.result import Latency, Result
from reprieve.simulation import run
from reprieve.sweeps import Sweep, sweep
from reprieve.traces import Trace, TraceDevice, TraceRow, open_trace, workload_info

__all__ = [
    "Comparison",
    "Entry",
    "Latency",
    "PowerLoss",
    "Result",
    "RigRow",
    "Sweep",
    "Trace",
    "TraceDevice",
    "TraceRow",
    "UserError",
    "__version__",
    "compare",
    "device",
    "devices",
    "load",
    "loads",
    "open_trace",
    "part",
    "parts",
    "policies",
    "power_loss",
    "rig",
    "run",
    "sweep",
    "workload_info",
]
