"""The project's own files, and what a rule says about one of them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from page_figures import pages

# Folders that are built, downloaded or written by runs; hidden ones are skipped but for these.
BUILT = ("target", "out", "build", "dist", "__pycache__", "*.egg-info")
HIDDEN_BUT_OURS = (".ci", ".github")
BINARY = (".gz", ".zst", ".so", ".pyc", ".png", ".pdf", ".parquet", ".blktrace", ".seed")


@dataclass(frozen=True)
class Problem:
    """One violation: where, and in a sentence what is wrong. `line` 0 means the whole file."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


@dataclass(frozen=True)
class Tree:
    """A project tree, read once; paths are relative, with forward slashes, in sorted order."""

    root: Path
    _texts: dict[str, str] = field(default_factory=dict, compare=False)

    def files(self, pattern: str = "*") -> Iterator[str]:
        """Paths that match `pattern`, in which `*` crosses folder borders."""
        return (path for path in self._paths() if fnmatch(path, pattern))

    def text_files(self) -> Iterator[str]:
        """Paths of every file that is meant to be read by people."""
        return (path for path in self._paths() if not path.endswith(BINARY))

    def text(self, path: str) -> str:
        """Contents of a file, of a page with its numbers; UTF-8, or it is an error of its own."""
        if path not in self._texts:
            text = (self.root / path).read_text(encoding="utf-8")
            if path.startswith("docs/") and path.endswith(".md") and pages.is_template(text):
                text = pages.fill(path, pages.recorded(), self.root).text
            self._texts[path] = text
        return self._texts[path]

    def crates(self) -> Iterator[str]:
        """Names of the folders of our crates."""
        return (PurePosixPath(path).parts[1] for path in self.files("crates/*/Cargo.toml"))

    def lines(self, path: str) -> list[str]:
        """Lines of a file, without their ends."""
        return self.text(path).splitlines()

    def exists(self, path: str) -> bool:
        """Whether a file or folder stands there."""
        return (self.root / path).exists()

    def size_bytes(self, path: str) -> int:
        """Length of a file."""
        return (self.root / path).stat().st_size

    def _paths(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not _is_skipped(name))
            for name in sorted(names):
                # In a worktree .git is a file, with a path of the machine in it.
                if name != ".git" and not name.endswith((".so", ".pyc", ".wasm")):
                    yield (Path(folder) / name).relative_to(self.root).as_posix()


def _is_skipped(folder: str) -> bool:
    hidden = folder.startswith(".") and folder not in HIDDEN_BUT_OURS
    return hidden or any(fnmatch(folder, pattern) for pattern in BUILT)
