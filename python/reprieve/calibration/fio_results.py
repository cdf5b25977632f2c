"""Measurements of fio: its JSON output, read and checked."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

from reprieve._native import UserError
from reprieve.calibration.fio_checks import checked
from reprieve.calibration.fio_options import Asked
from reprieve.calibration.measured import Amount, Condition, Entry, Job, Measured, by_name
from reprieve.foreign import JsonValue, decoded, read_text

DIRECTIONS = ("read", "write", "trim")
PERCENTS = (
    *(1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0),
    *(99.0, 99.5, 99.9, 99.95, 99.99),
)
"""Percentiles that fio reports by default, and that are taken from a histogram."""

_OUTPUT = "fio's --output-format=json"
_ALL_CLIENTS = "All clients"
_ALL = 100.0
_MEDIAN = 50.0
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)


def read_results(paths: Iterable[Path]) -> list[Condition]:
    """Read the files that `fio --output-format=json --output=FILE` wrote; raises UserError if bad.

    Lines of fio before the JSON are passed over. A file of `--status-interval` has an object for
    each interval: the last is taken, whose figures are of the whole run. Of fio's clients those of
    one host are read.
    """
    return [*by_name(_read(Path(path)) for path in paths).values()]


def _read(path: Path) -> Condition:
    content = _last_object(path, read_text(path, _OUTPUT))
    version = content["fio version"]
    fio_version = version.text() if version.is_there() else "fio"
    jobs = checked([_entry(content, each) for each in _jobs(content)])
    if not jobs:
        raise UserError(f"{path}: no job has completed a request")
    return Condition(path.stem, path, fio_version, tuple(jobs))


def _last_object(path: Path, text: str) -> JsonValue:
    """Return the last of the JSON objects of a file; each begins a line."""
    found = None
    start = _OBJECT.search(text)
    while start is not None:
        found, end = decoded(path, text, start.end() - 1)
        start = _OBJECT.search(text, end)
    if found is None:
        raise UserError(f"{path}: has no JSON; must be written with --output-format=json")
    return JsonValue(str(path), found)


def _jobs(content: JsonValue) -> list[JsonValue]:
    """Return the entries of jobs, of clients without the one that adds them up."""
    jobs = content["jobs"]
    if jobs.is_there():
        found = jobs.items()
    elif not content["client_stats"].is_there():
        raise UserError(f'{content.where}: has no "jobs"; must be {_OUTPUT}')
    else:
        found = content["client_stats"].items()
        found = [each for each in found if each["jobname"].raw != _ALL_CLIENTS]
        hosts = {each["hostname"].text() for each in found}
        if len(hosts) > 1:
            raise UserError(
                f"{content.where}: has clients of {len(hosts)} hosts ({', '.join(sorted(hosts))}), "
                "each with a drive of its own; must have those of one"
            )
    if not found:
        raise UserError(f"{content.where}: its list of jobs is empty; must be {_OUTPUT}")
    return found


def _entry(content: JsonValue, entry: JsonValue) -> Entry:
    name = entry["jobname"].text() if entry["jobname"].is_there() else "?"
    where = f'{content.where}: job "{name}"'
    entry = entry.at(where)
    error = entry["error"]
    if error.is_there() and error.whole(-(2**31)) != 0:
        raise UserError(f"{where}: ended with error {error.raw}; must have run to its end")
    # fio writes an option without a value as an empty text.
    options: dict[str, str] = {}
    for source in (content["global options"], entry["job options"]):
        if source.is_there():
            for key, value in source.table().items():
                options.pop(key, None)
                options[key] = JsonValue(source.where, value, f"{source.name}.{key}").text()
    try:
        asked = Asked.of(options)
    except UserError as refused:
        raise UserError(f"{where}: {refused}") from None
    directions = _directions(where, entry, asked)
    job = Job(name, options, {key: _measured(where, key, of) for key, of in directions.items()})
    return Entry(
        where,
        job,
        {key: _amount(content, of) for key, of in directions.items()},
        entry["groupid"].whole() if entry["groupid"].is_there() else 0,
        _optional(entry["elapsed"], 1.0),
        _optional(entry["job_runtime"], 1e-3),
        _levels(entry["iodepth_level"]),
    )


def _optional(value: JsonValue, unit: float) -> float | None:
    return value.number(least=0) * unit if value.is_there() else None


def _levels(levels: JsonValue) -> dict[int, float]:
    if not levels.is_there():
        return {}
    found = {}
    for key, share in levels.values():
        bare = key.removeprefix(">=")
        if bare.isascii() and bare.isdigit():
            found[int(bare)] = share.number(least=0) / _ALL
    return found


def _directions(where: str, entry: JsonValue, asked: Asked) -> dict[str, JsonValue]:
    """Return the figures of the directions that had any request."""
    found = {key: entry[key] for key in DIRECTIONS if _has_requests(entry[key])}
    if found or not _has_requests(entry["mixed"]):
        return found
    if len(asked.sizes) > 1:
        raise UserError(
            f'{where}: its {"s and ".join(asked.sizes)}s are one, "mixed", and cannot be told '
            "apart; fio must run without unified_rw_reporting"
        )
    return dict.fromkeys(asked.sizes, entry["mixed"])


def _has_requests(direction: JsonValue) -> bool:
    return direction.is_there() and direction["total_ios"].whole() > 0


def _amount(content: JsonValue, direction: JsonValue) -> Amount:
    in_bytes, runtime = direction["io_bytes"], direction["runtime"]
    is_old = str(content["fio version"].raw).startswith("fio-2")
    # fio 2 counts in KiB under this name.
    unit = 1024 if is_old else 1
    return Amount(
        in_bytes.whole() * unit if in_bytes.is_there() else None, _optional(runtime, 1e-3)
    )


def _measured(where: str, direction: str, content: JsonValue) -> Measured:
    latency, found, unit_ns = _latency(content)
    percentiles = {} if found is None else _percentiles(found["percentile"], unit_ns)
    bins = {} if found is None else _bins(where, direction, found["bins"])
    if found is None or not (percentiles or bins):
        raise UserError(
            f"{where}: has no percentiles of its {direction}s; fio must run with lat_percentiles=1"
        )
    # What `percentile_list` left out, the histogram of json+ has.
    by_percent = _of_histogram(bins, unit_ns) | percentiles
    by_percent = {percent: by_percent[percent] for percent in sorted(by_percent)}
    values = list(by_percent.values())
    if values != sorted(values) or values[0] <= 0:
        raise UserError(f"{where}: its percentiles of {direction}s decrease, or are not above 0")
    if _MEDIAN not in by_percent:
        raise UserError(f"{where}: has no median of its {direction}s; percentile_list must have 50")
    mean_ns, min_ns, max_ns = (
        found[each].number(least=0) * unit_ns if found[each].is_there() else 0.0
        for each in ("mean", "min", "max")
    )
    count, iops = content["total_ios"].whole(), content["iops"].number(above=0)
    return Measured(count, iops, latency, by_percent, mean_ns, min_ns, max_ns)


def _percentiles(content: JsonValue, unit_ns: float) -> dict[float, float]:
    if not content.is_there():
        return {}
    found = {}
    for key, value in content.values():
        # fio 2 fills the list up with percentiles of 0.
        if key.isascii() and key.replace(".", "", 1).isdigit() and float(key) > 0:
            if float(key) > _ALL:
                raise UserError(f"{value.where}: {value.name}: must be a percentage up to 100")
            found[float(key)] = value.number(least=0) * unit_ns
    return found


def _bins(where: str, direction: str, content: JsonValue) -> dict[int, int]:
    """Return the bins of `--output-format=json+`, latency: count."""
    found = {}
    for key, count in content.values() if content.is_there() else ():
        if not (key.isascii() and key.isdigit()):
            raise UserError(
                f'{where}: "bins" of its {direction}s has {key!r}; must be whole latencies'
            )
        found[int(key)] = count.whole(least=1)
    return found


def _of_histogram(bins: dict[int, int], unit_ns: float) -> dict[float, float]:
    """Return percentiles by nearest rank."""
    if not bins:
        return {}
    values = sorted(bins)
    until = list(accumulate(bins[value] for value in values))
    # As fio has it, a percentage is the binary number next to it, which may be above it.
    ranks = {percent: math.ceil(Fraction(percent) * until[-1] / 100) for percent in PERCENTS}
    return {
        percent: values[bisect_left(until, max(rank, 1))] * unit_ns
        for percent, rank in ranks.items()
    }


def _latency(content: JsonValue) -> tuple[str, JsonValue | None, float]:
    """Return which latency has percentiles, its figures, and their unit in ns."""
    # Whole latencies first; fio 2 has microseconds, and no unit in its names.
    for latency in ("lat", "clat"):
        for key, unit_ns in ((f"{latency}_ns", 1.0), (latency, 1000.0)):
            found = content[key]
            if found.is_there() and any(_is_filled(found[each]) for each in ("percentile", "bins")):
                return latency, found, unit_ns
    return "lat", None, 1.0


def _is_filled(value: JsonValue) -> bool:
    """Return whether percentiles or bins exist; those of a wrong type do, and are refused."""
    found: Any = value.raw
    return value.is_there() and found != {}
