"""Many simulations on all cores, kept by what they are of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import reprieve as rp
from reprieve.parallel import Watch, Workshop

Overrides = Mapping[str, Any]
"""Keys of the scenario, dotted, and their values."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Setup:
    """A scenario: what it starts from, and what differs."""

    scenario: Overrides
    """Of the form of the file: sections are mappings."""
    overrides: Overrides

    def with_overrides(self, overrides: Overrides) -> Setup:
        """Return the same with further overrides, which win."""
        return Setup(self.scenario, {**self.overrides, **overrides})

    def resolved(self) -> rp.Scenario:
        """Return every key with the value that holds."""
        return rp.Scenario(**self.scenario).replace(**self.overrides).resolve()

    def simulate(self, watch: Watch, **how: Any) -> rp.Result:
        """Run it; `how`: arguments of `reprieve.run`."""
        return rp.run(self.scenario, watch=watch, **how, **self.overrides)


Shape = TypeVar("Shape", bound=Hashable)
Job = TypeVar("Job")
Made = TypeVar("Made")


def simulate_from_states(
    workshop: Workshop,
    what: str,
    setups: Mapping[Key, tuple[Shape, Setup]],
    settle: Callable[[Shape, Path, Watch], object],
) -> dict[Key, rp.Result]:
    """Run every set-up from the state of its drive, to which each shape is brought once.

    `settle` saves the state of a drive of a shape at a path.
    """

    def simulate(setup: Setup, state: Path | None, watch: Watch) -> rp.Result:
        return setup.simulate(watch, from_state=state)

    return each_from_states(workshop, what, setups, settle, simulate)


def each_from_states(
    workshop: Workshop,
    what: str,
    jobs: Mapping[Key, tuple[Shape | None, Job]],
    settle: Callable[[Shape, Path, Watch], object],
    one: Callable[[Job, Path | None, Watch], Made],
) -> dict[Key, Made]:
    """Do the same for any work with a drive, and keep no more of a run than `one` returns.

    A job without a shape gets no state: its drive starts as its scenario says.
    """
    shapes = [shape for shape, _ in jobs.values() if shape is not None]
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        numbered = enumerate(dict.fromkeys(shapes))
        states = {shape: Path(folder, f"{number}") for number, shape in numbered}

        def bring(shape: Shape, watch: Watch) -> None:
            settle(shape, states[shape], watch)

        def work(job: tuple[Shape | None, Job], watch: Watch) -> Made:
            shape, own = job
            return one(own, None if shape is None else states[shape], watch)

        workshop.each("bringing the drives to their state", list(states), bring)
        made = workshop.each(what, list(jobs.values()), work)
    return dict(zip(jobs, made, strict=True))


def simulate_all(
    workshop: Workshop, what: str, setups: Mapping[Key, Setup]
) -> dict[Key, rp.Result]:
    """Run every set-up side by side; `what` names the work for those who wait for it."""
    results = workshop.each(what, list(setups.values()), Setup.simulate)
    return dict(zip(setups, results, strict=True))
