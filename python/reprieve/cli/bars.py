"""Bars on a terminal: one for each run, or one over many pieces of work."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text


def bars_of(columns: Sequence[ProgressColumn]) -> Progress:
    """Return bars with these columns, on stderr, which leave nothing behind."""
    return Progress(*columns, console=Console(stderr=True), transient=True)


class PieceRate(ProgressColumn):
    """Pieces of work a second."""

    def render(self, task: Task) -> Text:
        """Write it."""
        return Text(f"{task.speed or 0.0:,.1f}/s", style="dim")


class RequestRate(ProgressColumn):
    """Requests a second, of late if the share done is known, else since the run began."""

    def render(self, task: Task) -> Text:
        """Write it."""
        requests: int = task.fields["requests"]
        if task.speed and task.completed:
            rate = task.speed * requests / task.completed
        elif task.elapsed:
            rate = requests / task.elapsed
        else:
            rate = 0.0
        return Text(f"{rate:,.0f} requests/s", style="dim")


RUNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    TaskProgressColumn(),
    RequestRate(),
    TimeRemainingColumn(),
)
PIECES = (
    TextColumn("{task.description}"),
    BarColumn(),
    TextColumn("{task.completed:.0f}/{task.total:.0f}"),
    PieceRate(),
    TimeRemainingColumn(),
)
