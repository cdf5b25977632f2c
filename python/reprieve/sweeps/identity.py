"""What a run is known by: its resolved scenario, what is in the files it reads, the version."""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import lru_cache
from pathlib import Path

from reprieve import _native
from reprieve._native import UserError
from reprieve.named_policies import KEYS, Named

_HEX_DIGITS = 32


def run_id(resolved: str) -> str:
    """Return the name of a run, 32 hexadecimal digits, from its resolved scenario.

    Where an input file lies does not matter, what is in it does; so with a policy in Python.
    """
    lines, section = [f"reprieve {_native.__version__}"], ""
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
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_HEX_DIGITS]


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
    """Return what stands for a policy of Python: its name, and all of the file that has it."""
    named = Named.of(f"{section}.policy", text, Path())
    return f"{hashlib.sha256(named.source()).hexdigest()}:{named.name}"


def _contents(path: str) -> str:
    """Return what stands for a file, or for all that a folder or pattern means."""
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
        raise UserError(f"{path}: cannot read this file of a scenario: {error.strerror}") from None


@lru_cache(maxsize=4096)
def _digest(path: Path, _inode: int, _bytes: int, _changed_ns: int) -> str:
    """Hash a file; one that has not been touched is not read again."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
