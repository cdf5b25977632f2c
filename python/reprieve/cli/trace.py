"""`reprieve trace`: what is in a trace or a load, a trace's first rows, a copy of it."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reprieve._native import UserError
from reprieve.cli.commands import Command, Group
from reprieve.cli.console import say, sentence, show, table
from reprieve.cli.options import Force, argument, flag, given
from reprieve.confidence import TOO_FEW
from reprieve.frames import flat
from reprieve.outputs import replace_file
from reprieve.overwriting import may_write, named_by
from reprieve.traces import Trace, TraceRow, proposed_time_scale, workload_info
from reprieve.units import NOTHING, alike, share, size, sizes, time, times

if TYPE_CHECKING:
    from reprieve.trace_fit import Line, Verdict

trace = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    help="Look into traces, and convert them.",
)

File = Annotated[str, argument("A trace, plain, .gz or .zst, or a folder.", "FILE")]
Format = Annotated[
    str, typer.Option("--format", metavar="NAME", help="Its format; auto: found by content.")
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Detail that the format leaves open, as columns=...; repeat it for more.",
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


@trace.command(cls=Command)
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
        str | None, given("A load or its file, in place of a trace or beside it.", "LOAD")
    ] = None,
    requests: Annotated[
        int | None, typer.Option("--requests", min=1, metavar="N", help="The first N of the load.")
    ] = None,
    device: Annotated[str | None, given("The drive that it is for.", "DEVICE")] = None,
    as_json: Annotated[bool, flag("--json", "Print JSON.")] = False,
) -> None:
    """Say what is in a trace or a load: span, mix, sizes, footprint, and what is odd about it."""
    if devices and file is not None and load is None and requests is None and device is None:
        _devices(_trace(file, format, option), as_json)
        return
    drive = device or "fast12-mlc"
    if load is not None and file is None and format == "auto" and not option and not devices:
        with _options_named():
            found = workload_info({"device": drive, "load": load}, requests)
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
        _say_json(found)
        return
    _show(found, file or str(load))
    if load is None:
        told = NOTHING if scale is None else f"{scale:g}"
        say(f"time_scale for {drive}, proposed: {told}")


@trace.command(cls=Command)
def fit(
    file: File,
    out: Annotated[Path, given("The file of the load to write.", "LOAD.toml")],
    format: Format = "auto",
    option: Options = None,
    requests: Annotated[
        int | None, typer.Option("--requests", min=200, metavar="N", help="Only the first so many.")
    ] = None,
    device: Annotated[str | None, given("The drive that both are run through.", "DEVICE")] = None,
    as_json: Annotated[bool, flag("--json", "Print JSON.")] = False,
    force: Force = False,
) -> None:
    """Fit a load of two flows to a trace, write it, and run both through a drive."""
    from reprieve.trace_fit import DEVICE, DRAWS, order, requests_of, side_by_side, verdict
    from reprieve.trace_fit import fit as fitted

    may_write([out], inputs=[*_files(file), *named_by(Path(device or DEVICE))], force=force)
    opened = _trace(file, format, option)
    found = fitted(requests_of(opened, requests), file)
    with _options_named():
        judged = verdict(opened, found, device or DEVICE, requests)
    replace_file(out, found.toml(Path(file).name, judged.sentence()))
    draws = [order(found.sample(seed)) for seed in range(1, DRAWS + 1)]
    lines = side_by_side(found.trace, draws)
    if as_json:
        _say_json({"lines": [asdict(line) for line in lines], "verdict": judged.content()})
        return
    _print_lines(lines, file, str(out))
    _print_verdict(judged)
    say(f'wrote {out}: in a scenario, load = "{out}"')


@trace.command(cls=Command)
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


@trace.command(cls=Command)
def convert(
    file: File,
    output: Annotated[str, argument("Compressed if it ends in .gz.", "OUT")],
    to: Annotated[str, given("The format to write.", "NAME")],
    format: Format = "auto",
    option: Options = None,
    force: Force = False,
) -> None:
    """Copy a trace into another format."""
    may_write([Path(output)], inputs=_files(file), force=force)
    counts = _trace(file, format, option).convert(output, to)
    told = (f"{name} {count:,}" for name, count in flat(counts).items())
    say(f"wrote {output}: {', '.join(told)}")


def _say_json(content: Any) -> None:
    say(json.dumps(content, indent=2, ensure_ascii=False))


def _files(trace: str) -> list[Path]:
    """Return what a trace is read from: a file, a folder, or what a pattern finds."""
    return [Path(trace), *map(Path, glob(trace))]  # noqa: PTH207 # it may be absolute


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
    lines = side_by_side(found, draws)
    if as_json:
        _say_json([asdict(line) for line in lines])
        return
    _print_lines(lines, trace.path, load)


def _print_lines(lines: Sequence["Line"], trace: str, load: str) -> None:
    title = f"{Path(trace).name} beside {Path(load).name}, the load"
    printed = table(title, ["", "trace", "load", "in its draws"])
    for line in lines:
        ours, mean, low, high = alike((line.trace, line.load, line.low, line.high))
        known = NOTHING if line.low is None else f"{low} to {high}"
        printed.add_row(line.what, ours, mean, known)
    show(printed)


def _print_verdict(verdict: "Verdict") -> None:
    printed = table(f"on {verdict.device}", ["", "trace", "load", "in its draws", "difference"])
    for one in verdict.percentiles:
        known = [one.trace_ns, one.load_ns, one.low_ns, one.high_ns]
        ours, mean, low, high = (TOO_FEW if ns is None else f"{ns / 1e3:,.1f}" for ns in known)
        spread = TOO_FEW if one.low_ns is None else f"{low} to {high}"
        difference = TOO_FEW if one.difference is None else f"{100 * one.difference:+.1f} %"
        printed.add_row(f"{one.what}, µs", ours, mean, spread, difference)
    say("")
    show(printed)
    say(verdict.sentence())


def _devices(trace: Trace, as_json: bool) -> None:
    """Print the load of each device of a trace."""
    found = trace.devices()
    if as_json:
        _say_json([device._asdict() for device in found])
        return
    amounts = {
        "read": sizes([one.read_bytes for one in found]),
        "written": sizes([one.written_bytes for one in found]),
        "extent": sizes([one.extent_bytes for one in found]),
        "span": times([one.last_ns - one.first_ns for one in found]),
    }
    heads = [f"{what}, {unit}" for what, (unit, _) in amounts.items()]
    printed = table("", ["device", "name", "requests", "reads", "writes", *heads], left=2)
    for place, one in enumerate(found):
        printed.add_row(
            str(one.device),
            one.name or "",
            *(f"{each:,}" for each in (one.requests, one.reads, one.writes)),
            *(cells[place] for _, cells in amounts.values()),
        )
    show(printed)


_KINDS = {"": "all", "read_": "reads", "write_": "writes"}
_SIZES = {"mean": "mean", "min": "least", "p50": "p50", "p95": "p95", "p99": "p99", "max": "most"}


def _show(found: dict[str, Any], name: str) -> None:
    """Print what is in a trace or a load: by operation, then in time, then in space."""
    by_kind = table(name, ["", *_KINDS.values()])
    counts = {"": found["requests"], "read_": found["reads"], "write_": found["writes"]}
    bytes_of = {"read_": found["read_bytes"], "write_": found["written_bytes"]}
    bytes_of[""] = sum(bytes_of.values())
    by_kind.add_row("requests", *(f"{counts[kind]:,}" for kind in _KINDS))
    by_kind.add_row("amount", *(size(bytes_of[kind]) for kind in _KINDS))
    for key, word in _SIZES.items():
        groups = [found[f"{kind}size_bytes"] for kind in _KINDS]
        cells = (_or_nothing(group and group[key], size) for group in groups)
        by_kind.add_row(f"size, {word}", *cells)
    shares = [found[f"{kind}sequential_share"] for kind in _KINDS]
    by_kind.add_row("begin where the last ended", *(_or_nothing(each, share) for each in shares))
    show(by_kind)
    say("")
    rest = table("", ["", ""], left=2)
    rest.show_header = False
    for what, told in _rest(found):
        rest.add_row(what, told)
    show(rest)
    for note in found["notes"]:
        sentence(note)


def _rest(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a trace or a load has beside its reads and writes, in words."""
    yield "format", found["format"]
    yield "rows", f"{found['rows']:,}"
    for reason, number in found["dropped"].items():
        yield f"rows left out: {reason.replace('_', ' ')}", f"{number:,}"
    yield "lines that are no rows", f"{found['other_lines']:,}"
    yield "neither reads nor writes", f"{found['others']:,}"
    yield "from first to last", time(found["span_ns"])
    yield "gap between requests, mean", _or_nothing(found["interarrival_ns_mean"], time)
    scv, next_one = found["interarrival_scv"], found["interarrival_correlation"]
    yield "variance of gaps over mean²", _or_nothing(scv, "{:,.4g}".format)
    yield "correlation of a gap with the next", _or_nothing(next_one, "{:.3f}".format)
    same = _or_nothing(found["same_time_share"], share)
    yield "at the time of the one before", f"{found['same_time']:,} ({same})"
    yield "rows behind a later one", f"{found['times_back']:,}"
    yield "repeated within 1 ms", f"{found['near_duplicates']:,}"
    yield "aligned to 4 KiB", share(found["aligned_share"])
    yield "footprint", f"{size(4096 * found['footprint_pages'])} in pages of 4 KiB"
    yield "highest address", size(found["address_bytes_max"])
    yield "devices", f"{len(found['devices']):,}"


def _or_nothing(value: float | None, written: Callable[[float], str]) -> str:
    return NOTHING if value is None else written(value)
