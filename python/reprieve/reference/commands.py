"""The page of the command line: every command and option, from the application itself."""

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from reprieve.cli.commands import each
from reprieve.cli.help import default_of, example, names_of, usage, value_of
from reprieve.reference.markdown import code, plain, table

_HEAD = """# Command line

Every command and its options, as `reprieve COMMAND --help` prints them. The exit status is 0 on
success, 1 after an internal fault, 2 after a mistake of yours, which one sentence on the standard
error names, and 130 after Ctrl-C.
"""
_COLUMNS = ("argument or option", "value", "without it", "meaning")


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for name, command in each():
        parts += _section(name, command)
    return "\n".join(parts)


def options() -> dict[str, set[str]]:
    """Return the options of every command, by the command's full name."""
    return {
        name: {option for parameter in command.params for option in names_of(parameter)}
        for name, command in each()
    }


def _section(name: str, command: Any) -> Iterator[str]:
    assert command.help, f"{name} does not say what it does"
    told = "\n\n".join(filter(None, [usage(name, command), example(name)]))
    yield f"## `{name}`\n\n{plain(cleandoc(command.help))}\n\n```text\n{told}\n```\n"
    if rows := [_row(parameter) for parameter in command.params]:
        yield table(_COLUMNS, rows)


def _row(parameter: Any) -> tuple[str, str, str, str]:
    """Return the row of the table."""
    is_worded = isinstance(parameter.show_default, str)
    without = plain(default_of(parameter)) if is_worded else code(default_of(parameter))
    names = ", ".join(map(code, names_of(parameter))) or code(value_of(parameter))
    value = code(value_of(parameter)) if names_of(parameter) else ""
    doc = plain(parameter.help or "")
    return names, value, "must be given" if parameter.required else without, doc
