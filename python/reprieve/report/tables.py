"""The report's tables: cells as words, ready for the page."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprieve.confidence import (
    FIGURES,
    TOO_FEW,
    bounds_us,
    cell_us,
    compared,
    is_known,
    known,
    listed,
    shortage,
)
from reprieve.latency import KINDS
from reprieve.roles import bases, bound_runs
from reprieve.units import NOTHING, time

if TYPE_CHECKING:
    from reprieve import pairs
    from reprieve.plot.rows import Runs
    from reprieve.result import Result

_LOADS_MOST = 4
_TWO = 2
_NAMED_MOST = 5
"""Runs that are named one by one where a sentence holds of all."""


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
    """Return for reads and for writes the latencies in µs, and multiples of the base's."""
    return {op: _latencies(runs, op) for op in ("read", "write") if _count(runs, op)}


def _latencies(runs: Runs, op: str) -> Table:
    from markupsafe import Markup

    rows, all_bases, bounds = {}, bases(runs), bound_runs(runs)
    shown = known(result.summary["requests"][op]["count"] for result in runs.values())
    for label, result in runs.items():
        group = result.summary["requests"][op]
        base = runs[all_bases[label]].summary["requests"][op]
        first = base["latency_ns"]
        cells = [f"{group['count']:,}"]
        for key in (*shown, "max"):
            cells.append(cell_us(group, key))
            if not is_known(group["count"], key):
                continue
            if len(runs) > 1 and first[key] and is_known(base["count"], key):
                cells[-1] += _multiple(group["latency_ns"][key] / first[key])
            if key in FIGURES:
                ends = " to ".join(bounds_us(group, key) or (TOO_FEW,))
                cells[-1] = Markup("{}<small>{}</small>").format(cells[-1], ends)
        rows[f"{label} (bound)" if label in bounds else label] = cells
    return Table(["requests", *(FIGURES[key] for key in shown), "max"], rows)


def lead(runs: Runs) -> str:
    """Return the first sentence: what changed, by how much, and whether it is significant.

    Of several runs it is about the one with the least mean, of reads if there are any, that a drive
    can have; of several loads it says that of each.
    """
    op = "read" if _count(runs, "read") else "write"
    if len(runs) == 1:
        return "; ".join(_of_one(label, run) for label, run in runs.items()) + "."
    groups: dict[str, list[str]] = {}
    for label, base in bases(runs).items():
        groups.setdefault(base, []).append(label)
    bounds = bound_runs(runs)
    told = [_best(runs, base, labels, op, bounds) for base, labels in groups.items()]
    if (left := len(told) - _LOADS_MOST) > 0:
        told[_LOADS_MOST:] = [f"The table has {left} loads more."]
    return " ".join(told)


def _best(runs: Runs, base: str, labels: Sequence[str], op: str, bounds: Collection[str]) -> str:
    """Say which run of a load has the least mean, and what it is measured by."""
    from reprieve.pairs import latency, paired

    groups = {label: runs[label].summary["requests"][op] for label in labels}
    means = {
        label: group["latency_ns"]["mean"] / 1000 for label, group in groups.items()
        if group["count"] and label not in bounds and label != base
    }  # fmt: skip
    if not groups[base]["count"]:
        return "; ".join(_of_one(label, runs[label]) for label in labels) + "."
    if not means:
        is_alone = sum(group["count"] > 0 for group in groups.values()) == 1 < len(labels)
        return f"{base} alone has {op}s." if is_alone else f"{_of_one(base, runs[base])}."
    best = min(means, key=lambda label: means[label])
    pair = paired([runs[best]], [runs[base]])[latency(op, "mean")]
    first = groups[base]["latency_ns"]["mean"] / 1000
    real = sum(label not in bounds for label in labels)
    of_all = f", the lowest of {real} runs" if real > _TWO else ""
    but = " besides bounds" if of_all and real < len(labels) else ""
    return (
        f"The mean {op} takes {means[best]:,.1f} µs in run “{best}”{of_all}{but}, and "
        f"{first:,.1f} µs in run “{base}”{_ratio(pair)}; {decision(pair)}."
    )


def decision(pair: pairs.Paired) -> str:
    """Return in words whether a difference is significant."""
    if reason := pair.get("reason"):
        return f"whether they differ is unknown: {reason}"
    if pair["decided"]:
        return "significant at 95 %"
    from reprieve.pairs import times_more

    needs = times_more(pair["mean_difference"], pair["low"], pair["high"])
    return f"not significant at 95 %{needs}"


def _of_one(label: str, result: Result) -> str:
    """Return what reads, or writes, of a run took."""
    for op in ("read", "write"):
        group = result.summary["requests"][op]
        if group["count"]:
            mean = group["latency_ns"]["mean"] / 1000
            # The farthest that is more than chance; without any, the longest that there was.
            told = [key for key in FIGURES if bounds_us(group, key) is not None and key != "mean"]
            tail = told[-1] if told else "max"
            far = f"{group['latency_ns'][tail] / 1000:,.1f} µs at {FIGURES.get(tail, 'most')}"
            return f"{label}: {op}s take {mean:,.1f} µs on average, {far}"
    return f"{label}: neither reads nor writes"


