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


def simulate_from_states(
    workshop: Workshop,
    what: str,
    setups: Mapping[Key, tuple[Shape, Setup]],
    settle: Callable[[Shape, Path, Watch], object],
) -> dict[Key, rp.Result]:
    """Run every set-up from the state of its drive, to which each shape is brought once.

    `settle` saves the state of a drive of a shape at a path.
    """
    shapes = list(dict.fromkeys(shape for shape, _ in setups.values()))
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        states = {shape: Path(folder, f"{number}") for number, shape in enumerate(shapes)}

        def bring(shape: Shape, watch: Watch) -> None:
            settle(shape, states[shape], watch)

        def simulate(one: tuple[Shape, Setup], watch: Watch) -> rp.Result:
            return one[1].simulate(watch, from_state=states[one[0]])

        workshop.each("bringing the drives to their state", shapes, bring)
        results = workshop.each(what, list(setups.values()), simulate)
    return dict(zip(setups, results, strict=True))


def simulate_all(
    workshop: Workshop, what: str, setups: Mapping[Key, Setup]
) -> dict[Key, rp.Result]:
    """Run every set-up side by side; `what` names the work for those who wait for it."""
    results = workshop.each(what, list(setups.values()), Setup.simulate)
    return dict(zip(setups, results, strict=True))
