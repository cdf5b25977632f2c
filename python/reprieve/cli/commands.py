"""The commands: where each is found, and the application that loads the one that is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from reprieve import _native
from reprieve.cli.console import say

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OF_STUDIES = ("characterize", "reproduce", "validate", "database")
"""Commands of the package `reprieve_studies`, whose needs are the extra `studies`."""

COMMANDS = {
    "init": "reprieve.cli.init:init",
    "run": "reprieve.cli.run:run",
    "explain": "reprieve.cli.explain:explain",
    "compare": "reprieve.cli.compare:compare",
    "sweep": "reprieve.cli.sweep:sweep",
    "query": "reprieve.cli.sweep:query",
    "tune": "reprieve.cli.tune:tune",
    "calibrate": "reprieve.cli.calibrate:calibrate",
    "drives": "reprieve.cli.drives:drives",
    "rig": "reprieve.cli.rig:rig",
    "power-loss": "reprieve.cli.power_loss:power_loss",
    "serve": "reprieve.cli.serve:serve",
    "ctl": "reprieve.cli.serve:ctl",
    "ui": "reprieve.cli.ui:ui",
    "devices": "reprieve.cli.builtin:devices",
    "parts": "reprieve.cli.builtin:parts",
    "loads": "reprieve.cli.builtin:loads",
    "policies": "reprieve.cli.builtin:policies",
    "schema": "reprieve.cli.builtin:schema",
    "trace": "reprieve.cli.trace:trace",
    **{name: f"reprieve_studies.commands.{name}:{name}" for name in OF_STUDIES},
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


def _points() -> Iterable[EntryPoint]:
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


class _Command(_Light, TyperCommand):
    """A command of its own."""

    def invoke(self, ctx: Any) -> Any:
        """Run it, if the packages of its extra are installed."""
        if self.name in OF_STUDIES:
            from reprieve.extras import need_plots

            need_plots(f"reprieve {self.name}", "studies")
        return super().invoke(ctx)


class _Group(_Light, TyperGroup):
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
    one.command(cls=_Command)(function)
    return one


app = typer.Typer(cls=_Group, no_args_is_help=True, **(dict(_SETTINGS) | {"add_completion": True}))


def each(prefix: str = "reprieve") -> Iterator[tuple[str, Callable[..., Any] | None]]:
    """Yield every command by its full name; a group of commands does nothing by itself."""
    yield prefix, _reprieve
    for name in names():
        found = load(name)
        if not isinstance(found, typer.Typer):
            yield f"{prefix} {name}", found
            continue
        yield f"{prefix} {name}", None
        for command in found.registered_commands:
            assert command.callback is not None
            yield f"{prefix} {name} {command.name or command.callback.__name__}", command.callback


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
