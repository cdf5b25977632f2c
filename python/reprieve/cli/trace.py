"""`reprieve trace`: what is in a trace or a load, a trace's first rows, a copy of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reprieve._native import UserError
from reprieve.cli.console import say, show, table
from reprieve.cli.options import argument, flag, given
from reprieve.cli.units import humane
from reprieve.outputs import replace_file
from reprieve.time_scale import proposed_time_scale
from reprieve.traces import Trace, TraceDevice, TraceRow, workload_info

if TYPE_CHECKING:
    from reprieve.trace_fit import Line

trace = typer.Typer(no_args_is_help=True, help="Look into traces, and convert them.")

File = Annotated[str, argument("A trace, plain, .gz or .zst, or a folder.", "FILE")]
Format = Annotated[
    str, typer.Option("--format", metavar="NAME", help="Its format; auto: found by content.")
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="What the format leaves open, as columns=...; repeat it for more.",
    ),
]


# How a scenario refuses what an option has put into it.
_REFUSED = re.compile(r'<\w+>: (?P<option>device|load) = "(?P<value>.*?)": ', re.DOTALL)


@contextmanager
def _options_named() -> Iterator[None]:
    """Let what is wrong with a device or a load name its option: the user wrote no scenario."""
    try:
        yield
    except UserError as error:
        refused = _REFUSED.match(str(error))
        if refused is None:
            raise
        why = str(error)[refused.end() :]
        raise UserError(f"--{refused['option']} {refused['value']}: {why}") from None


@trace.command()
def info(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A trace, plain, .gz or .zst, or a folder."),
    ] = None,
    format: Format = "auto",
    option: Options = None,
    devices: Annotated[
        bool, flag("--devices", "List what each device was asked, and no more.")
    ] = False,
    load: Annotated[
        str | None,
        typer.Option(
            "--load", metavar="NAME", help="A load or its file, in place of a trace or beside it."
        ),
    ] = None,
    requests: Annotated[
        int | None, typer.Option("--requests", min=1, metavar="N", help="So many of the load's.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="The drive that it is for.")
    ] = None,
    as_json: Annotated[bool, flag("--json", "Print JSON.")] = False,
) -> None:
    """Say what is in a trace or a load: span, mix, sizes, footprint, and what is odd about it."""
    if devices and file is not None and load is None and requests is None and device is None:
        _devices(_trace(file, format, option), as_json)
        return
    drive = device or "fast12-mlc"
    if load is not None and file is None and format == "auto" and not option and not devices:
        sets = {} if requests is None else {"workload__requests": requests}
        with _options_named():
            found = workload_info({"device": drive, "load": load}, **sets)
    elif load is None and file is not None and requests is None and not devices:
        found = _trace(file, format, option).info()
    elif load is not None and file is not None and not devices:
        with _options_named():
            _beside(_trace(file, format, option), load, requests, drive, as_json)
        return
    else:
        raise UserError(
            "trace info: give a FILE, with --format, --option, and --devices or --device if need "
            "be, or --load NAME, with --requests and --device if need be, or both"
        )
    with _options_named():
        scale = proposed_time_scale(found, drive) if load is None else None
    if as_json:
        say(json.dumps(found, indent=2, ensure_ascii=False))
        return
    rows = table("", ["", file or str(load)], left=1)
    for name, value in _leaves(found):
        rows.add_row(*humane(name, value))
    if load is None:
        rows.add_row(f"time_scale for {drive}", "–" if scale is None else f"{scale:g}")
    show(rows)


@trace.command()
def fit(
    file: File,
    out: Annotated[Path, given("The file of the load to write.", "LOAD.toml")],
    format: Format = "auto",
    option: Options = None,
    requests: Annotated[
        int | None, typer.Option("--requests", min=200, metavar="N", help="Only the first so many.")
    ] = None,
    as_json: Annotated[bool, flag("--json", "Print JSON.")] = False,
) -> None:
    """Fit a load of two flows to a trace, write it, and lay both side by side."""
    from reprieve.trace_fit import DRAWS, order, requests_of, side_by_side
    from reprieve.trace_fit import fit as fitted

    opened = _trace(file, format, option)
    found = fitted(requests_of(opened, requests), file)
    replace_file(out, found.toml(Path(file).name))
    draws = [order(found.sample(seed)) for seed in range(1, DRAWS + 1)]
    _print_lines(side_by_side(found.trace, draws), file, str(out), as_json)
    if not as_json:
        say(f'wrote {out}: in a scenario, load = "{out}"')


@trace.command()
def head(
    file: File,
    format: Format = "auto",
    option: Options = None,
    rows: Annotated[int, typer.Option("-n", min=1, help="Rows to print.")] = 10,
) -> None:
    """Print the first requests of a trace."""
    printed = table("", TraceRow._fields, left=0)
    for row in _trace(file, format, option).head(rows):
        printed.add_row(*(str(cell) for cell in row))
    show(printed)


@trace.command()
def convert(
    file: File,
    output: Annotated[str, argument("Compressed if it ends in .gz.", "OUT")],
    to: Annotated[str, given("The format to write.", "NAME")],
    format: Format = "auto",
    option: Options = None,
) -> None:
    """Copy a trace into another format."""
    counts = _trace(file, format, option).convert(output, to)
    say(
        f"wrote {output}: "
        + ", ".join(f"{name} {_plain(value)}" for name, value in _leaves(counts))
    )


def _trace(file: str, format: str, options: list[str] | None) -> Trace:
    """Open a trace with options as the command line has them."""
    pairs: dict[str, str | float] = {}
    for option in options or []:
        key, equals, value = option.partition("=")
        if not equals:
            raise UserError(f"--option {option}: it must be KEY=VALUE")
        pairs[key] = value
    return Trace(file, format, **pairs)


def _beside(trace: Trace, load: str, requests: int | None, device: str, as_json: bool) -> None:
    """Print a trace and a load side by side."""
    from reprieve.trace_fit import DRAWS, drawn, order, requests_of, side_by_side

    found = order(requests_of(trace, requests))
    base = {"device": device, "load": load}
    seeds = range(1, DRAWS + 1)
    draws = [order(drawn({**base, "seed": seed}, found.requests)) for seed in seeds]
    _print_lines(side_by_side(found, draws), trace.path, load, as_json)


def _print_lines(lines: Sequence[Line], trace: str, load: str, as_json: bool) -> None:
    if as_json:
        say(json.dumps([asdict(line) for line in lines], indent=2, ensure_ascii=False))
        return
    printed = table("", ["", Path(trace).name, Path(load).name, "least", "most"], left=1)
    for line in lines:
        cells = (line.trace, line.load, line.low, line.high)
        printed.add_row(line.what, *("" if cell is None else f"{cell:,.4g}" for cell in cells))
    show(printed)


def _devices(trace: Trace, as_json: bool) -> None:
    """Print what each device of a trace was asked."""
    found = trace.devices()
    if as_json:
        say(json.dumps([device._asdict() for device in found], indent=2, ensure_ascii=False))
        return
    printed = table("", TraceDevice._fields, left=0)
    for device in found:
        printed.add_row(*("" if cell is None else str(cell) for cell in device))
    show(printed)


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten JSON into names and values, a list by its positions."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{name}[{index}]")
    else:
        yield name, value


def _plain(value: object) -> str:
    """Write a number as it is, with separators."""
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
