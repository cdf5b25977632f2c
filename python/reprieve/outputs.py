"""Results on disk: files that appear whole or not at all, and rows that outlive a kill."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from reprieve._native import UserError
from reprieve.overwriting import is_special, signed, stream_at

__all__ = ["ResultDirectory", "folder_of", "for_native", "whole_file"]


_begun: list[Path] = []
"""Files that are being written, and folders that were made for them."""


def leave_nothing() -> None:
    """Remove what is half written, for a process that ends at once."""
    for path in reversed(_begun.copy()):
        with suppress(OSError):
            if path.is_dir():
                path.rmdir()
                continue
            # The simulator writes beside such a file, and names it likewise.
            for one in path.parent.iterdir():
                if path.name in one.name:
                    one.unlink()


class ResultDirectory:
    """A directory whose new files stay under temporary names until `commit`.

    As a context manager: whatever ends the block before `commit`, an interrupt included, leaves
    the directory as it was. An error of the operating system becomes a UserError.
    """

    def __init__(self, path: Path, outer: "ResultDirectory | None" = None) -> None:
        """With `outer`, the files get their names at its commit, with its own."""
        self._path, self._outer = path, outer
        # What is listed here may exist; listed first and made then, an interrupt misses nothing.
        self._temporary: dict[Path, Path] = {}
        self._others: dict[Path, Path] = {}
        self._stale: list[Path] = []
        self._made: list[Path] = []
        self._open: list[BinaryIO] = []

    def __enter__(self) -> "ResultDirectory":
        missing = [self._path, *self._path.parents]
        missing = [directory for directory in missing if not directory.exists()]
        try:
            with explained(self._path):
                for directory in reversed(missing):
                    self._made.append(directory)
                    _begun.append(directory)
                    directory.mkdir(exist_ok=True)
                if not self._path.is_dir():
                    raise NotADirectoryError(None, "it is a file")
        except BaseException:
            self._roll_back()
            raise
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        self._roll_back()
        if isinstance(error, OSError):
            raise _write_error(self._path, error) from error

    def open(self, name: str) -> BinaryIO:
        """Open a new file of this name for writing; `commit` closes it.

        The name may have a directory before it, which is made if it is missing.
        """
        path = self._path / name
        if not path.parent.exists():
            self._made.append(path.parent)
            _begun.append(path.parent)
            path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
        self._temporary[path] = temporary
        _begun.append(temporary)
        file = temporary.open("wb")
        self._open.append(file)
        return file

    def write(self, name: str, text: str) -> None:
        """Write a whole text file."""
        self.open(name).write(text.encode())

    def adopt(self, path: Path, temporary: Path) -> None:
        """Give another file its name with the rest; without a commit it is removed."""
        self._others[path] = temporary

    def commit(self, stale: tuple[str, ...] = ()) -> list[Path]:
        """Give the files their names, all or none, and return their paths, as they were opened.

        Files called `stale` that an earlier run left and this one did not write are removed:
        they would contradict the rest.
        """
        for file in self._open:
            file.close()
        paths, files = [*self._temporary], self._temporary | self._others
        self._stale += [path for name in stale if (path := self._path / name) not in files]
        if self._outer is None:
            _put_all(files)
            for path in self._stale:
                path.unlink(missing_ok=True)
        else:
            self._outer._others |= files
            self._outer._stale += self._stale
            self._outer._made += self._made
            self._temporary, self._others = {}, {}
        self._made.clear()
        return paths

    def _roll_back(self) -> None:
        for file in self._open:
            # What is still buffered may not fit on the disk; it is discarded anyway.
            with suppress(OSError):
                file.close()
        temporaries = [*self._temporary.values(), *self._others.values()]
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)
        for path in [*temporaries, *self._made]:
            with suppress(ValueError):
                _begun.remove(path)
        for directory in reversed(self._made):
            # It stays if it could not be made, or if someone else has put a file there.
            with suppress(OSError):
                directory.rmdir()


def replace_file(path: Path, text: str, results: ResultDirectory | None = None) -> None:
    """Write a text file whole or not at all; raises UserError if it cannot be written."""
    with whole_file(path, results) as file:
        file.write(text.encode())


@contextmanager
def whole_file(path: Path, results: ResultDirectory | None = None) -> Iterator[BinaryIO]:
    """Open a file that gets its name when the block ends, or with `results`, unless it raises.

    What is no regular file, such as a device or a FIFO, is written through and stays what it is.
    """
    with for_native(path, results) as temporary, temporary.open("wb") as file:
        yield file


def make_folder(path: Path) -> None:
    """Make a folder and those above it; raises UserError if it cannot be made."""
    with explained(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def folder_of(path: Path) -> Iterator[None]:
    """Make the folder of a file if it is missing; it goes again if the block raises."""
    with ResultDirectory(path.parent) as directory:
        yield
        directory.commit()


@contextmanager
def for_native(path: Path, results: ResultDirectory | None = None) -> Iterator[Path]:
    """Yield a path for whoever writes files by name; what is there becomes `path` at the end.

    With `results`, it does so when they are committed.
    """
    with explained(path):
        if is_special(path):
            with tempfile.TemporaryDirectory() as folder:
                # The name says how it is compressed.
                yield Path(folder, path.name)
                _put(Path(folder, path.name), path)
            return
        real = Path(os.path.realpath(path))
        temporary = real.with_name(f".{os.getpid()}.partial.{real.name}")
        _begun.append(temporary)
        if results is not None:
            results.adopt(path, temporary)
        try:
            yield temporary
            if results is None:
                _put(temporary, path)
        except UserError as error:
            raise UserError(str(error).replace(str(temporary), str(path))) from None
        finally:
            if results is None:
                temporary.unlink(missing_ok=True)
                _begun.remove(temporary)


def _put_all(files: Mapping[Path, Path]) -> None:
    """Give complete files their names; if one cannot have it, all have what they had before."""
    undo: list[tuple[Path, Path | None]] = []
    try:
        for path, temporary in files.items():
            with explained(path):
                if not is_special(path):
                    undo.append(_kept(path, temporary))
                _put(temporary, path)
    except BaseException:
        for real, before in undo:
            with suppress(OSError):
                real.unlink() if before is None else before.replace(real)
        raise
    finally:
        for _, before in undo:
            if before is not None:
                before.unlink(missing_ok=True)


def _kept(path: Path, temporary: Path) -> tuple[Path, Path | None]:
    """Return a file, and another name that it now has; None: there is no such file."""
    real = Path(os.path.realpath(path))
    if not real.exists():
        return real, None
    before = real.with_name(f"{temporary.name}.before")
    # A file system without links has no way back.
    with suppress(OSError):
        before.hardlink_to(real)
    return real, before


def _put(temporary: Path, path: Path) -> None:
    """Give a complete file its name; what is no regular file takes its bytes instead."""
    if not is_special(path):
        signed(temporary)
        # A link stays one, and what it leads to is replaced.
        temporary.replace(os.path.realpath(path))
        return
    stream = stream_at(path)
    sink = path.open("wb") if stream is None else os.fdopen(os.dup(stream), "wb")
    with sink, temporary.open("rb") as made:
        shutil.copyfileobj(made, sink)
    temporary.unlink()


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into a UserError that names `path`."""
    try:
        yield
    except OSError as error:
        raise _write_error(path, error) from error


def _write_error(path: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error)
    return UserError(f"{path}: cannot write here: {reason}; name another place")
