"""The report's tables: cells as words, ready for the page."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from reprieve.plot.rows import Runs
from reprieve.plot.theme import COMPONENTS
from reprieve.result import Result

_STATISTICS = {
    "mean": "mean",
    "p50": "p50",
    "p99": "p99",
    "p99_9": "p99.9",
    "p99_99": "p99.99",
    "max": "max",
}


@dataclass(frozen=True)
class Table:
    """A table whose first column names the run."""

    columns: list[str]
    rows: dict[str, list[str]]


def facts(first: Result) -> dict[str, str]:
    """Return what was run: device, seed, workload, and how much of it."""
    scenario = tomllib.loads(first.scenario)
    workload = scenario.get("workload", {})
    load = workload.get("trace") or f"generated, {workload.get('generator', '')}"
    count = first.summary["requests"]["total"]["count"]
    changes = "".join(f"; {change}" for change in trace_changes(first))
    return {
        "Device": first.device,
        "Workload": f"{load.rsplit('/', 1)[-1]}: {count:,} requests{changes}",
        "Simulated": f"{first.summary['device']['simulated_ns'] / 1e9:,.3f} s",
        "Seed": str(first.summary["run"]["seed"]),
    }


def trace_changes(result: Result) -> list[str]:
    """Return what became of the rows of a trace other than being replayed as they are."""
    known = {
        "moved": "moved into the drive",
        "resorted": "put in order of time",
        "widened": "widened to whole sectors",
        "other_lines": "lines that are no rows",
    }
    counts = result.summary["workload"]
    return [
        f"{count:,} {known.get(name, f'left out ({name})')}"
        for name, count in counts.items()
        if count and name not in {"rows", "requests"}
    ]


def headline(runs: Runs) -> dict[str, Table]:
    """Return for reads and for writes the latencies in µs, and multiples of the first run's."""
    return {op: _latencies(runs, op) for op in ("read", "write") if _count(runs, op)}


def _latencies(runs: Runs, op: str) -> Table:
    first = next(iter(runs.values())).summary["requests"][op]["latency_ns"]
    rows = {}
    for label, result in runs.items():
        group = result.summary["requests"][op]
        cells = [f"{group['count']:,}"]
        for key in _STATISTICS:
            latency_ns = group["latency_ns"][key]
            ratio = _multiple(latency_ns / first[key]) if len(runs) > 1 and first[key] else ""
            cells.append(f"{latency_ns / 1000:,.1f}{ratio}" if group["count"] else "–")
        rows[label] = cells
    return Table(["requests", *_STATISTICS.values()], rows)


def _multiple(ratio: float) -> str:
    return f" (×{ratio:.2f})" if ratio >= 0.1 else f" (×{ratio:#.2g})"  # noqa: PLR2004


def suspensions(runs: Runs) -> Table:
    """Return counts of the flash: operations, suspensions, write amplification, throughput."""
    rows = {}
    for label, result in runs.items():
        flash, device = result.summary["flash"], result.summary["device"]
        rows[label] = [
            f"{flash['programs']:,}",
            f"{flash['suspensions']['program']:,}",
            f"{flash['erases']:,}",
            f"{flash['suspensions']['erase']:,}",
            f"{flash['waf']:.3f}",
            f"{device['iops']:,.0f}",
        ]
    columns = ["programs", "their suspensions", "erases", "their suspensions", "WAF", "IOPS"]
    return Table(columns, rows)


def power(runs: Runs) -> Table | None:
    """Return power and energy of the runs that account for them; None if none does."""
    rows = {}
    for label, result in runs.items():
        figures = result.summary.get("power")
        if figures is None:
            continue
        energy = figures["energy_uj"]
        classes = energy["by_class"]
        both = {name: parts["core"] + parts["io"] for name, parts in classes.items()}
        reads = both["host_read"] + both["rmw_read"]
        collection = both["gc_read"] + both["gc_program"]
        parts_uj = (energy["idle"], reads, both["host_write"], collection, both["erase"])
        rows[label] = [
            f"{figures['mean_mw']['total']:,.1f}",
            f"{figures['peak_mw']['total']:,.1f}",
            f"{figures['host_byte_nj']:,.2f}",
            *(f"{part / 1000:,.2f}" for part in (*parts_uj, both["suspension"])),
            f"{energy['io'] / 1000:,.2f}",
        ]
    columns = ["mean, mW", "peak, mW", "nJ a host byte", "idle, mJ", "reads, mJ", "writes, mJ"]
    columns += ["collection, mJ", "erases, mJ", "suspension, mJ", "of all that I/O, mJ"]
    return Table(columns, rows) if rows else None


def components(runs: Runs, op: str) -> Table | None:
    """Return the mean time of an operation by component in µs; None if it was not measured."""
    measured = {
        label: result.summary["requests"][op].get("components_ns", {})
        for label, result in runs.items()
    }
    used = [name for name in COMPONENTS if any(means.get(name) for means in measured.values())]
    if not used:
        return None
    rows = {
        label: [f"{means.get(name, 0) / 1000:,.1f}" for name in used]
        for label, means in measured.items()
    }
    return Table([COMPONENTS[name][0] for name in used], rows)


def _count(runs: Runs, op: str) -> int:
    return sum(int(result.summary["requests"][op]["count"]) for result in runs.values())
