"""A run while it goes on, on the terminal: a bar with the tails and the suspensions so far."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from reprieve.simulation import Glance, Look, Watch

# Adding up the latencies takes about a millisecond: four times a second nobody notices.
_LOOKS_APART_S = 0.25


@contextmanager
def live(label: str) -> Iterator[tuple[Watch, Look]]:
    """Show a run while it goes on.

    Give both to the run: the first moves the bar, the second what is beside it.
    """
    columns = (
        *(TextColumn("{task.description}"), BarColumn(bar_width=20)),
        *(TaskProgressColumn(), TimeRemainingColumn(), TextColumn("[dim]{task.fields[seen]}")),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task, looked_s = bar.add_task(label, total=None, seen=""), 0.0

        def watch(share: float | None, _requests: int) -> None:
            bar.update(task, completed=share or 0.0, total=None if share is None else 1.0)

        def look(glance: Callable[[], Glance | None]) -> None:
            nonlocal looked_s
            now_s = time.perf_counter()
            if now_s - looked_s >= _LOOKS_APART_S and (seen := glance()) is not None:
                looked_s = now_s
                bar.update(task, seen=said(seen))

        yield watch, look


def said(glance: Glance) -> str:
    """Return the p99 of reads and writes, and the suspensions, that there were so far."""
    sides = zip(("read", "write"), glance["completed"], glance["percentiles_ns"], strict=True)
    told = [f"{kind} p99 {p99 / 1000:,.0f} µs" for kind, count, (_, p99, _) in sides if count]
    return ", ".join([*told, f"{sum(glance['suspensions']):,} suspensions"])
