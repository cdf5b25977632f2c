"""The page of the command line: every command and option, from the application itself."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from reprieve.cli.commands import each
from reprieve.reference.markdown import code, plain, table

_HEAD = """# Command line

Every command and its options, as `reprieve COMMAND --help` prints them. The exit status is 0 on
success, 1 after an internal fault, 2 after a mistake of yours, which one sentence on the standard
error names, and 130 after Ctrl-C.
"""
Function = Callable[..., Any]
_COLUMNS = ("argument or option", "value", "without it", "meaning")


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for name, function in each():
        # What a group of commands is for, its commands say.
        parts += [] if function is None else _section(name, function)
    return "\n".join(parts)


def options() -> dict[str, set[str]]:
    """Return the options of every command, by the command's full name."""
    return {
        name: {each for parameter in _parameters(function) for each in parameter.names()}
        for name, function in each()
        if function is not None
    }


def _section(name: str, function: Function) -> Iterator[str]:
    help_text = inspect.getdoc(function)
    assert help_text, f"{name} does not say what it does"
    parameters = list(_parameters(function))
    arguments = [parameter for parameter in parameters if not parameter.names()]
    usage = [name, *(["[OPTIONS]"] if len(parameters) > len(arguments) else [])]
    usage += [argument.shown for argument in arguments]
    yield f"## `{name}`\n\n{plain(help_text)}\n\n```text\n{' '.join(usage)}\n```\n"
    if parameters:
        yield table(_COLUMNS, (parameter.row() for parameter in parameters))


@dataclass(frozen=True)
class _Parameter:
    """An argument or an option of a command."""

    name: str
    """Of the function's parameter."""
    typed: Any
    info: ArgumentInfo | OptionInfo
    default: Any
    """`inspect.Parameter.empty` if it must be given."""

    @property
    def shown(self) -> str:
        """Name in the usage, and in the table of an argument."""
        return self.info.metavar or self.name.upper()

    def row(self) -> tuple[str, str, str, str]:
        """Return the row of the table."""
        doc = plain(self.info.help or "")
        if not self.names():
            return code(self.shown.strip("[]")), "", self._without(), doc
        return ", ".join(map(code, self.names())), code(self._value()), self._without(), doc

    def names(self) -> list[str]:
        """List the names of an option: those it was given, or its parameter's; of an argument none.

        Inside `Annotated` the first name takes the place that a default has elsewhere.
        """
        if not isinstance(self.info, OptionInfo):
            return []
        given = [self.info.default, *(self.info.param_decls or ())]
        names = [name for name in given if isinstance(name, str) and name.startswith("-")]
        return names or [f"--{self.name.replace('_', '-')}"]

    def _value(self) -> str:
        """Say what an option takes; nothing if it is a flag."""
        if isinstance(self.typed, type) and issubclass(self.typed, Enum):
            return "|".join(choice.value for choice in self.typed)
        if self.typed is bool:
            return ""
        return self.info.metavar or {int: "INTEGER", float: "NUMBER"}.get(self.typed, "TEXT")

    def _without(self) -> str:
        """Say what holds without it: in words where it has some, else its default."""
        if self.default is inspect.Parameter.empty:
            return "must be given"
        if isinstance(self.info.show_default, str):
            return plain(self.info.show_default)
        if self.typed is bool:
            return ""
        return "" if self.default is None else code(str(self.default))


def _parameters(function: Function) -> Iterator[_Parameter]:
    """Yield those that a user can give."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        typed, *marks = _annotated(hints[name])
        infos = [mark for mark in marks if isinstance(mark, ArgumentInfo | OptionInfo)]
        assert len(infos) == 1, f"{function.__name__}: {name} is neither argument nor option"
        if not infos[0].hidden:
            yield _Parameter(name, _not_none(typed), infos[0], parameter.default)


def _annotated(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) is Annotated else (hint,)


def _not_none(typed: Any) -> Any:
    """Return what is there besides None; what an option that is repeated takes each time."""
    if get_origin(typed) in (types.UnionType, Union):
        (typed,) = [part for part in get_args(typed) if part is not types.NoneType]
    return get_args(typed)[0] if get_origin(typed) is list else typed