def measured(runs: Runs) -> list[str]:
    """Say what is excluded, once for all runs of which the same kind of thing is excluded."""
    kinds: dict[tuple[str, bool], list[str]] = {}
    warnings: dict[str, list[str]] = {}
    for label, result in runs.items():
        measure = result.summary["measure"]
        if measure["from_ns"] or measure["requests_excluded"]:
            # The text behind the colon differs from run to run: the end of its transient.
            why = measure["reason"] if len(runs) == 1 else measure["reason"].partition(":")[0]
            kinds.setdefault((why, measure["requests_excluded"] > 0), []).append(label)
        if measure["warning"] is not None:
            warnings.setdefault(measure["warning"], []).append(label)
    notes = [_from(runs, labels, why) for (why, _), labels in kinds.items()]
    notes += [f"{_whom(labels, runs)}{warning}" for warning, labels in warnings.items()]
    return notes


def _from(runs: Runs, labels: Sequence[str], why: str) -> str:
    found = [runs[label].summary["measure"] for label in labels]
    begin = _range(time(ns) for ns in sorted({each["from_ns"] for each in found}))
    counts = _range(f"{count:,}" for count in sorted({each["requests_excluded"] for each in found}))
    excluded = "no request is excluded"
    if counts != "0":
        excluded = f"excluded are the first {counts} requests{' of each' * (len(found) > 1)}"
    return f"{_whom(labels, runs)}measured from {begin} on; {excluded} ({why})"


def _range(ordered: Iterable[str]) -> str:
    """Return one word, or the first and the last of several."""
    words = list(dict.fromkeys(ordered))
    return words[0] if len(words) == 1 else f"{words[0]} to {words[-1]}"


def _whom(labels: Sequence[str], runs: Runs) -> str:
    """Return the runs that a sentence is about, before it; nothing where it is about all."""
    return "" if len(labels) == len(runs) else f"{named(labels, len(runs))}: "


def named(labels: Sequence[str], count: int) -> str:
    """List some of the runs by name, or count them."""
    return listed(labels) if len(labels) <= _NAMED_MOST else f"{len(labels)} of {count} runs"


def decided(runs: Runs) -> list[str]:
    """Return a sentence a run but the bases: in what it differs from its base, and in what not."""
    from reprieve.pairs import paired

    shown, told = compared([result.summary for result in runs.values()]), list[str]()
    for label, base in bases(runs).items():
        if label != base:
            told += verdicts(base, {label: paired([runs[label]], [runs[base]])}, shown)
    return told


def unknown(runs: Runs) -> list[str]:
    """Return sentences: of what there are too few requests for an interval."""
    if len(runs) > 1:
        return too_few(runs)
    (result,) = runs.values()
    return shortage({kind: result.summary["requests"][kind] for kind in KINDS})


def verdicts(
    base: str, found: Mapping[str, Mapping[str, pairs.Paired]], figures: Iterable[tuple[str, str]]
) -> list[str]:
    """Return a sentence a run: in which figures it differs from the base, and in which not."""
    told = list(figures)
    return [f"{label} against {base}: {_verdict(each, told)}" for label, each in found.items()]


def too_few(runs: Runs) -> list[str]:
    """Return sentences: which figures of which runs have too few requests for an interval."""
    unknown: dict[str, list[str]] = {}
    figures = compared([result.summary for result in runs.values()])
    for label, result in runs.items():
        requests = result.summary["requests"]
        for op, figure in figures:
            if requests[op]["count"] and figure in requests[op]["confidence"]["too_few"]:
                unknown.setdefault(f"{op} {FIGURES[figure]}", []).append(label)
    by_runs: dict[str, list[str]] = {}
    for what, labels in unknown.items():
        is_all = len(labels) == len(runs) > _NAMED_MOST
        by_runs.setdefault(f"all {len(runs)} runs" if is_all else listed(labels), []).append(what)
    return [
        f"too few requests for an interval of {listed(whats)}: {names_of}"
        for names_of, whats in by_runs.items()
    ]


def _verdict(found: Mapping[str, pairs.Paired], figures: Iterable[tuple[str, str]]) -> str:
    """Return the significant differences between two runs, and the others."""
    from reprieve.pairs import latency, nearest

    if reason := found["device_iops"].get("reason"):
        return f"no difference can be tested: {reason}"
    differ: list[str] = []
    alike: dict[str, pairs.Paired] = {}
    for op, figure in figures:
        pair, what = found[latency(op, figure)], f"{op} {FIGURES[figure]}"
        if pair["decided"]:
            differ.append(f"{what}{_ratio(pair)}")
        elif "reason" not in pair:
            alike[what] = pair
    said = [f"significant at 95 %: {', '.join(differ)}"] if differ else []
    if alike:
        more = nearest(alike)
        said.append(f"not significant{'' if differ else ' at 95 %'}: {', '.join(alike)}{more}")
    return "; ".join(said) or "no difference can be tested"


def _ratio(pair: pairs.Paired) -> str:
    """Return how large a difference is as a multiple of the first, with its interval."""
    ratio, low, high = (pair[name] for name in ("ratio", "ratio_low", "ratio_high"))
    if ratio is None or low is None or high is None:
        return ""
    # As many digits as tell the ends apart.
    digits = 2 if high == low else max(2, 1 - math.floor(math.log10(high - low)))
    return f" (×{ratio:.{digits}f}, {low:.{digits}f} to {high:.{digits}f})"


def _multiple(ratio: float) -> str:
    return f" (×{ratio:.2f})" if ratio >= 0.1 else f" (×{ratio:#.2g})"  # noqa: PLR2004


def waf(result: Result) -> str:
    """Return the write amplification of a run for a table; a dash if nothing was written."""
    has_writes = result.summary["requests"]["write"]["count"] > 0
    return f"{result.summary['flash']['waf']:.3f}" if has_writes else NOTHING


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
            waf(result),
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


def _count(runs: Runs, op: str) -> int:
    return sum(int(result.summary["requests"][op]["count"]) for result in runs.values())
