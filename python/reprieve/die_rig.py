"""The rig: one die on its own channel, driven with raw commands."""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reprieve import _native
from reprieve._native import UserError
from reprieve.policy import OwnPolicies
from reprieve.scenario import Scenario, Source, toml_text
from reprieve.timeline import timeline_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PowerStep", "RigRow", "rig", "rig_columns", "rig_power"]


class RigRow(NamedTuple):
    """A command and its execution; times are whole nanoseconds.

    >>> (row,) = rp.rig("fast12-slc", [(500, "read", 0, 3, 0)])
    >>> row.op, row.block, row.start_ns, row.completion_ns - row.start_ns
    ('read', 3, 500, 30000)
    """

    arrival_ns: int
    """The time at which it was given to the die."""
    op: str
    """"read", "program" or "erase"."""
    plane: int
    """The number of the plane in the die."""
    block: int
    """The number of the block in the plane."""
    page: int
    """The number of the page in the block; an erase ignores it."""
    start_ns: int
    """The time at which the die began it."""
    completion_ns: int
    """The time at which it was complete."""
    suspensions: int
    """The number of times that it was suspended."""


COMMAND_COLUMNS = RigRow._fields[:5]
"""Columns of a command: `arrival_ns, op, plane, block, page`."""


def rig(
    device: str | Scenario,
    commands: Any,
    *,
    timeline: str | os.PathLike[str] | None = None,
    **overrides: Any,
) -> list[RigRow]:
    """Drive one die of `device` with raw commands: no FTL, no cache, no host link.

    `device`: name of a preset, path of a device file, or a scenario without a load.
    `commands`: each a sequence (arrival_ns, op, plane, block, page) or a mapping of those names;
    or an Arrow table or a data frame with those columns.
    `timeline`: draw what the die does into this file, for the Perfetto UI, phases included.
    `overrides`: keys of the scenario's timing, suspension and scheduling sections, as for `run`.

    Returns one row a command, in the order given. Raises UserError if a command is illegal.

    >>> commands = [(0, "program", 0, 0, 0), (100_000, "read", 0, 1, 0)]
    >>> for policy in ("RPS", "PES-IPC"):
    ...     for row in rp.rig("fast12-mlc", commands, policy=policy):
    ...         print(policy, row.op, row.start_ns, row.completion_ns, row.suspensions)
    RPS program 0 700000 0
    RPS read 700000 765000 0
    PES-IPC program 0 768000 1
    PES-IPC read 104000 169000 0
    """
    source, text = _asked(device, commands, overrides)
    output, _, drawn = run_commands(source, text, "commands", timeline=timeline is not None)
    if timeline is not None:
        with timeline_file(Path(timeline)) as file:
            file.write(drawn)
    return _rig_rows(output)


class PowerStep(NamedTuple):
    """The power that a die and its channel draw from a point in time on.

    >>> _, steps = rp.rig_power("tlc-enterprise", [(0, "read", 0, 0, 0)])
    >>> steps[1]
    PowerStep(time_ns=100, power_core_mw=82.5, power_io_mw=0.0)
    """

    time_ns: int
    """The time from which it holds, to the next step."""
    power_core_mw: float
    """The power of the array, in mW."""
    power_io_mw: float
    """The power of the interface, in mW."""


def rig_power(
    device: str | Scenario, commands: Any, **overrides: Any
) -> tuple[list[RigRow], list[PowerStep]]:
    """Do what `rig` does, and return each step of the power too; the arguments are those of `rig`.

    Raises UserError if a command is illegal, or if the part has no powers.

    >>> (row,), steps = rp.rig_power("tlc-enterprise", [(0, "read", 0, 0, 0)])
    >>> steps[-1].time_ns == row.completion_ns
    True
    """
    source, text = _asked(device, commands, overrides)
    metered = source.with_sets(["power.account=on"])
    output, steps, _ = run_commands(metered, text, "commands", power=True)
    rows = list(csv.reader(io.StringIO(steps)))[1:]
    return _rig_rows(output), [PowerStep(int(row[0]), *map(float, row[1:])) for row in rows]


