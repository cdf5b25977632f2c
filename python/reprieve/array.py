"""An array of drives: stripes, parity, mirrors, and reads around drives that are late."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reprieve import words
from reprieve._native import DriveArray, Table, UserError
from reprieve.scenario import ScenarioLike, Source, toml_value

__all__ = ["Array", "Reads"]

Reads = Literal["direct", "around-writes", "around-windows", "fast-fail", "hedged"]
"""How an array serves reads."""

_OPS = ("read", "write", "trim", "flush")


class Array:
    """An array of drives in simulated time: RAID 0, 1, 5 and 6, or any number of parity chunks.

    `scenario` and `overrides`: the drives, as for `Drive`; each has a seed of its own, which
    follows from the scenario's.
    `drives`: their number.
    `parity`: the number of parity chunks in each stripe, on drives by turns: 1 for RAID 5, 2 for
    RAID 6.
    `mirrors`: the number of copies of each chunk, 2 for RAID 1 or 10.
    `chunk_bytes`: the length of a stripe on one drive.
    `read`: "direct"; "around-writes", from other drives while the drive has writes of the array to
    do and enough others have none; "around-windows", from others in the drive's busy window or
    turn to collect; "fast-fail", from others if the drive collects on a die that has the data, and
    refuses the read; or "hedged", from other drives as well if there is no answer after
    `hedge_after_us`.
    `busy_window_us`: the length of busy windows, in which drives take turns: only there does a
    drive collect garbage that it need not yet.
    `collecting_drives`: the number of drives of a stripe that may collect at a time garbage that
    they need not yet: those that lack the most free blocks, chosen anew each `collection_poll_us`.
    `controller_ns`: the time from the last read of a partial write to its writes, from a read to
    its refusal, and in a closed load from a completion to the next request.
    `parity_log`: whether the parity of a partial write is logged first, so that a loss of power
    tears no stripe; only with one chunk of parity.
    `failed`: the numbers of drives that have failed: reads are reconstructed.
    `rebuild`: the number of a failed drive that a new one replaces at time 0.
    `rebuild_stripes`: the number of stripes that are rebuilt together.
    `rebuild_bytes_per_s`: the most at which the new drive is written, in bytes per s.
    `load`: whether the scenario's workload is submitted, with the addresses of the array. It may
    be a closed one, which keeps its queue depth.
    `threads`: the number of threads, by default that of cores; the result does not depend on it.

    Raises UserError if an argument is wrong, and so does each method.

    >>> array = rp.Array({"device": "fast12-slc"}, drives=5, parity=1, chunk_bytes=2048)
    >>> array.submit([0, 500_000], write=[True, False], offset=[0, 0], bytes=[2048, 8192])
    >>> rows = array.run()
    >>> rows["completion_ns"], rows["drive_reads"], rows["drive_writes"]
    ([193048, 531024], [2, 4], [2, 0])
    """

    def __init__(
        self,
        scenario: ScenarioLike | Source,
        *,
        drives: int,
        parity: int = 0,
        mirrors: int = 1,
        chunk_bytes: int = 65536,
        read: Reads = "direct",
        hedge_after_us: float | None = None,
        busy_window_us: float | None = None,
        collecting_drives: int | None = None,
        collection_poll_us: float = 1000,
        controller_ns: int = 1000,
        parity_log: bool = False,
        failed: Sequence[int] = (),
        rebuild: int | None = None,
        rebuild_stripes: int = 16,
        rebuild_bytes_per_s: float | None = None,
        threads: int | None = None,
        load: bool = False,
        **overrides: object,
    ) -> None:
        drives = words.whole("drives", drives, 1, 65535)
        whole = {"parity": parity, "mirrors": mirrors, "chunk_bytes": chunk_bytes}
        whole |= {"controller_ns": controller_ns, "rebuild_stripes": rebuild_stripes}
        maybe = {"threads": threads, "rebuild": rebuild, "collecting_drives": collecting_drives}
        whole |= {name: value for name, value in maybe.items() if value is not None}
        reals = {"hedge_after_us": hedge_after_us, "busy_window_us": busy_window_us}
        reals |= {"rebuild_bytes_per_s": rebuild_bytes_per_s}
        reals = {name: value for name, value in reals.items() if value is not None}
        reals |= {"collection_poll_us": collection_poll_us}
        if read not in get_args(Reads):
            choices = ", ".join(f'"{word}"' for word in get_args(Reads))
            raise UserError(f'read = "{read}": must be one of {choices}')
        if parity_log not in (True, False):
            raise UserError(f"parity_log = {parity_log!r}: must be True or False")
        numbers = [words.whole("failed", drive, 0, drives - 1) for drive in np.atleast_1d(failed)]
        options: dict[str, Any] = {"drives": drives, "read": read, "failed": numbers}
        options |= {"parity_log": parity_log}
        options |= {name: words.whole(name, value) for name, value in whole.items()}
        options |= {name: words.real(name, value) for name, value in reals.items()}
        table = "".join(f"{name} = {toml_value(value)}\n" for name, value in options.items())
        source = scenario if isinstance(scenario, Source) else Source.of(scenario, overrides)
        source = source.built_in("a drive of an array runs without Python, and its policy cannot")
        # A command has a source, whose mistakes are of its options.
        made = DriveArray if source is scenario else words.in_python(DriveArray)
        self._array = made(source.text, source.path, list(source.sets), table, load)

    @property
    def capacity_bytes(self) -> int:
        """The capacity for data."""
        return self._array.capacity_bytes

    @property
    def now_ns(self) -> int:
        """The first time at which a request may arrive: all before it is simulated."""
        return self._array.now_ns

    def submit(
        self, arrival_ns: ArrayLike, write: ArrayLike, offset: ArrayLike, bytes: ArrayLike
    ) -> None:
        """Submit requests in bulk, in any order, for the next `run`.

        Each argument has one value for each request: its arrival in ns, from `now_ns` on; True for
        a write and False for a read, or "read", "write", "trim" or "flush"; its first byte and its
        length, multiples of 512, of a flush 0.
        """
        given = np.asarray(write)
        op = np.select([given == word for word in _OPS], range(len(_OPS)), -1).astype(np.int8)
        if given.size and given.dtype == np.bool_:
            op = given.astype(np.int8)
        if given.ndim != 1 or op.min(initial=0) < 0:
            known = ", ".join(f'"{word}"' for word in _OPS)
            raise UserError(f"write: must be a sequence of True and False, or of {known}")
        columns = {"arrival_ns": arrival_ns, "offset": offset, "bytes": bytes}
        whole = {name: _whole_numbers(name, values) for name, values in columns.items()}
        for name, values in whole.items():
            if len(values) != len(op):
                lengths = f"{len(values)} values, and write {len(op)}"
                raise UserError(f"{name} has {lengths}: must have one for each request")
        self._array.submit(op=op.astype(np.uint8), **whole)

    def run(
        self, *, until_rebuilt: bool = False, watch: Callable[[float], None] | None = None
    ) -> Table:
        """Run until every submitted request is complete; return a row for each, in their order.

        Columns `arrival_ns`, `op`, `write`, `offset`, `bytes`, `completion_ns`; `drive_reads` and
        `drive_writes`, the operations of drives; `reconstructed_reads` and `hedged_reads`, the
        chunks read from other drives at once, and as well. Polars, pyarrow and DuckDB take the
        table; `rows["completion_ns"]` is a list, and `rows.array("completion_ns")` an array.

        `until_rebuilt`: whether to go on until the replaced drive has all its data, at
        `summary()["rebuild"]["end_ns"]`.
        `watch`: gets the share of the requests that were sent, now and then.
        """
        return self._array.run(until_rebuilt, watch)

    def summary(self) -> dict[str, Any]:
        """Return latencies of reads and writes in ns, counts, and the summary of each drive.

        `rebuild`: how far it is. `write_hole`: the mean number of stripes of which some writes are
        done and others not, and of those that a loss of power would tear.
        """
        summary: dict[str, Any] = json.loads(self._array.summary())
        return summary


def _whole_numbers(name: str, values: ArrayLike) -> NDArray[np.uint64]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise UserError(f"{name}: must be a sequence of whole numbers")
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        raise UserError(f"{name} = {array.min()}: must not be negative")
    return array.astype(np.uint64)
