"""What the user sees: tables on stdout, progress on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from reprieve.parallel import Step

__all__ = ["overall", "progress", "say", "show", "table"]

# In a pipe there is no width to fit into: wrapped cells could not be parsed.
_PIPE_COLUMNS = 200


def show(table: Table) -> None:
    """Print a table to stdout."""
    from rich.console import Console

    class Stdout(Console):
        """Leaves a broken pipe to the caller, who knows how to end."""

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    width = None if sys.stdout.isatty() else _PIPE_COLUMNS
    console = Stdout(width=width, highlight=False)
    for part in in_parts(table, console):
        console.print(part)


def in_parts(table: Table, console: Console) -> list[Table]:
    """Split a table that is too wide for a console: each part has the words and some numbers.

    A number that is cut off is worse than none, and so is one without what tells its row apart.
    """
    left = [place for place, column in enumerate(table.columns) if not column.no_wrap]
    numbers = [place for place, column in enumerate(table.columns) if column.no_wrap]
    if not left or len(numbers) < 2 or _unwrapped(table, console) <= console.width:  # noqa: PLR2004
        return [table]
    parts: list[list[int]] = []
    for place in numbers:
        if parts and _unwrapped(_some(table, [*left, *parts[-1], place]), console) <= console.width:
            parts[-1].append(place)
        else:
            parts.append([place])
    made = [_some(table, [*left, *part]) for part in parts]
    for later in made[1:]:
        later.title = None
    return made


def _unwrapped(table: Table, console: Console) -> int:
    """Return how wide a table is in which nothing wraps but its title."""
    from rich.measure import Measurement

    wide = console.options.update(max_width=1 << 15)
    return Measurement.get(console, wide, table).maximum


def _some(whole: Table, places: Sequence[int]) -> Table:
    """Return a table with some of the columns of another."""
    columns = [whole.columns[place] for place in places]
    made = table(str(whole.title or ""), [])
    for column in columns:
        # Two short lines in place of a long one leave room for more columns.
        header = str(column.header)
        header = header.replace(" ", "\n", 1) if column.no_wrap else header.replace(".", ".\n")
        made.add_column(header, justify=column.justify, no_wrap=column.no_wrap)
    for row, *cells in zip(whole.rows, *(column.cells for column in columns), strict=True):
        made.add_row(*cells, style=row.style)
    return made


def say(text: str) -> None:
    """Print text to stdout as it is."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def say_at_once(text: str) -> None:
    """Print text to stdout, where a reader in a pipe waits for it."""
    say(text)
    sys.stdout.flush()


def warn(text: str) -> None:
    """Print a sentence to stderr, at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def table(title: str, columns: Sequence[str], left: int = 1) -> Table:
    """Return an empty table: the first `left` columns are words, the rest numbers."""
    from rich import box
    from rich.table import Table

    made = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right", no_wrap=index >= left)
    return made


Report = Callable[[str, float | None, int], None]
"""Takes a run's label, its share done (None if unknown) and its requests completed."""


@contextmanager
def progress() -> Iterator[Report]:
    """Show a bar for each run while it goes on; nothing at all if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _label, _share, _requests: None
        return
    from reprieve.cli.bars import RUNS, bars_of

    with bars_of(RUNS) as bars:
        tasks: dict[str, Any] = {}
        lock = threading.Lock()

        def report(label: str, share: float | None, requests: int) -> None:
            with lock:
                if label not in tasks:
                    tasks[label] = bars.add_task(label, total=None, requests=0)
            total = None if share is None else 1.0
            over = share == 1.0
            bars.update(
                tasks[label],
                completed=share or 0.0,
                total=total,
                visible=not over,
                requests=requests,
            )

        yield report


@contextmanager
def overall() -> Iterator[Step]:
    """Show one bar over many pieces of work; nothing at all if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _pieces: None
        return
    from reprieve.cli.bars import PIECES, bars_of

    with bars_of(PIECES) as bars:
        task = bars.add_task("", total=1)

        def step(what: str, done: int, pieces: int) -> None:
            bars.update(task, description=what, completed=done, total=pieces)

        yield step
