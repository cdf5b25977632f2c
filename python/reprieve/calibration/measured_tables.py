"""Measurements as tables: figures in CSV or Parquet, and a TOML file of what was run."""

import csv
import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reprieve import words
from reprieve._native import UserError
from reprieve.calibration.fio_results import DIRECTIONS
from reprieve.calibration.measured import ALL_JOBS, Condition, Job, Measured
from reprieve.extras import need
from reprieve.foreign import read_text
from reprieve.toml_values import TomlValue, read_toml

COLUMNS = ("condition", "job", "op", "metric", "value")
PARTS = ("measured_with", "global", "jobs", "condition")
"""Keys of the TOML file of a table."""

_UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6}
_METRIC = re.compile(
    r"iops|count|(?P<what>mean|min|max|p(?:100|\d{1,2}(?:\.\d+)?))_(?P<unit>ns|us|ms)"
)
_METRICS = "p50_us, p99.9_us, mean_us, min_us, max_us (or _ns, _ms), iops, count"
_MEDIAN = 50.0

Figures = tuple[str, dict[str, float]]
"""Place of the first, and values by metric, latencies in ns: `p99.9`, `mean`, `iops`."""
ByOp = dict[str, Figures]


def read_table(path: Path) -> list[Condition]:
    """Read the conditions of a table, with the TOML file of the same stem; UserError if bad."""
    beside = read_toml(path.with_suffix(".toml"), f"the conditions of {path.name}")
    return conditions_of(beside.table_of(PARTS), [path])


def conditions_of(content: TomlValue, tables: Sequence[Path]) -> list[Condition]:
    """Return the conditions of a TOML file with the figures of its tables; UserError if bad."""
    found: dict[str, dict[str, ByOp]] = {}
    known = content["condition"].table()
    for where, row in (each for path in tables for each in _rows(path)):
        _among(where, "condition", row["condition"], known)
        _among(where, "op", row["op"], DIRECTIONS)
        by_op = found.setdefault(row["condition"], {}).setdefault(row["job"], {})
        _, figures = by_op.setdefault(row["op"], (where, {}))
        metric, value = _figure(where, row["metric"], row["value"])
        if metric in figures:
            raise UserError(f"{where}: metric = {row['metric']}: is there twice; must be once")
        figures[metric] = value
    return [_condition(content, name, found.get(name, {})) for name in known]


