"""The recorded hashes: which of them are asked for, what differs, and how they are renewed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from reprieve import UserError
from reprieve.outputs import replace_file

Hashes = Mapping[str, str]
"""By the name of the result: CASE/KIND."""


def case_of(name: str) -> str:
    """Return the case that a result is of."""
    return name.rpartition("/")[0]


def is_meant(case: str, only: str) -> bool:
    """Say whether `only` is the beginning of a case, a pattern of it, or one of its results."""
    return fnmatchcase(case, f"{only}*") or only.startswith(f"{case}/")


def is_family_meant(family: str, only: str) -> bool:
    """Say whether cases of a family may be meant."""
    return fnmatchcase(family, f"{only.partition('/')[0]}*")


def read(path: Path) -> Hashes:
    """Read what is recorded; UserError if there is nothing."""
    try:
        recorded: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(
            f"{path}: cannot read the recorded hashes: {error.strerror}; make same RECORD=1 "
            "records them"
        ) from None
    except ValueError as error:
        raise UserError(f"{path}: is no JSON: {error}; take it from the repository again") from None
    return recorded


def differences(found: Hashes, recorded: Hashes, only: str) -> list[str]:
    """Return a sentence for each result that is not as recorded, in order of names."""
    meant = {name: told for name, told in recorded.items() if is_meant(case_of(name), only)}
    lines = []
    for name in sorted({*found, *meant}):
        if name not in meant:
            lines.append(f"{name} is not recorded: make same RECORD=1 ONLY='{case_of(name)}'")
        elif name not in found:
            lines.append(f"{name} is recorded, and no run gives it any more")
        elif found[name] != meant[name]:
            lines.append(f"{name} differs")
    return lines


def renew(path: Path, found: Hashes, only: str) -> None:
    """Write the hashes of what is meant, and keep those of all else."""
    recorded = read(path) if only and path.exists() else {}
    kept = {name: told for name, told in recorded.items() if not is_meant(case_of(name), only)}
    replace_file(path, json.dumps({**kept, **found}, indent=0, sort_keys=True) + "\n")
