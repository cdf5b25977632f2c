"""A part on the bench: its programs suspended again and again, with every pair of two delays."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import _native
from reprieve._native import Table, UserError
from reprieve.reliability import CharacterisedRber, characterised
from reprieve.scenario import Source, toml_text
from reprieve.tables import Column, of_columns

__all__ = [
    "ALIKE",
    "LENGTH_SHARE",
    "START_SHARE",
    "STEPS",
    "VARIETY",
    "Grid",
    "Integers",
    "Measured",
    "measure",
]

STEPS = 10
"""Delays go from a tenth of the undisturbed program to the whole of it."""

LENGTH_SHARE = 0.05
"""Iterations of a wordline are longer or shorter than the part's by up to this share: assumed."""
START_SHARE = 1.0
"""The first begins up to this share of an iteration after the confirmation: assumed."""

VARIETY = (LENGTH_SHARE, START_SHARE)
"""Differences between wordlines beside their numbers of iterations."""
ALIKE = (0.0, 0.0)
"""Not at all."""

Integers = NDArray[np.int64]
Grid = NDArray[np.float64]
"""A number for each pair of delays: first delay down, second across; NaN where there is none."""


@dataclass(frozen=True)
class Measured:
    """Every run of a part."""

    part: str
    wordlines: int
    seed: int
    columns: dict[str, Integers]
    """As the simulator gives them: every pair of steps, and delays drawn around them."""
    bench: Source | None = None
    """The scenario of the bench, which knows the part's rates of errors too."""

    @cached_property
    def grid(self) -> dict[str, Integers]:
        """The runs whose delays are the steps themselves, as in the paper."""
        return self._some(is_drawn=0)

    @cached_property
    def drawn(self) -> dict[str, Integers]:
        """The runs whose delays were drawn from within half a step."""
        return self._some(is_drawn=1)

    def _some(self, is_drawn: int) -> dict[str, Integers]:
        chosen = self.columns["is_drawn"] == is_drawn
        return {name: column[chosen] for name, column in self.columns.items()}

    @property
    def mean_suspensions(self) -> float:
        """Of each program."""
        return float(self.grid["suspensions"].mean())

    def error_rates(
        self, cycles: float, run_cycles: float, elapsed_days: float
    ) -> CharacterisedRber | None:
        """Return rates of raw bit errors by the part's model; None if the part has none.

        Both blocks have `cycles` before; the procedure adds `run_cycles` to one and takes
        `elapsed_days`.
        """
        if self.bench is None:
            return None
        found = characterised(self.bench, cycles, run_cycles, self.mean_suspensions, elapsed_days)
        return found if found.suspended.after > 0 else None

    @cached_property
    def runs(self) -> Table:
        """One row a program; tEPS is null where it was not suspended."""
        native = self.columns
        mean = self.program_ns
        suspensions = native["suspensions"]
        was_suspended = suspensions > 0
        mean_ns = native["t_eps_total_ns"] / np.maximum(suspensions, 1)
        return of_columns(
            {
                **{
                    f"delay{one}_share": np.where(
                        native["is_drawn"] == 1,
                        native[f"delay{one}_ns"] / mean,
                        native[f"delay{one}_tenths"] / STEPS,
                    )
                    for one in (1, 2)
                },
                "drawn": native["is_drawn"] == 1,
                "wordline": native["wordline"],
                "page_type": native["page_type"],
                "suspensions": suspensions,
                "t_eps_mean_ns": Column(mean_ns, was_suspended),
                "t_eps_worst_ns": Column(native["t_eps_worst_ns"], was_suspended),
                "t_program_suspended_ns": native["t_program_suspended_ns"],
                "t_timers_ns": native["t_timers_ns"],
                "t_program_ns": native["t_program_ns"],
            }
        )

    @cached_property
    def program_ns(self) -> float:
        """The mean undisturbed program of the wordlines: the 100 % of all delays and figures."""
        return float(self.columns["t_program_ns"].mean())

    def suspensions(self) -> dict[int, int]:
        """Return the number of programs by number of suspensions, from none to the most."""
        counts = np.bincount(self.grid["suspensions"])
        return {number: int(count) for number, count in enumerate(counts)}

    def percent_of_program(self, name: str, *, worst: bool, drawn: bool = False) -> Grid:
        """Mean or worst of a length, over all programs of a pair of delays, in % of tPGM."""
        return self._cells(name, None, worst=worst, drawn=drawn)

    def percent_of_eps(self, *, worst: bool, drawn: bool = False) -> Grid:
        """Mean or worst tEPS over all suspensions of a pair of delays, in % of tPGM."""
        name = "t_eps_worst_ns" if worst else "t_eps_total_ns"
        return self._cells(name, "suspensions", worst=worst, drawn=drawn)

    def _cells(self, name: str, counted: str | None, *, worst: bool, drawn: bool) -> Grid:
        columns = self.drawn if drawn else self.grid
        cell = (columns["delay1_tenths"] - 1) * STEPS + columns["delay2_tenths"] - 1
        values = columns[name]
        shape = STEPS * STEPS
        weights = None if counted is None else columns[counted]
        counts = np.bincount(cell, weights=weights, minlength=shape)
        if worst:
            found = np.zeros(shape)
            np.maximum.at(found, cell, values)
        else:
            sums = np.bincount(cell, weights=values, minlength=shape)
            found = sums / np.where(counts > 0, counts, 1)
        found = np.where(counts > 0, found, np.nan)
        grid: Grid = (100 * found / self.program_ns).reshape(STEPS, STEPS)
        return grid


def measure(
    part: str,
    overrides: Mapping[str, Any] | Sequence[str],
    wordlines: int,
    seed: int,
    variety: tuple[float, float] = VARIETY,
) -> Measured:
    """Put the part on the bench; raises UserError if it cannot be measured.

    `part`: name of a built-in part, or path of a part's file. `overrides`: keys of the scenario, as
    for `run`, or each `KEY=VALUE` in TOML. `wordlines`: how many, drawn at random from a block.
    `variety`: how far the iterations of wordlines differ in length, and their starts, as shares.
    """
    if wordlines < 1:
        raise UserError(f"--wordlines {wordlines}: must be at least 1")
    # The bench has one die; what a scenario needs besides plays no part.
    bench = {
        "seed": seed,
        "part": part,
        "geometry": {"channels": 1, "dies_per_channel": 1},
        "ftl": {"over_provisioning": 0.5},
    }
    length, start = variety
    if not (0 <= length < 1 and 0 <= start <= 1):
        raise UserError(f"variety = {variety}: must be shares, the first below 1")
    if isinstance(overrides, Mapping):
        overrides = Source.of({}, overrides).sets
    source = Source(toml_text(bench), "PART", tuple(overrides))
    try:
        columns = _native.characterize(
            source.text, source.path, list(source.sets), wordlines, variety
        )
    except UserError as error:
        # The user has written no such line: the name was given, by itself.
        raise UserError(re.sub(r"^PART:\d+: (?=part = )", "", str(error))) from None
    return Measured(part, wordlines, seed, columns, source)
