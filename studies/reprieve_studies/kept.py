"""Work of a study that is stored on disk, so that a run that was killed goes on."""

import json
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from reprieve.experiments.identity import digest
from reprieve.experiments.store import Store
from reprieve.experiments.work import Row

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """Does a piece of work once, and answers from the store when it is asked again."""

    def __init__(
        self,
        folder: Path | None,
        write: Callable[[Made], Any],
        read: Callable[[Any], Made],
    ) -> None:
        """Go on from what `folder` has, or store nothing on disk.

        `write` makes JSON of a piece, and `read` a piece of that.
        """
        self._store = Store(folder)
        self._write = write
        self._read = read
        self._lock = threading.Lock()
        weakref.finalize(self, self._store.flush)

    def knows(self, of: str) -> bool:
        """Return whether it was made before."""
        return self._store.has(digest(of))

    def once(self, of: str, make: Callable[[], Made]) -> Made:
        """Return what was made of this, or make it."""
        key = digest(of)
        with self._lock:
            row = self._store.row(key) if self._store.has(key) else None
        if row is not None and row.text is not None:
            return self._read(json.loads(row.text))
        made = make()
        with self._lock:
            self._store.append(Row(key, json.dumps(self._write(made))))
        return made
