"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
