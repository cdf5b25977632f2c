"""One run of a sweep, wherever it is done: from a task to the file that is kept of it."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from reprieve._native import UserError, __version__
from reprieve.scenario import Source
from reprieve.simulation import Watch, simulate
from reprieve.sweeps.identity import run_id
from reprieve.sweeps.store import packed


@dataclass(frozen=True)
class Task:
    """A run that is to be done."""

    run: str
    """What it is known by."""
    source: Source
    label: str
    """Names its point in errors."""


def perform(task: Task, watch: Watch) -> bytes:
    """Do a run and return its file; raises UserError if it is not the run that was asked for.

    It is another one where this machine has another version, or other files under the same names.
    """
    try:
        result = simulate(task.source, watch=watch)
        found = run_id(result.scenario)
    except UserError as error:
        raise UserError(f"{task.label}: {error}") from None
    if found != task.run:
        raise UserError(
            f"{task.label}: on {socket.gethostname()}, with reprieve {__version__}, this is "
            "another run than where the sweep began; give all workers the same version and files"
        )
    return packed(result)
