"""Packages that only some commands need: imported if installed, named in the error if not."""

import importlib
from importlib.util import find_spec
from typing import Any

from reprieve._native import UserError

# Of the extra `plots`, by the name under which each is imported.
_PLOTS = {"altair": "altair", "jinja2": "jinja2", "vl_convert": "vl-convert-python"}
_STUDIES = _PLOTS | {"scipy": "scipy", "pyarrow": "pyarrow"}


def need(module: str, what: str, package: str, extra: str = "sweep") -> Any:
    """Import a module; UserError with the command that installs it if it is not there."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or module).partition(".")[0] != module.partition(".")[0]:
            raise  # it is there, and lacks something itself
        raise UserError(missing(what, package, extra)) from None


def need_plots(what: str, extra: str = "plots") -> None:
    """Raise UserError if packages of charts, or of studies, are missing; imports nothing."""
    for module, package in (_STUDIES if extra == "studies" else _PLOTS).items():
        if find_spec(module) is None:
            raise UserError(missing(what, package, extra))


def has_plots() -> bool:
    """Return whether charts and pages can be made."""
    return all(find_spec(module) is not None for module in _PLOTS)


def missing(what: str, package: str, extra: str) -> str:
    """Say in one sentence what is not installed, and the command that installs it."""
    return f"{what} needs {package}, which is not installed: pip install 'reprieve[{extra}]'"
