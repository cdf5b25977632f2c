"""One piece of work of an experiment, wherever it is done: a task and the row it becomes."""

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reprieve._native import UserError, __version__
from reprieve.experiments.identity import Identities
from reprieve.latency import KINDS
from reprieve.result import Result
from reprieve.scenario import Source
from reprieve.simulation import Watch, simulate

__all__ = ["Row", "Simulation", "Task", "packed", "perform"]

SCHEMA = 4


@dataclass(frozen=True)
class Task:
    """Work to be done, once."""

    run: str
    """Its identity."""
    label: str
    """Stands before its errors, unless it is empty."""
    work: Callable[[Watch], str]
    """Returns what is stored, a JSON text; can be pickled where other processes do it."""


@dataclass(frozen=True)
class Row:
    """A finished task: its text, or the sentence of why it failed."""

    run: str
    text: str | None
    error: str | None = None


@dataclass(frozen=True)
class Simulation:
    """The work of simulating a scenario under overrides."""

    run: str
    source: Source
    sets: tuple[str, ...]

    def __call__(self, watch: Watch) -> str:
        """Simulate it; UserError if this machine has another version, or other files."""
        found = Identities(self.source).of(self.sets)
        if found != self.run:
            raise UserError(
                f"on {socket.gethostname()}, with reprieve {__version__}, this is another run "
                "than where the sweep began; give all workers the same version and files"
            )
        return packed(simulate(self.source.with_sets(self.sets), watch=watch))

    def check_travels(self) -> None:
        """Refuse policies in Python that other machines cannot have."""
        self.source.with_sets(self.sets).split().check_travels()


def perform(task: Task, watch: Watch) -> Row:
    """Do a task; a mistake or a fault becomes its row's error."""
    try:
        return Row(task.run, task.work(watch))
    except UserError as error:
        return Row(task.run, None, f"{task.label}: {error}" if task.label else str(error))
    except BaseException as error:
        # A panic of the simulator is no Exception, and ends one run and not a million.
        if type(error).__name__ != "PanicException":
            raise
        return Row(task.run, None, f"{task.label}: fault: {error}")


def packed(result: Result) -> str:
    """Return the text that is stored of a run: numbers, batches, and its histograms."""
    histograms = {
        what: [np.diff(one.upper_ns, prepend=0).tolist(), one.count.tolist()]
        for what, one in ((what, result.latency(what)) for what in KINDS)
    }
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "summary": result.summary,
        "batches": result.batches,
        "machine": result.machine,
        "histograms": histograms,
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False)
