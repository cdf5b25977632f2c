"""Options that several commands share, or that would make one long."""

from pathlib import Path
from typing import Annotated, Any

import typer

from reprieve.cli.completion import OFFERS, Offer

__all__ = ["Force", "Jobs", "Sets", "argument", "flag", "given", "out_dir"]


def option(text: str, metavar: str, *names: str, shows_default: bool = True) -> Any:
    """Return an option, named after its parameter or as `names` say; a shell completes some."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=text,
        show_default=shows_default,
        autocompletion=OFFERS.get(metavar),
    )


def given(text: str, metavar: str = "FILE", *names: str) -> Any:
    """Return an option that has no default worth telling."""
    return option(text, metavar, *names, shows_default=False)


def argument(text: str, metavar: str | None = None, offer: Offer | None = None) -> Any:
    """Return an argument."""
    offer = offer or OFFERS.get(metavar)
    return typer.Argument(metavar=metavar, help=text, show_default=False, autocompletion=offer)


def flag(name: str, text: str) -> Any:
    """Return an option that is there or not."""
    return typer.Option(name, help=text)


def out_dir(otherwise: str) -> Any:
    """Return the option that says where results go; `otherwise`: where they go without it."""
    return typer.Option(metavar="DIR", help="Where results go.", show_default=otherwise)


Jobs = Annotated[
    int | None, typer.Option(min=1, help="Simulations at a time.", show_default="one a core")
]

UntilDecided = Annotated[
    str | None,
    given(
        'Run on until an interval is as narrow, such as "read.p99 2%".',
        "FIGURE SHARE",
        "--until-decided",
    ),
]

Minutes = Annotated[float | None, typer.Option(min=0, help="Start no run after this many minutes.")]

Scheduler = Annotated[
    str | None,
    given("Let the workers of this Dask scheduler do the runs, as tcp://host:8786.", "ADDRESS"),
]

FromState = Annotated[Path | None, given("Start from a saved state instead of preconditioning.")]

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.", show_default=False)
]

AllowPython = Annotated[
    bool, flag("--allow-python", "Execute the Python files that the scenario names as policies.")
]

Force = Annotated[
    bool, flag("--force", "Replace files that Reprieve did not write, or that were changed since.")
]

Sets = Annotated[
    list[str] | None,
    given(
        "Override a key, such as timing.t_read_us=50; may be repeated, the last wins.",
        "KEY=VALUE",
        "--set",
    ),
]

DrawTimeline = Annotated[
    bool, typer.Option("--timeline", help="Write timeline.perfetto-trace, for the Perfetto UI.")
]

TimelineFrom = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Draw from here on, such as 12ms.", show_default="the start"),
]

TimelineFor = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Draw so much, such as 1.5ms.", show_default="the rest"),
]

TimelinePhases = Annotated[
    bool, typer.Option("--timeline-phases", help="Draw pulses and verifies, too.")
]
