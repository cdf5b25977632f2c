"""Many simulations on all cores, kept by what they are of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from reprieve.parallel import Workshop
from reprieve.result import Result
from reprieve.scenario import Source
from reprieve.simulation import Watch, simulate

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

    def source(self) -> Source:
        """Return it as a run takes it."""
        return Source.of(self.scenario, self.overrides)

    def simulate(self, watch: Watch) -> Result:
        """Run it."""
        return simulate(self.source(), watch=watch)


def simulate_all(workshop: Workshop, what: str, setups: Mapping[Key, Setup]) -> dict[Key, Result]:
    """Run every set-up side by side; `what` names the work for those who wait for it."""
    results = workshop.each(what, list(setups.values()), Setup.simulate)
    return dict(zip(setups, results, strict=True))
