"""The commands: where each is found, and the application that loads the one that is called."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from reprieve import _native
from reprieve.cli.console import say
from reprieve.cli.groups import GROUPS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OF_STUDIES = tuple(GROUPS["Studies"])
"""Commands of the package `reprieve_studies`, whose needs are the extra `studies`."""

COMMANDS = {
    name: f"reprieve_studies.commands.{place}" if name in OF_STUDIES else f"reprieve.cli.{place}"
    for commands in GROUPS.values()
    for name, (place, _) in commands.items()
    if place
}
"""Module and name of each command: a function, or a `Typer` of several."""

GROUP = "reprieve.commands"
"""Entry points of this group are commands of other packages."""

_SETTINGS: Mapping[str, Any] = {
    "add_completion": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "rich_markup_mode": "rich",
}


def load(name: str) -> Callable[..., Any] | typer.Typer:
    """Return a command; KeyError if there is none."""
    if name in COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        found: Callable[..., Any] = getattr(import_module(module), attribute)
        return found
    for point in _points():
        if point.name == name:
            loaded: Callable[..., Any] = point.load()
            return loaded
    raise KeyError(name)


def names() -> list[str]:
    """List the commands that are here: our own, then those of other packages."""
    return [*COMMANDS, *sorted({point.name for point in _points()} - {*COMMANDS})]


def _points() -> Iterable["EntryPoint"]:
    # Looking for them takes a while, and our own commands do without.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


class _Taken:
    """Converter of a parameter's value that passes it on unchanged where possible.

    For every parameter Typer uses Pydantic, whose import takes longer than a small simulation.
    """

    @classmethod
    def by(cls, parameter: Any) -> None:
        """Stand in for Typer's own, where Typer has one that is made when it is asked for."""
        if getattr(parameter, "_runtime_param", parameter) is None:
            parameter._runtime_param = cls()

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a value of the parameter's type; an error of Typer's if there is none."""
        wanted = param.type_descriptor.annotation
        if wanted == list[str]:
            return list(value or ()) or ()
        if value is None or (isinstance(wanted, type) and isinstance(value, wanted)):
            return value
        if wanted is Path:
            return Path(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class _Light:
    """Has parameters that are taken as they are, where that will do."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return them, with that of `--help`."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            _Taken.by(each)
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from reprieve.cli.help import text

        formatter.write(text(self, ctx))


class Command(_Light, TyperCommand):
    """A command with a help of our own."""

    def invoke(self, ctx: Any) -> Any:
        """Run it, if the packages of its extra are installed."""
        if self.name in OF_STUDIES:
            from reprieve.extras import need_plots

            need_plots(f"reprieve {self.name}", "studies")
        return super().invoke(ctx)


class Group(_Light, TyperGroup):
    """Several commands with a help of our own."""


class _Group(Group):
    """Loads the module of a command when the command is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List them as the help does."""
        return names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; None if there is none of this name."""
        try:
            found = load(cmd_name)
        except KeyError:
            # Among these names the error message looks for the one that was meant.
            self.commands = dict.fromkeys(names(), self)
            return None
        made = typer.main.get_command(found if isinstance(found, typer.Typer) else _alone(found))
        made.name = cmd_name
        return made


def _alone(function: Callable[..., Any]) -> typer.Typer:
    one = typer.Typer(**_SETTINGS)
    one.command(cls=Command)(function)
    return one


app = typer.Typer(cls=_Group, no_args_is_help=True, **(dict(_SETTINGS) | {"add_completion": True}))


def each(command: Any = None, name: str = "reprieve") -> Iterator[tuple[str, Any]]:
    """Yield every command by its full name, those that only have others among them."""
    command = typer.main.get_command(app) if command is None else command
    yield name, command
    if isinstance(command, TyperGroup):
        context = typer.Context(command, info_name=name)
        for one in command.list_commands(context):
            yield from each(command.get_command(context, one), f"{name} {one}")


def _version(asked: bool) -> None:
    if asked:
        say(f"reprieve {_native.__version__}")
        raise typer.Exit


@app.callback()
def _reprieve(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Simulate an SSD whose programs and erases can be suspended, exact to the nanosecond."""
