"""Options that several commands share, or that would make one long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DrawTimeline", "ScenarioFile", "Sets", "TimelineFor", "TimelineFrom", "TimelinePhases"]

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.", show_default=False)
]

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key, such as timing.t_read_us=50; may be repeated, the last wins.",
        show_default=False,
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
