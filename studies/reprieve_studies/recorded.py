"""A file of numbers that a study has left, as an option names it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reprieve import UserError


def read_recorded(file: Path, option: str, keys: Sequence[str], what: str) -> dict[str, Any]:
    """Return what a file of JSON has; UserError if that is not `what`, which has these keys."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{option} {file}: {error.strerror}; must be {what}") from error
    except ValueError as error:
        raise UserError(f"{option} {file}: is no JSON; must be {what}") from error
    missing = [key for key in keys if not isinstance(found, dict) or key not in found]
    if missing:
        raise UserError(f'{option} {file}: has no "{missing[0]}"; must be {what}')
    numbers: dict[str, Any] = found
    return numbers
