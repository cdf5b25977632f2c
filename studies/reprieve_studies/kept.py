"""What pieces of work made, kept line by line in a file, so that a run that was killed goes on."""

import threading
from collections.abc import Callable
from functools import cache
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from reprieve.outputs import KeptRows

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """Does a piece of work once, and answers from the file when it is asked again.

    A line belongs to the build of the simulator that wrote it: another does the work anew.
    """

    def __init__(
        self,
        path: Path | None,
        write: Callable[[Made], Any],
        read: Callable[[Any], Made],
    ) -> None:
        """Go on from what `path` has; `write` makes JSON of a piece and `read` a piece of that."""
        self._rows = None if path is None else KeptRows(path)
        self._write = write
        self._read = read
        self._lock = threading.Lock()
        self._known: dict[str, Any] = dict([] if self._rows is None else self._rows.read())

    def knows(self, of: str) -> bool:
        """Return whether it was made before."""
        return self._rows is not None and _key(of) in self._known

    def once(self, of: str, make: Callable[[], Made]) -> Made:
        """Return what was made of this, or make it."""
        if self._rows is None:
            return make()
        key = _key(of)
        if key in self._known:
            return self._read(self._known[key])
        made = make()
        row = [key, self._write(made)]
        with self._lock:
            self._rows.append(row)
        return made


def _key(of: str) -> str:
    return sha256(f"{_build()} {of}".encode()).hexdigest()


@cache
def _build() -> str:
    """Return what tells one build of the simulator from another."""
    spec = find_spec("reprieve._native")
    assert spec is not None, "the simulator is installed"
    assert spec.origin is not None, "it is a file"
    with Path(spec.origin).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
