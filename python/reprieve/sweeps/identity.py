"""What a run is known by: its resolved scenario, what is in the files it reads, the version."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from functools import lru_cache
from typing import Any

from reprieve import _native
from reprieve._native import UserError

_HEX_DIGITS = 32


def run_id(resolved: str) -> str:
    """Return the name of a run, 32 hexadecimal digits, from its resolved scenario.

    Where an input file lies does not matter, what is in it does.
    """
    lines, section = [f"reprieve {_native.__version__}"], ""
    for line in resolved.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        key, equals, value = line.partition(" = ")
        if equals and _is_path(section, key):
            lines.append(f"{key} = {_contents(tomllib.loads(f'value = {value}')['value'])}")
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


def _contents(value: Any) -> str:
    """Return what stands for a file, or for a list of files, in the name of a run."""
    if isinstance(value, list):
        return f"[{', '.join(_contents(item) for item in value)}]"
    if value == "none":
        return "none"
    try:
        found = os.stat(value)  # noqa: PTH116
        return _digest(value, found.st_ino, found.st_size, found.st_mtime_ns)
    except OSError as error:
        raise UserError(f"{value}: cannot read this file of a scenario: {error.strerror}") from None


@lru_cache(maxsize=4096)
def _digest(path: str, _inode: int, _bytes: int, _changed_ns: int) -> str:
    """Hash a file; one that has not been touched is not read again."""
    with open(path, "rb") as file:  # noqa: PTH123
        return hashlib.file_digest(file, "sha256").hexdigest()
