"""The commands, gathered into one application."""

from __future__ import annotations

from typing import Annotated

import typer

from reprieve import _native
from reprieve.cli.builtin import devices, loads, parts, policies, schema
from reprieve.cli.characterize import characterize
from reprieve.cli.compare import compare
from reprieve.cli.console import say
from reprieve.cli.database import database
from reprieve.cli.power_loss import power_loss
from reprieve.cli.reproduce import reproduce
from reprieve.cli.rig import rig
from reprieve.cli.run import run
from reprieve.cli.serve import ctl, serve
from reprieve.cli.sweep import query, sweep
from reprieve.cli.trace import trace
from reprieve.cli.validate import validate

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command()(run)
app.command()(compare)
app.command()(sweep)
app.command()(query)
app.command()(rig)
app.command()(characterize)
app.command()(power_loss)
app.command()(reproduce)
app.command()(validate)
app.command()(database)
app.command()(serve)
app.command()(ctl)
app.add_typer(trace, name="trace")
app.command()(devices)
app.command()(parts)
app.command()(loads)
app.command()(policies)
app.command()(schema)


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
