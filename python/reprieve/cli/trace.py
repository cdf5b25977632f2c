"""`reprieve trace`: what is in a trace or a load, a trace's first rows, a copy of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from reprieve._native import UserError
from reprieve.cli.console import say, show, table
from reprieve.traces import Trace, TraceRow, workload_info

trace = typer.Typer(no_args_is_help=True, help="Look into traces, and convert them.")

File = Annotated[
    str, typer.Argument(metavar="FILE", help="A trace, plain, .gz or .zst.", show_default=False)
]
Format = Annotated[
    str, typer.Option("--format", metavar="NAME", help="Its format; auto: found by content.")
]


@trace.command()
def info(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A trace, plain, .gz or .zst.")
    ] = None,
    format: Format = "auto",
    load: Annotated[
        str | None, typer.Option("--load", metavar="NAME", help="A load, in place of a trace.")
    ] = None,
    requests: Annotated[
        int | None, typer.Option("--requests", min=1, metavar="N", help="So many of the load's.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="The drive that the load is for.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what is in a trace or a load: span, mix, sizes, footprint, and what is odd about it."""
    if load is not None and file is None and format == "auto":
        sets = {} if requests is None else {"workload__requests": requests}
        found = workload_info({"device": device or "fast12-mlc", "load": load}, **sets)
    elif load is None and file is not None and requests is None and device is None:
        found = Trace(file, format).info()
    else:
        raise UserError(
            "trace info: give a FILE, with --format if need be, or --load NAME, "
            "with --requests and --device if need be"
        )
    if as_json:
        say(json.dumps(found, indent=2, ensure_ascii=False))
        return
    rows = table("", ["", file or str(load)], left=1)
    for name, value in _flat(found):
        rows.add_row(name, value)
    show(rows)


@trace.command()
def head(
    file: File,
    format: Format = "auto",
    rows: Annotated[int, typer.Option("-n", min=1, help="Rows to print.")] = 10,
) -> None:
    """Print the first requests of a trace."""
    printed = table("", TraceRow._fields, left=0)
    for row in Trace(file, format).head(rows):
        printed.add_row(*(str(cell) for cell in row))
    show(printed)


@trace.command()
def convert(
    file: File,
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="Compressed if it ends in .gz.", show_default=False)
    ],
    to: Annotated[
        str, typer.Option(metavar="NAME", help="The format to write.", show_default=False)
    ],
    format: Format = "auto",
) -> None:
    """Copy a trace into another format."""
    counts = Trace(file, format).convert(output, to)
    say(f"wrote {output}: " + ", ".join(f"{name} {value}" for name, value in _flat(counts)))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Flatten JSON into names and words, a list by its positions."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{name}[{index}]")
    elif isinstance(value, float):
        yield name, f"{value:,.6g}"
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, f"{value:,}"
    else:
        yield name, str(value)
