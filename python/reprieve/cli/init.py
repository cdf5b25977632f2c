"""`reprieve init`: a scenario and a sweep to begin with, that run as they are."""

from __future__ import annotations

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

_TEXT = """\
#:schema ./{schema}
# A drive and its load. `reprieve run {scenario} --print` shows every key and its value;
# the schema, which editors use, and the reference say what each means.
seed = 1
# `reprieve devices` lists them, `reprieve devices NAME` prints one.
device = "{device}"

[ftl]
precondition = "sequential"    # the drive is full; "steady": and collects garbage as it goes on

[suspension]
{of_program}program = "{program}"
# policy = "deadline"          # when to suspend: `reprieve policies` lists the ways
# max_per_program = 10         # then the program runs to its end; absent: no limit

# [suspension.deadline]        # the key of that policy
# read_slo_us = 500

[workload]
generator = "mixed"            # or trace = "FILE", or fio = "JOBS.fio"
requests = 50000
read_fraction = 0.7
request_bytes = {request_bytes}
addresses = "uniform"
arrivals = "closed"            # queue_depth requests at a time; "poisson" takes rate_iops instead
queue_depth = 16

[measure]
warmup = "auto"                # the transient at the beginning is found and left out
"""

_SWEEP_TEXT = """\
# The same drive under other loads{and_without}: reprieve sweep {sweep}
scenario = "{scenario}"
design = "grid"

[set]
"workload.requests" = 20000

[axes]
"workload.read_fraction" = [0.5, 0.7, 0.9]
{axis}
"""


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


def _files(device: str) -> dict[str, str]:
    """Return the texts by name."""
    drive = Scenario(device=device)
    program = str(drive.suspension.program)
    suspends = program != "none"
    names = {"schema": _SCHEMA, "scenario": _SCENARIO, "sweep": _SWEEP, "device": device}
    page_bytes = drive.geometry.page_bytes
    scenario = _TEXT.format(
        program=program,
        of_program='# "none": reads wait for programs.\n' if suspends else "",
        request_bytes=min(4096, page_bytes),
        **names,
    )
    if suspends:
        axis = f'"suspension.program" = ["none", "{program}"]'
    else:
        axis = '"workload.queue_depth" = [4, 16]'
    and_without = ", with and without suspension" if suspends else ""
    sweep = _SWEEP_TEXT.format(axis=axis, and_without=and_without, **names)
    return {_SCENARIO: scenario, _SWEEP: sweep, _SCHEMA: _native.json_schema() + "\n"}
