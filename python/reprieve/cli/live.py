"""A run while it goes on, on the terminal: rate, percentiles so far, suspensions, busy dies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from reprieve.cli.console import table
from reprieve.simulation import Glance, Look, Watch

# Adding up the latencies takes about a millisecond: four times a second nobody notices.
_LOOKS_APART_S = 0.25
_STEPS = " ▁▂▃▄▅▆▇█"
# Dies of larger drives share a place, so that the line fits a terminal of 80 columns.
_PLACES = 64


@contextmanager
def live(label: str) -> Iterator[tuple[Watch, Look]]:
    """Show a run while it goes on.

    Give both to the run: the first moves the bar, the second what is beneath it.
    """
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    )
    task = bar.add_task(label, total=None)
    view = View()
    console = Console(stderr=True)
    with Live(bar, console=console, transient=True, refresh_per_second=4) as shown:

        def watch(share: float | None, _requests: int) -> None:
            bar.update(task, completed=share or 0.0, total=None if share is None else 1.0)

        def look(glance: Callable[[], Glance | None]) -> None:
            now_s = time.perf_counter()
            if view.is_due(now_s) and (seen := glance()) is not None:
                shown.update(Group(bar, view.draw(seen, now_s)))

        yield watch, look


class View:
    """Draws glances at a run, each with what has passed since the one before."""

    def __init__(self) -> None:
        self._last: tuple[float, Glance] | None = None

    def is_due(self, now_s: float) -> bool:
        """Return whether the last glance is old enough for another; `now_s`: a monotonic clock."""
        return self._last is None or now_s - self._last[0] >= _LOOKS_APART_S

    def draw(self, glance: Glance, now_s: float) -> Table:
        """Return a table of the run's results so far."""
        before_s, before = self._last or (now_s, glance)
        began = glance["simulated_ns"] < before["simulated_ns"]
        if began or sum(glance["suspensions"]) < sum(before["suspensions"]):
            # It is simulated once more, or measured only from now on.
            before_s, before = now_s, glance
        self._last = (now_s, glance)
        wall_s = now_s - before_s
        passed_ns = glance["simulated_ns"] - before["simulated_ns"]
        lines = Table.grid(padding=(0, 2))
        lines.add_column(style="dim")
        lines.add_column()
        lines.add_row("simulated", _pace(glance, before, wall_s))
        lines.add_row("latency", _latencies(glance))
        lines.add_row("suspended", _suspensions(glance, before, passed_ns))
        lines.add_row("dies", _dies(glance, before, passed_ns))
        return lines


def _pace(glance: Glance, before: Glance, wall_s: float) -> str:
    simulated = f"{glance['simulated_ns'] / 1e9:,.3f} s"
    if wall_s <= 0:
        return simulated
    requests = (sum(glance["completed"]) - sum(before["completed"])) / wall_s
    pages = (glance["page_transactions"] - before["page_transactions"]) / wall_s
    pace = (glance["simulated_ns"] - before["simulated_ns"]) / 1e9 / wall_s
    return (
        f"{simulated}, {pace:,.3g} × real time; {requests:,.0f} requests/s, "
        f"{pages:,.0f} page transactions/s"
    )


def _latencies(glance: Glance) -> Table:
    rows = table("", ["µs, so far", "requests", "p50", "p99", "p99.9"])
    for kind, count, percentiles_ns in zip(
        ("read", "write"), glance["completed"], glance["percentiles_ns"], strict=True
    ):
        cells = [f"{ns / 1000:,.1f}" if count else "–" for ns in percentiles_ns]
        rows.add_row(kind, f"{count:,}", *cells)
    return rows


def _suspensions(glance: Glance, before: Glance, passed_ns: int) -> str:
    programs, erases = glance["suspensions"]
    text = f"{programs:,} programs, {erases:,} erases"
    if passed_ns > 0:
        lately = (programs + erases - sum(before["suspensions"])) * 1e9 / passed_ns
        text += f"; of late {lately:,.0f} a simulated second"
    return f"{text}; now on {glance['suspended_dies']:,} of {len(glance['die_busy_ns']):,} dies"


def _dies(glance: Glance, before: Glance, passed_ns: int) -> Text:
    """Return the load of the dies since the last glance, a place each, or some dies a place."""
    if passed_ns <= 0:
        return Text("–")
    shares = [
        (now_ns - before_ns) / passed_ns
        for now_ns, before_ns in zip(glance["die_busy_ns"], before["die_busy_ns"], strict=True)
    ]
    bar = "".join(_STEPS[round(share * (len(_STEPS) - 1))] for share in places(shares, _PLACES))
    return Text.assemble((bar, "cyan"), f"  busy {100 * sum(shares) / len(shares):.0f} %")


def places(shares: Sequence[float], most: int) -> list[float]:
    """Return the shares, or the means of neighbours if there are more than `most`."""
    count = min(len(shares), most)
    ends = [index * len(shares) // count for index in range(count + 1)]
    return [sum(shares[begin:end]) / (end - begin) for begin, end in pairwise(ends)]
