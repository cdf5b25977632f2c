"""Identity of a run: its inputs, the contents of the files that it reads, and the program."""

import hashlib
import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from reprieve import _native
from reprieve._native import UserError
from reprieve.named_policies import KEYS, Named
from reprieve.scenario import Source

__all__ = ["Identities", "digest", "path_keys", "run_id"]

_BYTES = 16
# An override of a number, whose text alone says what it changes.
_NUMBER = re.compile(r"[-+]?[\d.][\w.+-]*\Z")


class Identities:
    """Names the runs of one scenario under many overrides, a few microseconds each.

    An identity covers the scenario's text, every override, and all that the scenario resolves to
    under the overrides that are not numbers: presets, and the contents of traces and policies.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[tuple[str, ...], bytes] = {}

    def of(self, sets: Iterable[str]) -> str:
        """Return the name of a run, 32 hexadecimal digits.

        `sets`: overrides after those of the scenario, `KEY=VALUE`, in any order.
        """
        numbers, others = list[str](), list[str]()
        for text in sets:
            numeric = _NUMBER.match(text, text.index("=") + 1)
            (numbers if numeric else others).append(text)
        key = tuple(others)
        base = self._known.get(key)
        if base is None:
            base = self._base(others, numbers)
        numbers.sort()
        return hashlib.blake2b(
            "\n".join(numbers).encode(), key=base, digest_size=_BYTES
        ).hexdigest()

    def _base(self, others: list[str], numbers: list[str]) -> bytes:
        """Digest all but the numbers, unless the scenario is incomplete without them."""
        is_whole = True
        try:
            text = self._source.with_sets(others).resolve()
        except UserError:
            is_whole = False
            try:
                text = self._source.with_sets([*others, *numbers]).resolve()
            except UserError as error:
                text = f"# {error}"  # a run that fails
        try:
            resolved = run_id(text)
        except UnreadableError as error:
            resolved = str(error)
        lines = [_stamp(), resolved, _canonical(self._source.text)]
        lines += [
            text
            for text in (*self._source.sets, *sorted(others))
            if not _is_by_content(*text.partition("=")[::2])
        ]
        base = hashlib.blake2b("\n".join(lines).encode(), digest_size=_BYTES).digest()
        if is_whole:
            self._known[tuple(others)] = base
        return base


@lru_cache(maxsize=64)
def _canonical(text: str) -> str:
    """Return a scenario file without comments, order and the places of its files."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text
    lines = list[str]()

    def walk(table: dict[str, object], path: tuple[str, ...]) -> None:
        for name, value in table.items():
            if isinstance(value, dict):
                walk(value, (*path, name))
            elif not _is_by_content(".".join((*path, name)), str(value)):
                lines.append(f"{'.'.join((*path, name))} = {value!r}")

    walk(document, ())
    return "\n".join(sorted(lines))


def _is_by_content(name: str, value: str) -> bool:
    """Return whether a value names a file, whose contents count and not its place."""
    section, _, key = name.strip().rpartition(".")
    return _is_path(section, key) or (f"{section}.{key}" in KEYS and ":" in value)


class UnreadableError(UserError):
    """A file of a scenario that cannot be read."""


@lru_cache
def _stamp() -> str:
    """Return the program: its version, and of a development version the build."""
    version = f"reprieve {_native.__version__}"
    if "-" not in version or _native.__file__ is None:
        return version
    with Path(_native.__file__).open("rb") as file:
        return f"{version} {hashlib.file_digest(file, 'sha256').hexdigest()}"


def digest(*parts: str) -> str:
    """Name work that is no scenario by its inputs, 32 hexadecimal digits."""
    text = "\n".join((_stamp(), *parts))
    return hashlib.blake2b(text.encode(), digest_size=_BYTES).hexdigest()


def run_id(resolved: str) -> str:
    """Digest a resolved scenario, 32 hexadecimal digits.

    Where an input file lies does not matter, what is in it does; so with a policy in Python.
    """
    lines, section = [_stamp()], ""
    for line in resolved.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        key, equals, value = line.partition(" = ")
        if equals and value != '"none"' and _is_path(section, key):
            lines.append(f"{key} = {_contents(tomllib.loads(f'value = {value}')['value'])}")
        elif equals and key == "policy" and f"{section}.{key}" in KEYS and ":" in value:
            lines.append(f"{key} = {_policy(section, tomllib.loads(f'value = {value}')['value'])}")
        else:
            lines.append(line)
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=_BYTES).hexdigest()


def _is_path(section: str, key: str) -> bool:
    # A flow has the keys of the workload.
    section = "workload" if section.startswith("flow.") else section
    return f"{section}.{key}" in path_keys()


@lru_cache
def path_keys() -> frozenset[str]:
    """Return the keys of a scenario whose values are files that a run reads."""
    entries = re.split(r"^### ", _native.reference(), flags=re.MULTILINE)[1:]
    return frozenset(
        entry.split("`")[1] for entry in entries if "- Value: the path of a file" in entry
    )


def _policy(section: str, text: str) -> str:
    """Digest a policy in Python: its name, and all of the file that has it."""
    named = Named.of(f"{section}.policy", text, Path())
    # Nothing is stored of a run that may not execute it.
    named.need_trust()
    return f"{hashlib.sha256(named.source()).hexdigest()}:{named.name}"


def _contents(path: str) -> str:
    """Digest a file, or all files that a folder or pattern means."""
    files = _files(Path(path))
    if files == [Path(path)]:
        return _stamped(files[0])
    # In what order several are read may depend on their names.
    return ", ".join(f"{file.name} {_stamped(file)}" for file in files)


def _files(path: Path) -> list[Path]:
    """Return the files that a path of a scenario means, by name."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.is_file())
    if not path.exists() and ("*" in path.name or path.name.endswith(".")):
        pattern = path.name if "*" in path.name else f"{path.name}*"
        return sorted(file for file in path.parent.glob(pattern) if file.is_file())
    return [path]


def _stamped(path: Path) -> str:
    try:
        found = path.stat()
        return _digest(path, found.st_ino, found.st_size, found.st_mtime_ns)
    except OSError as error:
        raise UnreadableError(
            f"{path}: cannot read this file of a scenario: {error.strerror}"
        ) from None


@lru_cache(maxsize=4096)
def _digest(path: Path, _inode: int, _bytes: int, _changed_ns: int) -> str:
    """Hash a file; one that has not been touched is not read again."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
