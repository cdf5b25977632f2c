"""Permission to write: no command takes the place of an input, or of a file that is not its own."""

import os
import stat
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve._native import UserError

if TYPE_CHECKING:
    from reprieve.scenario import Source

__all__ = ["may_write", "named_by"]

FOLDERS = {
    "summary.json": '"measure"',
    "compare.json": '"axes"',
    "tune.json": '"sentences"',
    "what-if.json": '"elasticities"',
    "calibration.json": '"',
    "power_loss.json": '"policies"',
    "array.json": '"drives"',
    "verdicts.json": '"',
    "transactions.json": '"',
    ".lock": "",
    "run.sh": "fio",
}
"""Files that identify a folder of results, with text near the beginning of each."""

_NAMES = (
    *FOLDERS, "scenario.toml", "run.json", "requests.parquet", "series.parquet", "report.html",
    "timeline.perfetto-trace", "power.csv", "best.toml", "device.toml", "percentiles.svg",
    "power_loss.csv", "power_loss.svg", "runs.parquet", "points.parquet", "measured.parquet",
    "differences.parquet", "numbers.json",
)  # fmt: skip
"""Names that commands give to files in a folder of results."""

_ATTRIBUTE = "user.reprieve"
_NEAR_BYTES = 4096
# A device may name a part, and neither names more.
_DEPTH_MAX = 4


def may_write(
    files: Iterable[Path | None],
    folder: Path | None = None,
    *,
    inputs: Iterable[Path] = (),
    force: bool = False,
) -> None:
    """Raise UserError if a command may not write these files, or its results into this folder.

    `inputs`: what the command reads, which nothing replaces. `force`: it may replace all else.
    """
    read, asked = list(inputs), [path for path in files if path is not None]
    for place, path in enumerate(asked):
        if any(_is_same(path, one) for one in asked[:place]):
            raise UserError(f"{path}: is named for two outputs; name a file for each")
        if is_special(path):
            continue
        if any(_is_same(path, one) or (path.exists() and _is_below(path, one)) for one in read):
            raise UserError(f"{path}: is an input of this command; name another place to write")
        if path.is_file() and not force and not is_ours(path):
            raise _foreign(path)
    if folder is None:
        return
    for one in read:
        if one.name in _NAMES and (_is_below(one, folder) or _is_below(one.resolve(), folder)):
            raise UserError(
                f"{folder}: {one} is an input of this command, and a file of this name may be "
                "written here; name another place to write"
            )
    if not force and folder.is_dir() and not is_ours(folder):
        raise _foreign(folder)


def inputs_of(source: "Source") -> list[Path]:
    """Return the files that a scenario is read from: itself and all that its values name."""
    values = [one.partition("=")[2].strip().strip("\"'") for one in source.sets]
    base = Path(source.path).parent
    return [Path(source.path), *_found([*_strings_of(source.text), *values], base, 0)]


def named_by(file: Path) -> list[Path]:
    """Return a file of TOML and the files that its values name, and what those name."""
    with suppress(OSError, UnicodeDecodeError):
        return [file, *_found(_strings_of(file.read_text(encoding="utf-8")), file.parent, 0)]
    return [file]


def is_ours(path: Path) -> bool:
    """Return whether Reprieve wrote this unchanged file, or a folder is empty or has results."""
    if not path.is_dir():
        with suppress(OSError, AttributeError):
            return os.getxattr(path, _ATTRIBUTE) == _signature(path)
        return False
    with suppress(OSError):
        inside = list(path.iterdir())
        # A comparison that was interrupted has its runs' folders and nothing else.
        return any(map(_is_result, inside)) or all(
            one.is_dir() and any(map(_is_result, one.iterdir())) for one in inside
        )
    return True  # writing there says what is wrong


def signed(path: Path) -> None:
    """Note at a file that Reprieve wrote it, where the file system keeps such notes."""
    with suppress(OSError, AttributeError):
        if stat.S_ISREG(path.stat().st_mode):
            os.setxattr(path, _ATTRIBUTE, _signature(path))


def _signature(path: Path) -> bytes:
    known = path.stat()
    return f"{known.st_size} {known.st_mtime_ns}".encode()


def _is_result(entry: Path) -> bool:
    mark = FOLDERS.get(entry.name)
    if mark is None or not entry.is_file():
        return False
    with entry.open("rb") as file:
        return mark.encode() in file.read(_NEAR_BYTES)


def _foreign(path: Path) -> UserError:
    whose = "Reprieve did not write it, or it was changed since"
    if path.is_dir():
        whose = "it has files, and no results of Reprieve"
    return UserError(f"{path}: {whose}; name another place, or give --force")


def is_special(path: Path) -> bool:
    """Return whether a path is a device, a FIFO or our own output, which is written through."""
    with suppress(OSError):
        mode = path.stat().st_mode
        return not stat.S_ISDIR(mode) and (not stat.S_ISREG(mode) or stream_at(path) is not None)
    return False


def stream_at(path: Path) -> int | None:
    """Return the descriptor of our own output that a path such as /dev/stdout leads to."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            if os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                stream.flush()
                return stream.fileno()
    return None


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, by whatever name, or would."""
    with suppress(OSError):
        return not is_special(one) and one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def _is_below(path: Path, folder: Path) -> bool:
    if not folder.is_dir():
        return False
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path.parent), "x").parents


def _strings_of(text: str) -> list[str]:
    """Return every string in a TOML document."""
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        return [*_strings(tomllib.loads(text))]
    return []  # whoever reads it says what is wrong


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a document, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _found(named: Iterable[str], base: Path, depth: int) -> Sequence[Path]:
    """Return the files that are there of those that values may name, and what they name."""
    made: list[Path] = []
    for text in named:
        for name in {text, text.rpartition(":")[0]} - {""}:
            for path in {base / name, Path(name)}:
                with suppress(OSError, ValueError):
                    if not path.exists() or (path.is_dir() and name in {".", ".."}):
                        continue
                    made.append(path)
                    if path.suffix == ".toml" and path.is_file() and depth < _DEPTH_MAX:
                        inside = _strings_of(path.read_text(encoding="utf-8"))
                        made += _found(inside, path.parent, depth + 1)
    return made
