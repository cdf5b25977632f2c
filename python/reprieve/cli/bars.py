"""Bars on a terminal, which leave nothing behind."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
from rich.progress import TimeRemainingColumn as Remaining

Move = Callable[[str, str, float | None, Callable[[float], str]], None]
"""Takes the key of a bar, its label, the share done (None if unknown; a bar that is full goes), and
the words beside it, by the seconds since it began."""


@contextmanager
def bars() -> Iterator[Move]:
    """Show bars on stderr; threads may move them."""
    words = TextColumn("{task.fields[words]}", style="dim")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), words)
    tasks: dict[str, TaskID] = {}
    lock = threading.Lock()
    console = Console(stderr=True)
    with Progress(*columns, Remaining(), console=console, transient=True) as shown:

        def move(key: str, label: str, share: float | None, told: Callable[[float], str]) -> None:
            with lock:
                if key not in tasks:
                    tasks[key] = shown.add_task(label, total=None, words="")
            task = tasks[key]
            text = told(max(shown.tasks[task].elapsed or 0.0, 1e-3))
            total = None if share is None else 1.0
            shown.update(task, description=label, completed=share or 0.0, total=total, words=text)
            shown.update(task, visible=share != 1.0)

        yield move
