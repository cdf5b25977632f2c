"""Terminal output: tables on stdout, progress on stderr."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from reprieve.cli.bars import Move
    from reprieve.parallel import Step

__all__ = ["command_line", "overall", "progress", "say", "sentence", "show", "table"]

# Where there is no terminal: a file, a message or a page that the table goes into has this much.
_COLUMNS = 80

# Words that leave no room for the numbers beside them are wrapped, to no less than this.
_WORDS = 28


def command_line() -> str:
    """Return the command that repeats this one, for what it writes."""
    return shlex.join(["reprieve", *sys.argv[1:]])


def screen() -> Console:
    """Return stdout, as wide as the terminal, or as COLUMNS says, or 80 columns wide."""
    from rich.console import Console

    class Stdout(Console):
        """Leaves a broken pipe to the caller, who knows how to end."""

        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    # Without a width, Rich would take that of a terminal which is not where the table goes.
    has_width = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Stdout(width=None if has_width else _COLUMNS, highlight=False)


def show(table: Table) -> None:
    """Print a table to stdout."""
    console = screen()
    if table.title:
        # By itself, as the title of a table is no wider than the table.
        console.print(table.title, style="bold")
        table.title = None
    for place, part in enumerate(in_parts(table, console)):
        if place:
            console.print()
        console.print(part)


def in_parts(table: Table, console: Console) -> list[Table]:
    """Split a table that is too wide for a console: each part has the words and some numbers.

    A number that is cut off is worse than none, and so is one whose row cannot be identified.
    What has no words is listed, a line a number. A table that fits stays whole.
    """
    words = [place for place, column in enumerate(table.columns) if not column.no_wrap]
    numbers = [place for place, column in enumerate(table.columns) if column.no_wrap]
    if not numbers or _unwrapped(table, console) <= console.width:
        return [table]
    if not words:
        return [_listed(table)]
    layouts = [_packed(table, console, words, numbers, is_narrow) for is_narrow in (False, True)]
    parts = min(layouts, key=len)
    for part in parts:
        _widen(part, console)
    return parts


def _packed(
    whole: Table, console: Console, words: list[int], numbers: list[int], is_narrow: bool
) -> list[Table]:
    """Put as many columns of numbers into each part as it has room for, beside the words."""
    parts: list[list[int]] = []
    for place in numbers:
        if parts:
            more = _some(whole, [*words, *parts[-1], place], is_narrow)
            if _unwrapped(more, console) <= console.width:
                parts[-1].append(place)
                continue
        parts.append([place])
    return [_some(whole, [*words, *part], is_narrow) for part in parts]


def _widen(part: Table, console: Console) -> None:
    """Give the longest words of a part the room that is left beside its numbers."""
    narrow = [column for column in part.columns if column.max_width is not None]
    if narrow:
        longest = max(narrow, key=lambda column: max(map(len, map(str, column.cells)), default=0))
        longest.max_width = (longest.max_width or 0) + console.width - _unwrapped(part, console)


def _unwrapped(table: Table, console: Console) -> int:
    """Return how wide a table is in which only what has a greatest width wraps."""
    from rich.measure import Measurement

    wide = console.options.update(max_width=1 << 15)
    return Measurement.get(console, wide, table).maximum


def _some(whole: Table, places: Sequence[int], is_narrow: bool) -> Table:
    """Return a table with some of the columns of another, whose words may be narrow."""
    columns = [whole.columns[place] for place in places]
    made = table("", [])
    # Two spaces between columns in place of three.
    made.collapse_padding = True
    for column in columns:
        header, most = str(column.header), None
        if column.no_wrap:
            header = _halved(header)
        else:
            header = header.replace(".", ".\n")
            words = " ".join(map(str, column.cells)).split()
            most = max([_WORDS, *map(len, words)]) if is_narrow else None
        made.add_column(header, justify=column.justify, no_wrap=column.no_wrap, max_width=most)
    for row, *cells in zip(whole.rows, *(column.cells for column in columns), strict=True):
        made.add_row(*cells, style=row.style, end_section=row.end_section)
    return made


def _halved(header: str) -> str:
    """Return a heading in two lines, neither much longer: that leaves room for more columns."""
    spaces = [place for place, letter in enumerate(header) if letter == " "]
    if not spaces:
        return header
    middle = min(spaces, key=lambda place: max(place, len(header) - place - 1))
    return f"{header[:middle]}\n{header[middle + 1 :]}"


def _listed(whole: Table) -> Table:
    """Return the cells of a table of numbers below each other, a section a row."""
    made = table("", ["", ""], left=2)
    made.show_header = False
    names = [str(column.header) for column in whole.columns]
    for cells in zip(*(column.cells for column in whole.columns), strict=True):
        for name, cell in zip(names, cells, strict=True):
            made.add_row(name, cell)
        made.add_section()
    return made


def say(text: str) -> None:
    """Print text to stdout as it is."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def sentence(text: str) -> None:
    """Print a sentence to stdout in lines of 80 columns; a word stays whole."""
    # A number stays on the line of its percent sign.
    kept = text.replace(" %", "\xa0%")
    lines = textwrap.fill(kept, _COLUMNS, break_long_words=False, break_on_hyphens=False)
    say(lines.replace("\xa0", " "))


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
    with _bars() as move:
        yield lambda label, share, requests: move(
            label, label, share, lambda seconds: f"{requests / seconds:,.0f} requests/s"
        )


@contextmanager
def overall() -> Iterator[Step]:
    """Show one bar over many pieces of work; nothing at all if stderr is no terminal."""
    with _bars() as move:
        yield lambda what, done, pieces: move(
            "all", what, done / max(pieces, 1), lambda _seconds: f"{done:,} of {pieces:,}"
        )


@contextmanager
def _bars() -> Iterator[Move]:
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from reprieve.cli.bars import bars

    with bars() as move:
        yield move
