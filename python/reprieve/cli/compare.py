"""`reprieve compare`: the same scenario at each value of some keys."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from reprieve._native import UserError
from reprieve.cli import options
from reprieve.cli.console import command_line, progress, say, sentence, show, table
from reprieve.cli.options import given, out_dir
from reprieve.cli.signals import INTERRUPTED, save
from reprieve.comparison import Axis, Comparison, Settings, compare_into
from reprieve.confidence import FIGURES, TOO_FEW, UNDECIDED, UNKNOWN, compared, is_known, listed
from reprieve.extras import has_plots, missing
from reprieve.named_policies import trust
from reprieve.overwriting import inputs_of, may_write
from reprieve.pairs import Paired, latency, nearest
from reprieve.precision import Aim
from reprieve.report.tables import measured, named, too_few, verdicts, waf
from reprieve.roles import bound_runs
from reprieve.scenario import Source
from reprieve.units import NOTHING

_LONG_NS = 1_000_000
_MANY = 3
"""Bases that a title does not name any more."""
_EACH_MOST = 3
"""Runs of which each gets a sentence of its own, with its intervals."""
_TAIL = "read_latency_ns_p99"


def compare(
    scenario: options.ScenarioFile,
    axes: Annotated[
        list[str] | None,
        given(
            "A key and its values, such as policy=FIFO,RPS; repeated, all combinations run.",
            "KEY=V1,V2,…",
            "--axis",
        ),
    ] = None,
    arms: Annotated[
        list[str] | None,
        given(
            "A run by name and all that it overrides, such as 'cancel policy=PES-IPC'; repeated.",
            "'NAME KEY=VALUE …'",
            "--arm",
        ),
    ] = None,
    baseline: Annotated[
        str | None, given("The run that the others are measured by, such as FIFO.", "LABEL")
    ] = None,
    until_decided: options.UntilDecided = None,
    minutes: options.Minutes = None,
    sets: options.Sets = None,
    out: Annotated[Path | None, out_dir("out/SCENARIO-compare")] = None,
    jobs: options.Jobs = None,
    allow_python: options.AllowPython = False,
    force: options.Force = False,
) -> None:
    """Run a scenario at each value of a key and compare all with one of them.

    That is read priority without suspension under the same load, if it is among them, else the
    first; `--baseline` names another. What no drive can have is marked as a bound.

    Each run's results go to DIR/LABEL, a report over all of them to DIR/report.html
    where the extra `plots` is installed.
    """
    source = Source.read(scenario, sets or ())
    parsed = [Axis.parse(text) for text in axes or ()]
    if arms:
        parsed.insert(0, Axis.of_arms(arms))
    directory = Path("out", f"{scenario.stem}-compare") if out is None else out
    trust(is_trusted=allow_python)
    may_write([], directory, inputs=inputs_of(source), force=force)
    if minutes is not None and until_decided is None:
        raise UserError("--minutes: ends runs that go on; give --until-decided too")
    with progress() as bars:
        aim = None if until_decided is None else Aim.parse(until_decided)
        ends = (save, baseline, aim, minutes)
        settings = Settings(
            jobs, command_line(), lambda run, share, done: bars(run.label, share, done), *ends
        )
        comparison = compare_into(source, parsed, directory, settings)
    _show(comparison)
    if comparison.known:
        sentence(comparison.known)
    if missing_runs := comparison.missing:
        whole, all_of = len(comparison), len(comparison) + len(missing_runs)
        sentence(f"interrupted: {whole} of {all_of} runs are whole, in {directory}")
        raise typer.Exit(INTERRUPTED)
    names = ["compare.json", "report.html"] if has_plots() else ["compare.json"]
    say("wrote " + ", ".join(str(directory / name) for name in names))
    if not has_plots():
        say(missing("report.html", "altair", "plots"))


def _show(comparison: Comparison) -> None:
    shown = compared([run.summary for run in comparison.values()])
    columns = [f"{op} {FIGURES[figure]}" for op, figure in shown]
    bases, bounds = comparison.bases, bound_runs(comparison)
    what = listed(dict.fromkeys(bases.values())) if len({*bases.values()}) < _MANY else "its base"
    rows = table(
        f"Latency, as multiples of {what}",
        [", ".join(axis.key for axis in comparison.axes), *columns, "suspensions", "WAF"],
    )
    ratios = comparison.normalised()
    found = {one: comparison.paired(one) for one, base in bases.items() if one != base}
    marked = set[str]()
    for base in dict.fromkeys(bases.values()):
        groups = [(comparison[base].summary["requests"][op], figure) for op, figure in shown]
        rows.add_row(f"{base}, µs", *(_absolute(*each) for each in groups), "", "", style="dim")
        for label in (one for one in comparison if bases[one] == base):
            summary, cells = comparison[label].summary, []
            for (op, figure), (group, _) in zip(shown, groups, strict=True):
                counts = [group["count"], summary["requests"][op]["count"]]
                ratio = ratios[label][f"{op}_{figure}"]
                if ratio is None or not all(is_known(count, figure) for count in counts):
                    cells.append(NOTHING if ratio is None else TOO_FEW)
                    continue
                mark = mark_of(found[label][latency(op, figure)]) if label in found else ""
                marked.add(mark)
                cells.append(f"{mark}{ratio:.3f}")
            suspensions = sum(summary["flash"]["suspensions"].values())
            name = f"{label} (bound)" if label in bounds else label
            rows.add_row(name, *cells, f"{suspensions:,}", waf(comparison[label]))
    show(rows)
    for note in [*measured(comparison), *certainty(comparison, found, marked=marked)]:
        sentence(note)


def _absolute(group: Mapping[str, Any], figure: str) -> str:
    if not group["count"]:
        return NOTHING
    is_told = is_known(group["count"], figure)
    return microseconds(group["latency_ns"][figure]) if is_told else TOO_FEW


def microseconds(ns: float) -> str:
    """Return a time in µs: of a millisecond and more, a tenth of one is nothing but width."""
    return f"{ns / 1000:,.{0 if ns >= _LONG_NS else 1}f}"


def mark_of(pair: Paired) -> str:
    """Return the mark before a multiple: none where it differs significantly from 1."""
    if pair["decided"]:
        return ""
    return UNKNOWN if "reason" in pair else UNDECIDED


def certainty(
    runs: Comparison, found: Mapping[str, Mapping[str, Paired]], *, marked: Collection[str]
) -> list[str]:
    """Say which differences are significant: a line for each of a few runs, else the marks.

    `found`: what each run has more than its base. `marked`: the marks that the table has.
    """
    named_bases = dict.fromkeys(runs.bases.values())
    base = named(list(named_bases), len(runs)) if len(named_bases) == 1 else "its base"
    notes = []
    if UNDECIDED in marked:
        notes.append(f"{UNDECIDED} not significant: at 95 % it may be the same as of {base}")
    if UNKNOWN in marked:
        notes.append(f"{UNKNOWN} too few requests to tell whether it differs from {base}")
    if bounds := bound_runs(runs):
        notes.append(f"{listed(bounds)}: a bound, which no drive can have")
    if len(runs) <= _EACH_MOST:
        shown = compared([run.summary for run in runs.values()])
        for label, measures in found.items():
            notes += verdicts(runs.bases[label], {label: measures}, shown)
    else:
        reasons: dict[str, list[str]] = {}
        for label, measures in found.items():
            if (reason := measures["device_iops"].get("reason")) is not None:
                reasons.setdefault(reason, []).append(label)
        notes += [
            f"no difference can be tested for {named(labels, len(runs))}: {reason}"
            for reason, labels in reasons.items()
        ]
        for base in named_bases:
            notes += _shortest(base, runs, found)
        notes.append("compare.json has the interval of each difference, run against run")
    return [*notes, *too_few(runs)]


def _shortest(first: str, runs: Comparison, found: Mapping[str, Mapping[str, Paired]]) -> list[str]:
    """Say which run of a load has the shortest tail of reads, of those that a drive can have."""
    bounds = bound_runs(runs)
    tails = {
        label: pairs[_TAIL]
        for label, pairs in found.items()
        if runs.bases[label] == first and pairs[_TAIL]["decided"] and label not in bounds
    }
    ratios = {label: ratio for label in tails if (ratio := tails[label]["ratio"]) is not None}
    best = min(ratios, key=ratios.__getitem__, default=first)
    if ratios.get(best, 1) >= 1:
        return []
    others = {one: runs.paired(one, best)[_TAIL] for one in ratios if one != best}
    alike = {one: pair for one, pair in others.items() if not pair["decided"]}
    is_same = all(pair["low"] == pair["high"] for pair in alike.values())
    words = f"{'the same' if is_same else 'not significantly longer'}{nearest(alike)}"
    ties = f"; that of {named([*alike], len(runs))} is {words}" if alike else ""
    interval = " to ".join(f"{tails[best][end]:.3f}" for end in ("ratio_low", "ratio_high"))
    factor = f"×{ratios[best]:.3f} of {first}'s ({interval})"
    return [f"read p99 is shortest under {best}: {factor}{ties}"]
