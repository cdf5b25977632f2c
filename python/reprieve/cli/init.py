"""`reprieve init`: a scenario and a sweep to begin with, that run as they are."""

from pathlib import Path
from typing import Annotated

import typer

from reprieve import _native, registries
from reprieve._native import UserError
from reprieve.cli.console import say
from reprieve.cli.options import option
from reprieve.extras import has_plots
from reprieve.outputs import ResultDirectory
from reprieve.scenario import Scenario

_DEVICE = "fast12-mlc"
_SCENARIO, _SWEEP, _SCHEMA = "scenario.toml", "sweep.toml", "reprieve.schema.json"


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where to write; made if it is missing.")
    ] = Path(),
    device: Annotated[
        str, option("A built-in device, see `reprieve devices`.", "DEVICE")
    ] = _DEVICE,
) -> None:
    """Write a scenario with comments, a sweep of it, and their schema for editors."""
    registries.device(device)
    for name in (_SCENARIO, _SWEEP, _SCHEMA):
        if (directory / name).exists():
            raise UserError(
                f"{directory / name}: is there already, and stays as it is; give another DIR"
            )
    with ResultDirectory(directory) as out:
        for name, text in _files(device).items():
            out.write(name, text)
        paths = out.commit()
    for path in paths:
        say(str(path))
    report = " --report" if has_plots() else ""
    say(f"\nreprieve run {paths[0]} --out {directory / 'out'}{report}\nreprieve sweep {paths[1]}")


def _template(name: str) -> str:
    return Path(__file__).with_name(name).with_suffix(".template").read_text(encoding="utf-8")


def _files(device: str) -> dict[str, str]:
    """Return the texts by name."""
    drive = Scenario(device=device)
    program = str(drive.suspension.program)
    suspends = program != "none"
    has_zones = drive.zones.model != "none"
    names = {"schema": _SCHEMA, "scenario": _SCENARIO, "sweep": _SWEEP, "device": device}
    page_bytes = drive.geometry.page_bytes
    scenario = _template(_SCENARIO).format(
        program=program,
        of_program='# "none": reads wait for programs.\n' if suspends else "",
        request_bytes=min(4096, page_bytes),
        # A drive with zones is not overwritten.
        read_fraction=1.0 if has_zones else 0.7,
        **names,
    )
    if suspends:
        axis = f'"suspension.program" = ["none", "{program}"]'
    else:
        axis = '"workload.queue_depth" = [4, 16]'
    loads = '"workload.read_fraction" = [0.5, 0.7, 0.9]'
    if has_zones:
        loads = '"seed" = [1, 2]'
    and_without = ", with and without suspension" if suspends else ""
    sweep = _template(_SWEEP).format(axis=axis, loads=loads, and_without=and_without, **names)
    return {_SCENARIO: scenario, _SWEEP: sweep, _SCHEMA: _native.json_schema() + "\n"}