def rig_columns(
    device: str | Scenario, commands: Mapping[str, "NDArray[Any]"], **overrides: Any
) -> dict[str, "NDArray[Any]"]:
    """Do what `rig` does with commands as columns, and return its rows as columns: for many.

    Raises UserError if a column is missing or shorter than the others, or if a command is illegal.
    """
    import numpy as np

    if missing := [name for name in COMMAND_COLUMNS if name not in commands]:
        raise UserError(f"commands: there is no column {', '.join(missing)}")
    columns = [np.asarray(commands[name]).tolist() for name in COMMAND_COLUMNS]
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(
            f"{name} {len(column)}" for name, column in zip(COMMAND_COLUMNS, columns, strict=True)
        )
        raise UserError(f"commands: the columns must be of one length, and have rows: {lengths}")
    source, text = _asked(device, zip(*columns, strict=True), overrides)
    output, *_ = run_commands(source, text, "commands")
    kinds = [(name, "U7" if name == "op" else "i8") for name in RigRow._fields]
    if not columns[0]:
        return {name: np.empty(0, kind) for name, kind in kinds}
    found = np.loadtxt(io.StringIO(output), np.dtype(kinds), delimiter=",", skiprows=1, ndmin=1)
    return {name: np.ascontiguousarray(found[name]) for name in RigRow._fields}


def _asked(
    device: str | Scenario, commands: Any, overrides: Mapping[str, Any]
) -> tuple[Source, str]:
    """Return the scenario of a rig and its commands as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COMMAND_COLUMNS)
    writer.writerows(_cells(row, number) for number, row in enumerate(_rows(commands), 1))
    return bench(device, overrides), text.getvalue()


def bench(device: str | Scenario, overrides: Mapping[str, Any]) -> Source:
    """Return the scenario of a rig, of a device or a scenario without a load, with overrides."""
    if isinstance(device, Scenario):
        return Source.of(device, overrides)
    return rig_source(device, Source.of({}, overrides).sets)


def _rig_rows(output: str) -> list[RigRow]:
    return [
        RigRow(int(row[0]), row[1], *(int(cell) for cell in row[2:]))
        for row in list(csv.reader(io.StringIO(output)))[1:]
    ]


def rig_source(device: str, sets: Sequence[str]) -> Source:
    """Return the scenario of a rig: a device and overrides."""
    return Source(toml_text({"device": device}), "--device", tuple(sets))


def run_commands(
    source: Source, commands: str, path: str, *, power: bool = False, timeline: bool = False
) -> tuple[str, str, bytes]:
    """Run commands in CSV; return what became of them and the steps of power, both as CSV.

    `path`: named in errors, with the row. `timeline`: return also what the die did, drawn.
    """
    split = source.split()
    own = split.with_objects(OwnPolicies()).methods()
    asked = (source.text, source.path, list(split.sets))
    return split.ask(_native.rig, asked, (commands, path), (power, timeline), own)


def _rows(commands: Any) -> Iterable[Any]:
    if hasattr(commands, "to_pylist"):  # an Arrow table
        commands = commands.to_pylist()
    elif hasattr(commands, "to_dict"):  # a pandas data frame
        commands = commands.to_dict("records")
    elif hasattr(commands, "to_dicts"):  # a polars data frame
        commands = commands.to_dicts()
    if not isinstance(commands, Iterable):
        raise UserError(f"commands: {commands!r} is not a list of rows {COMMAND_COLUMNS}")
    return commands


def _cells(row: Any, number: int) -> tuple[Any, ...]:
    if isinstance(row, Mapping) and set(row) >= set(COMMAND_COLUMNS):
        return tuple(row[column] for column in COMMAND_COLUMNS)
    if isinstance(row, Sequence) and not isinstance(row, str) and len(row) == len(COMMAND_COLUMNS):
        return tuple(row)
    raise UserError(f"commands: row {number}: {row!r} must have {', '.join(COMMAND_COLUMNS)}")
