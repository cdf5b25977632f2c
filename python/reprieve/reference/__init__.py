"""The pages of the reference, written by the program itself; `make docs` puts them into docs."""

from collections.abc import Callable

from reprieve import _native
from reprieve.reference import columns, commands, names, policies, presets

PAGES: dict[str, Callable[[], str]] = {
    "scenario.md": lambda: _native.reference().rstrip() + "\n",
    "policies.md": policies.page,
    "presets.md": presets.page,
    "commands.md": commands.page,
    "columns.md": columns.page,
    "python.md": names.page,
}
"""Files under docs/reference, and what writes each."""
