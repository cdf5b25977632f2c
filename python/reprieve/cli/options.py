"""Options that several commands share, or that would make one long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "AllowPython",
    "DrawTimeline",
    "Force",
    "FromState",
    "Jobs",
    "ScenarioFile",
    "Sets",
    "TimelineFor",
    "TimelineFrom",
    "TimelinePhases",
    "argument",
    "flag",
    "given",
    "keys",
    "out_dir",
]


def keys(incomplete: str) -> list[str]:
    """Return the keys of a scenario that begin so, for a shell that completes `KEY=VALUE`."""
    from reprieve.sections import schema

    sections = schema().items()
    full = [f"{section}.{name}".lstrip(".") for section, names in sections for name in names]
    return [f"{name}=" for name in full if name.startswith(incomplete)]


def given(
    text: str,
    metavar: str = "FILE",
    *names: str,
    complete: Callable[[str], list[str]] | None = None,
) -> Any:
    """Return an option that has no default worth telling; it is named after its parameter.

    `complete`: what a shell offers in place of what was started.
    """
    return typer.Option(
        *names, metavar=metavar, help=text, show_default=False, autocompletion=complete
    )


def argument(text: str, metavar: str | None = None) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


def flag(name: str, text: str) -> Any:
    """Return an option that is there or not."""
    return typer.Option(name, help=text)


def out_dir(otherwise: str) -> Any:
    """Return the option that says where results go; `otherwise`: where they go without it."""
    return typer.Option(metavar="DIR", help="Where results go.", show_default=otherwise)


Jobs = Annotated[
    int | None, typer.Option(min=1, help="Simulations at a time.", show_default="one a core")
]

FromState = Annotated[Path | None, given("Start from a saved state instead of preconditioning.")]

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.", show_default=False)
]

AllowPython = Annotated[
    bool,
    flag("--allow-python", "Execute the Python files that the scenario names as policies."),
]

Force = Annotated[
    bool,
    flag("--force", "Replace files that Reprieve did not write, or that were changed since."),
]

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key, such as timing.t_read_us=50; may be repeated, the last wins.",
        show_default=False,
        autocompletion=keys,
    ),
]

DrawTimeline = Annotated[
    bool,
    typer.Option("--timeline", help="Write timeline.perfetto-trace, for the Perfetto UI."),
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
