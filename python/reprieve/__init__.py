"""Reprieve: an SSD simulator with program and erase suspension, exact to the nanosecond.

>>> import reprieve as rp
>>> result = rp.run("scenario.toml", policy="PES-IPC")
>>> result.latency("read").percentile(99.99)  # ns

Every mistake of a user raises `UserError`, one sentence that says what would be right.
"""

import reprieve.loading  # noqa: F401 # before all that takes time

# isort: split
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING

from reprieve._native import UserError, __version__
from reprieve.words import in_python

if TYPE_CHECKING:
    from reprieve.array import Array
    from reprieve.comparison import Comparison, compare
    from reprieve.die_rig import PowerStep, RigRow, rig, rig_power
    from reprieve.drive import Completion, Drive, SimpyDrive
    from reprieve.experiments import Sweep, sweep
    from reprieve.kv_cache import KvCache, Prompts
    from reprieve.latency import Latency
    from reprieve.policy import (
        Choice,
        Decision,
        DieView,
        OperationView,
        Scheduler,
        SuspendView,
        SuspensionPolicy,
    )
    from reprieve.power_failure import PowerLoss, power_loss
    from reprieve.registries import Entry, device, devices, load, loads, part, parts, policies
    from reprieve.result import Result
    from reprieve.scenario import Scenario
    from reprieve.sensitivity import Sensitivity, what_if
    from reprieve.serving import ServedDrive, ServeOptions, serve
    from reprieve.simulation import run
    from reprieve.traces import (
        Trace,
        TraceDevice,
        TraceRow,
        open_trace,
        workload_head,
        workload_info,
    )
    from reprieve.tuning import Tuning, tune
    from reprieve.tuning.choices import which

__all__ = [
    "Array",
    "Choice",
    "Comparison",
    "Completion",
    "Decision",
    "DieView",
    "Drive",
    "Entry",
    "KvCache",
    "Latency",
    "OperationView",
    "PowerLoss",
    "PowerStep",
    "Prompts",
    "Result",
    "RigRow",
    "Scenario",
    "Scheduler",
    "Sensitivity",
    "ServeOptions",
    "ServedDrive",
    "SimpyDrive",
    "SuspendView",
    "SuspensionPolicy",
    "Sweep",
    "Trace",
    "TraceDevice",
    "TraceRow",
    "Tuning",
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
    "rig_power",
    "run",
    "serve",
    "sweep",
    "tune",
    "what_if",
    "which",
    "workload_head",
    "workload_info",
]

_PLACES = {
    "array": "Array",
    "comparison": "Comparison compare",
    "die_rig": "PowerStep RigRow rig rig_power",
    "drive": "Completion Drive SimpyDrive",
    "kv_cache": "KvCache Prompts",
    "policy": "Choice Decision DieView OperationView Scheduler SuspendView SuspensionPolicy",
    "power_failure": "PowerLoss power_loss",
    "registries": "Entry device devices load loads part parts policies",
    "latency": "Latency",
    "result": "Result",
    "scenario": "Scenario",
    "sensitivity": "Sensitivity what_if",
    "serving": "ServeOptions ServedDrive serve",
    "simulation": "run",
    "experiments": "Sweep sweep",
    "tuning": "Tuning tune",
    "tuning.choices": "which",
    "traces": "Trace TraceDevice TraceRow open_trace workload_head workload_info",
}
"""Names by the module that has them, which is imported when one is asked for first."""

# Hidden from type checkers, who would believe that every name exists.
if not TYPE_CHECKING:

    def __getattr__(name):
        for module, names in _PLACES.items():
            if name in names.split():
                value = getattr(import_module(f"reprieve.{module}"), name)
                if isinstance(value, FunctionType):
                    value = in_python(value)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'reprieve' has no attribute {name!r}")

    def __dir__():
        return __all__
