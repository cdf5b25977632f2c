"""Drives that are filled once: a simulation starts from the state that one before it has saved."""

import json
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reprieve import _native
from reprieve._native import Simulation, Table, empty_log
from reprieve.scenario import Source
from reprieve.simulation import Drive, opened

_STEP_REQUESTS = 1 << 17
_NOT_IN_A_STATE = ("timing.t_", "timing.program_iterations", "host.", "suspension.", "buffer.bytes")
"""Keys that change latencies, but not the placement of pages."""


class FilledDrives:
    """Runs scenarios; those whose drives are full of the same pages start from one state.

    Filling a drive takes longer than the few thousand requests that are simulated afterwards. What
    a run gives is the same to the last bit, whether its drive was filled or its state was read.
    """

    def __init__(self) -> None:
        """Begin with no states, in a folder of their own."""
        self._folder = tempfile.TemporaryDirectory(prefix="reprieve-")
        self._states: dict[str, Path | None] = {}
        self.filled = 0

    def close(self) -> None:
        """Remove the states."""
        self._folder.cleanup()

    def requests(self, base: Any, keys: Mapping[str, object], jobs: Path) -> Table:
        """Run the jobs of a file of fio on a drive, and return the log of requests."""
        source = Source.of(base, {**keys, "workload.fio": str(jobs)})
        # A state depends on base, seed, and the values that are not of time alone.
        told = {key: value for key, value in keys.items() if not key.startswith(_NOT_IN_A_STATE)}
        place = json.dumps([base, told], sort_keys=True, default=str)
        state = self._states.get(place)
        split, _, simulation = opened(source, Drive(state), requests=True)
        if state is None:
            while not simulation.is_preconditioned():
                split.ask(simulation.step, 1)
            self.filled += 1
            if place not in self._states:
                self._states[place] = self._saved(simulation)
        parts = [empty_log()]
        more = True
        while more:
            more = split.ask(simulation.step, _STEP_REQUESTS)
            parts.append(simulation.take_log())
        return Table.joined(parts)

    def _saved(self, simulation: Simulation) -> Path | None:
        """Save a filled drive; one that ran in depends on more than it is keyed by."""
        scenario = tomllib.loads(simulation.scenario)
        if scenario["ftl"]["precondition"] != "sequential":
            return None
        # Threads that fill the same drive at once each save it, and the last is kept.
        path = Path(self._folder.name, f"{self.filled}-{id(simulation)}.state")
        simulation.save_state(path)
        return path


def capacity_bytes(base: Any, keys: Mapping[str, object]) -> int:
    """Return what the drive of a scenario holds for its users."""
    source = Source.of(base, keys)
    return _native.capacity_bytes(source.text, source.path, list(source.sets))
