"""Progress in notebooks: bars below the cell of what takes longer than a moment."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

# What is over sooner leaves no trace, and between looks nobody sees more.
_AFTER_S = 0.5
_EVERY_S = 0.25

Bars = Callable[[str, float | None, str], None]
"""Takes the label of a bar, the share done (None if unknown; at 1 it goes), and words behind it."""


def is_notebook() -> bool:
    """Return whether the program runs in the kernel of a notebook; loads nothing to find out."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # A terminal's shell has another class, and no front end that shows HTML.
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def bars() -> Iterator[Bars]:
    """Show bars while the block lasts, which leave nothing behind; outside notebooks nothing."""
    if not is_notebook():
        yield lambda _label, _share, _words: None
        return
    shown = _Shown()
    try:
        yield shown.update
    finally:
        shown.clear()


@contextmanager
def run_bar(label: str) -> Iterator[Callable[[float | None, int], None]]:
    """Show a bar for one run; the function that is yielded watches it."""
    with bars() as update:
        yield lambda share, requests: update(label, share, f"{requests:,} requests")


@contextmanager
def step_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar over many pieces of work; the yielded function counts a step."""
    with bars() as update:
        yield lambda what, done, pieces: update(what, done / pieces, f"{done:,} of {pieces:,}")


class _Shown:
    """Bars in one output of a cell; threads may update them."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[float | None, str]] = {}
        self._due_s = time.monotonic() + _AFTER_S
        self._output: Any = None
        self._lock = threading.Lock()

    def update(self, label: str, share: float | None, words: str) -> None:
        """Take note of how far something is, and show it if it is time to."""
        with self._lock:
            self._rows[label] = (share, words)
            if share == 1:
                del self._rows[label]
            if time.monotonic() < self._due_s:
                return
            self._show("".join(_row(label, *row) for label, row in self._rows.items()))
            self._due_s = time.monotonic() + _EVERY_S

    def clear(self) -> None:
        """Leave the output empty, if there is one."""
        with self._lock:
            if self._output is not None:
                self._show("")

    def _show(self, html: str) -> None:
        from IPython.display import HTML, display

        if self._output is None:
            self._output = display(HTML(html), display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._output.update(HTML(html))  # type: ignore[no-untyped-call]


def _row(label: str, share: float | None, words: str) -> str:
    value = "" if share is None else f' value="{share:.3f}"'
    told = words if share is None else f"{100 * share:.0f} %, {words}"
    return f"<div><label>{escape(label)} <progress{value}></progress> {escape(told)}</label></div>"
