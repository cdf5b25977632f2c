"""Many simulations on all cores, kept by what they are of."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from reprieve.parallel import each
from reprieve.result import Result
from reprieve.scenario import Source
from reprieve.simulation import Watch, simulate

Step = Callable[[str, int, int], None]
"""Takes what is being done, how many pieces of work are done, and how many there are."""

Overrides = Mapping[str, Any]
"""Keys of the scenario, dotted, and their values."""

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


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


class Workshop:
    """Does pieces of work side by side and says how far it is."""

    def __init__(self, jobs: int | None, step: Step, pieces: int) -> None:
        self._jobs = jobs
        self._step = step
        self._pieces = pieces
        self._done = 0
        self._lock = threading.Lock()

    def each(
        self, what: str, items: Sequence[Key], one: Callable[[Key, Watch], Made]
    ) -> dict[Key, Made]:
        """Do `one` for every item; `what` names the work for those who wait for it."""
        self._step(what, self._done, self._pieces)

        def counted(item: Key, watch: Watch) -> Made:
            made = one(item, watch)
            with self._lock:
                self._done += 1
                self._step(what, self._done, self._pieces)
            return made

        return dict(zip(items, each(items, self._jobs, counted), strict=True))

    def simulate(self, what: str, setups: Mapping[Key, Setup]) -> dict[Key, Result]:
        """Run every set-up."""
        return self.each(what, list(setups), lambda key, watch: setups[key].simulate(watch))