def _among(
    where: str, column: str, value: str, known: Sequence[str] | Mapping[str, object]
) -> None:
    if value not in known:
        raise UserError(f'{where}: {column} = "{value}": must be one of {", ".join(known)}')


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a table, each with its place."""
    if path.suffix == ".parquet":
        parquet = need("pyarrow.parquet", str(path), "pyarrow", "arrow")
        try:
            table = parquet.read_table(path)
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: cannot be read: {error}") from None
        _check_columns(str(path), table.column_names)
        for number, row in enumerate(table.to_pylist(), 1):
            yield f"{path}: row {number}", {key: str(value) for key, value in row.items()}
        return
    reader = csv.DictReader(read_text(path, "a table of figures").splitlines())
    _check_columns(f"{path}:1", reader.fieldnames or ())
    for row in reader:
        where = f"{path}:{reader.line_num}"
        if None in row or None in row.values():
            raise UserError(f"{where}: must have {len(COLUMNS)} values: {','.join(COLUMNS)}")
        yield where, row


def _check_columns(where: str, names: Sequence[str]) -> None:
    if sorted(names) != sorted(COLUMNS):
        raise UserError(f"{where}: columns = {','.join(names)}: must be {','.join(COLUMNS)}")


def _figure(where: str, metric: str, text: str) -> tuple[str, float]:
    """Return a metric without its unit, and its value in ns or as it is."""
    known = _METRIC.fullmatch(metric)
    if known is None:
        raise UserError(f"{where}: metric = {metric}: must be one such as {_METRICS}")
    value = words.number(text)
    if not (math.isfinite(value) and value > 0):
        raise UserError(f"{where}: value = {text}: must be a finite number above 0")
    return known["what"] or metric, value * _UNITS_NS.get(known["unit"], 1.0)


def _condition(content: TomlValue, name: str, figures: Mapping[str, ByOp]) -> Condition:
    given = content["condition"][name].table_of(("jobs",))
    if not figures:
        raise UserError(f"{content.where}: {given.name} has no figures; must have some in a table")
    jobs: list[Job] = []
    for job_name, own in given["jobs"].values():
        if job_name == ALL_JOBS:
            raise UserError(f"{content.where}: {own.name}: must not be named {ALL_JOBS}")
        options: dict[str, str] = {}
        for some in (content["global"], content["jobs"].optional()[job_name], own):
            options |= {key: _option(value) for key, value in some.optional().values()}
        jobs += _jobs(f"{content.where}: {own.name}", job_name, options, figures.get(job_name, {}))
    for job_name, by_op in figures.items():
        where = next(iter(by_op.values()))[0]
        _among(where, "job", job_name, [*given["jobs"].table(), ALL_JOBS])
    totals = {op: _measured(of, jobs, op) for op, of in figures.get(ALL_JOBS, {}).items()}
    tool = content["measured_with"]
    by = tool.text() if tool.is_there() else ""
    return Condition(name, Path(content.where), by, tuple(jobs), totals)


def _option(value: TomlValue) -> str:
    if not isinstance(value.raw, str | int | float):
        raise value.fault("a text or a number, as fio takes it")
    return str(int(value.raw) if isinstance(value.raw, bool) else value.raw)


def _jobs(where: str, name: str, options: dict[str, str], figures: ByOp) -> list[Job]:
    """Return a job, or one for each of its clones, each of which has a queue of its own."""
    job = Job(name, options, {})
    try:
        asked = job.asked
    except UserError as refused:
        raise UserError(f"{where}: {refused}") from None
    if not figures and None in map(job.limit, asked.sizes):
        raise UserError(f"{where}: has no figures; must have rows in a table, or rate or rate_iops")
    if asked.clones == 1:
        found = {op: _measured(of, [job], op) for op, of in figures.items()}
        for op, measured in found.items():
            if _MEDIAN not in measured.percentile_ns:
                raise UserError(f"{figures[op][0]}: its {op}s have no median; must have p50_us")
        return [dataclasses.replace(job, measured=found)]
    if figures or "offset_increment" in options:
        what = f'figures, which must be of job "{ALL_JOBS}"' if figures else "offset_increment"
        raise UserError(f"{where}: numjobs = {asked.clones} clones must have no {what}")
    return [
        Job(f"{name}.{number}", {**options, "numjobs": "1"}, {}) for number in range(asked.clones)
    ]


def _measured(of: Figures, jobs: Sequence[Job], op: str) -> Measured:
    """Return the figures of one direction of a job, or of all jobs."""
    where, figures = of
    among = [job for job in jobs if op in job.asked.sizes]
    if not among:
        raise UserError(f'{where}: op = "{op}": must be a direction of rw')
    percentile_ns = {float(key[1:]): value for key, value in figures.items() if key[0] == "p"}
    percentile_ns = dict(sorted(percentile_ns.items()))
    if list(percentile_ns.values()) != sorted(percentile_ns.values()):
        raise UserError(f"{where}: its percentiles of {op}s decrease; must increase")
    limits = [job.limit(op) for job in among]
    if "iops" not in figures and None in limits:
        raise UserError(f"{where}: has no iops; must have it, or its job rate or rate_iops")
    iops = figures.get("iops") or sum(limit or 0.0 for limit in limits)
    runtime_s = among[0].asked.runtime_s
    if percentile_ns and "count" not in figures and runtime_s is None:
        raise UserError(f"{where}: has no count; must have it, or its job runtime")
    return Measured(
        round(figures.get("count", iops * (runtime_s or 0.0))),
        iops,
        "lat" if all("lat_percentiles" in job.options for job in among) else "clat",
        percentile_ns,
        *(figures.get("mean", 0.0), figures.get("min", 0.0), figures.get("max", 0.0)),
        has_rate="iops" in figures,
    )
