"""Packages that only some commands need: taken where they are, asked for where they are not."""

from __future__ import annotations

import importlib
from typing import Any

from reprieve._native import UserError


def need(module: str, what: str, package: str, extra: str = "sweep") -> Any:
    """Import a module; UserError with the command that installs it if it is not there."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (
            error.name is not None
            and error.name.partition(".")[0] != module.split(".", maxsplit=1)[0]
        ):
            raise  # it is there, and lacks something itself
        raise UserError(
            f"{what} needs {package}, which is not installed: pip install 'reprieve[{extra}]'"
        ) from None
