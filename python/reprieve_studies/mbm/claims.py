"""The claims of the paper, measured on the runs of each reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import nan
from statistics import fmean
from typing import Any, NamedTuple

from reprieve_studies.compress import Compression, mean_numbers
from reprieve_studies.frame import Claim, contrast, evaluate, explained, few, without_effect
from reprieve_studies.mbm.runs import (
    APART,
    BASE,
    DATA,
    LIMIT,
    MAIN,
    MBM,
    OPS,
    PAPERS,
    PLAIN,
    RIVALS,
    SCHEMES,
    SPRINKLER,
    TAIL,
    TBM,
    Measured,
    Plan,
    Spot,
)
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.verdicts import EVENTS_MIN, Kind, Verdict

MSNFS = "MSNFS"
CHIPS: Sequence[int] = DATA["plan"]["full"]["chips"]


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    compressions: Mapping[tuple[str, str, int], Compression]
    runs: Mapping[Spot, Measured]
    series: str = MAIN
    """Of the runs that measures look at."""
    seed: int = 1
    """Of the same."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Schemes whose runs stand in the place of others."""

    @property
    def papers(self) -> list[str]:
        """Return the paper's loads."""
        return [load.trace for load in self.plan.papers]

    def of_series(self, series: str) -> Outcome:
        """Return the results of another series."""
        return replace(self, series=series)

    def seeds(self) -> Iterator[Outcome]:
        """Yield the results of each seed."""
        return (replace(self, seed=seed) for seed in self.plan.seeds)

    def one(self, load: str, scheme: str, chips: int = 2) -> Measured:
        """Return a run of the series, or that of the judged reading where it has none."""
        spot = Spot(self.series, load, self.instead.get(scheme, scheme), chips, self.seed)
        return self.runs[spot if spot in self.runs else spot._replace(series=BASE)]

    def pairs(self, metric: str, of: str, to: str) -> list[tuple[float, float]]:
        """Return a metric of two schemes under every load."""
        value = METRICS[metric]
        return [(value(self.one(load, of)), value(self.one(load, to)))
                for load in self.papers]  # fmt: skip

    def over_tbm(self, scheme: str, metric: str = "mean_us") -> Estimate:
        """Return a metric over that of TBM, average of the loads, over the seeds."""
        return estimate([contrast("ratio", one.pairs(metric, scheme, TBM)) for one in self.seeds()])

    def normalised(self, scheme: str, chips: int) -> float:
        """Return the mean latency over that of TBM with two chips, average of the loads."""
        pairs = [
            (self.one(load, scheme, chips).mean_us(), self.one(load, TBM).mean_us())
            for load in self.papers
        ]
        return contrast("ratio", pairs)


def _read_p99_us(run: Measured) -> float:
    found = run.percentile_us("read", 99.0)
    return nan if found is None else found


METRICS: Mapping[str, Callable[[Measured], float]] = {
    "mean_us": Measured.mean_us,
    "read_us": lambda run: run.mean_us("read"),
    "write_us": lambda run: run.mean_us("write"),
    "mb_per_s": lambda run: run.mb_per_s,
    "erases": lambda run: float(run.erases),
    "read_p99_us": _read_p99_us,
}


# ---- Measures ------------------------------------------------------------------------------------


def _best_chips(outcome: Outcome) -> float:
    return float(min(CHIPS, key=lambda chips: outcome.normalised(MBM, chips)))


def _faster_at_all(outcome: Outcome) -> float:
    of = outcome.normalised
    return float(sum(of(MBM, chips) < of(rival, chips) for chips in CHIPS for rival in RIVALS))


def _msnfs_more(outcome: Outcome) -> float:
    found = [contrast("above", [pair]) for pair in outcome.pairs("erases", MBM, TBM)]
    above = dict(zip(outcome.papers, found, strict=True))
    return above.pop(MSNFS) - max(above.values())


MEASURES: Mapping[str, Callable[..., float]] = {
    "best_chips": _best_chips,
    "faster_at_all": _faster_at_all,
    "msnfs_more": _msnfs_more,
}
"""Measures that are more than a metric of runs; each takes the results and its options."""


def of_other_readings(claim: Claim) -> bool:
    """Return whether other readings have the runs of a claim, too: with two chips a channel."""
    return claim.measure == "mean_us" and claim.options.get("chips", 2) == 2  # noqa: PLR2004


def measure(outcome: Outcome, claim: Claim, series: str = MAIN) -> float:
    """Measure a claim with one seed, on a series of runs, or on its own."""
    if claim.measure in MEASURES:
        return MEASURES[claim.measure](outcome, **claim.options)
    of = claim.options
    loads = [load for load in outcome.papers
             if load == of.get("load", load) and load != of.get("without")]  # fmt: skip
    group = outcome.of_series(of.get("series", series))

    def value(load: str, scheme: str) -> float:
        if scheme == "best other":
            return max(value(load, one) for one in (*RIVALS, PLAIN))
        return METRICS[claim.measure](group.one(load, scheme, of.get("chips", 2)))

    if claim.measure == "normalised":
        return evaluate(claim, [of["scheme"]], group.normalised)
    return evaluate(claim, loads, value)


def measured(outcome: Outcome, claim: Claim, series: str = MAIN) -> Estimate:
    """Measure a claim over the seeds."""
    return estimate([measure(one, claim, series) for one in outcome.seeds()])


# ---- Verdicts ------------------------------------------------------------------------------------


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Return every claim, in the order of the paper."""
    return [_verdict(outcome, claim) for claim in DATA.claims]


def _verdict(outcome: Outcome, claim: Claim) -> Verdict:
    seeds = outcome.plan.seeds
    if left_out(outcome, claim):
        return claim.verdict(None, seeds=seeds, kind="predicted", lack="its runs are left out")
    if claim.measure == "tails":
        return _of_tails(outcome, claim)
    lack = few(seeds) or too_few_events(outcome, claim)
    null = without_effect(
        claim,
        DATA["null"],
        lambda equal: measured(replace(outcome, instead=equal), claim),
    )
    kind: Kind = "duplicate" if claim.options.get("again") else "predicted"
    verdict = claim.verdict(measured(outcome, claim), seeds=seeds, kind=kind, null=null, lack=lack)
    readings = outcome.plan.readings if of_other_readings(claim) else ()
    return explained(verdict, claim, lambda name: measured(outcome, claim, name), readings)


def too_few_events(outcome: Outcome, claim: Claim) -> str:
    """Return in words that a claim rests on too few events in a run, if it does.

    Those of a percentile are the requests beyond it; those of a mean, or of a bandwidth, the
    requests that count.
    """
    if claim.measure == "read_p99_us":
        # A hundredth of the reads is beyond p99.
        runs = (group.one(MSNFS, name) for group in outcome.of_series(TAIL).seeds()
                for name in (SPRINKLER, MBM))  # fmt: skip
        events = min(run.latencies["read"].requests // 100 for run in runs)
        what = "reads beyond the percentile"
    elif claim.measure in ("erases", "msnfs_more"):
        runs = (one.one(load, name) for one in outcome.seeds() for load in outcome.papers
                for name in (TBM, MBM))  # fmt: skip
        events, what = min(run.erases for run in runs), "erases under a load"
    else:
        series = claim.options.get("series", MAIN)
        events = min(run.latencies["total"].requests for spot, run in outcome.runs.items()
                     if spot.series == series and spot.load in outcome.papers)  # fmt: skip
        what = "requests under a load"
    return f"{events} of {EVENTS_MIN} {what}" if events < EVENTS_MIN else ""


def left_out(outcome: Outcome, claim: Claim) -> bool:
    """Return whether a plan has no runs of a claim: of tails, or of more chips."""
    of = claim.options
    chips = (
        CHIPS if claim.measure in ("best_chips", "faster_at_all")
        else (of["of"], of["to"]) if claim.measure == "normalised"
        else (of.get("chips", CHIPS[0]),)
    )  # fmt: skip
    of_tails = claim.measure == "tails" or of.get("series") == TAIL
    return (of_tails and not outcome.plan.tail_times) or not {*chips} <= {*outcome.plan.chips}


class Tail(NamedTuple):
    """A percentile of two schemes."""

    load: str
    op: str
    percent: float
    best_us: float
    rival_us: float

    @property
    def holds(self) -> bool:
        """Whether the rival's is longer."""
        return self.best_us < self.rival_us


def tail_cases(outcome: Outcome, claim: Claim) -> list[tuple[str, str, float]]:
    """Return the percentiles of a claim that rest on enough requests in every run, with theirs."""
    of = claim.options
    groups = list(outcome.of_series(TAIL).seeds())

    def is_enough(load: str, op: str, percent: float) -> bool:
        counts = [group.one(load, of[name]).latencies[op].requests
                  for group in groups for name in ("best", "rival")]  # fmt: skip
        return round(min(counts) * (1 - percent / 100), 6) >= EVENTS_MIN

    return [case for case in _every_case(claim) if is_enough(*case)]


def _every_case(claim: Claim) -> list[tuple[str, str, float]]:
    of = claim.options
    return list(product(of.get("loads", DATA["tail_loads"]), of.get("ops", OPS), of["percentiles"]))


def tails(outcome: Outcome, claim: Claim) -> list[Tail]:
    """Compare the percentiles of a claim with one seed."""
    group, found = outcome.of_series(TAIL), []
    for load, op, percent in tail_cases(outcome, claim):
        runs = (group.one(load, claim.options[name]) for name in ("best", "rival"))
        best, rival = (run.percentile_us(op, percent) for run in runs)
        assert best is not None and rival is not None, (load, op, percent)
        found.append(Tail(load, op, percent, best, rival))
    return found


def _of_tails(outcome: Outcome, claim: Claim) -> Verdict:
    each = [tails(one, claim) for one in outcome.seeds()]
    tested, every = len(each[0]), len(_every_case(claim))
    none = "" if tested else f"no percentile rests on {EVENTS_MIN} requests"
    lack = few(outcome.plan.seeds) or none
    notes = ["percentiles for which it holds"]
    if tested < every:
        notes.append(f"{every - tested} further ones rest on fewer than {EVENTS_MIN} requests")
    if failing := {f"{one.load} {one.op} p{one.percent:g}": None for found in each
                   for one in found if not one.holds}:  # fmt: skip
        notes.append(f"not with every seed for {', '.join(failing)}")
    verdict = claim.verdict(
        estimate([float(sum(one.holds for one in found)) for found in each]),
        seeds=outcome.plan.seeds, kind="predicted", null=0.0, lack=lack,
    )  # fmt: skip
    return replace(verdict, paper=tested or every, note="; ".join(notes))


# ---- Numbers -------------------------------------------------------------------------------------


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return every number by name; times and shares in the unit that ends their name."""
    plan = outcome.plan
    tested = DATA["tail_loads"] if plan.tail_times else ()
    return {
        "requests": {"each": plan.requests, "short": plan.requests_short,
                     "tail": plan.requests * plan.tail_times,
                     "warm_up_percent": 100 * DATA["warm_up_share"]},
        "seeds": list(plan.seeds),
        "buffer_kib": plan.base.sets["buffer.bytes"] / 1024,
        "loads": {load.trace: compression(outcome, load.trace) for load in plan.papers},
        "runs": _series(outcome, MAIN, outcome.papers, list(SCHEMES)),
        "limit": _series(outcome, LIMIT, outcome.papers, list(SCHEMES)),
        "tails": _series(outcome, TAIL, tested, PAPERS),
        "over_tbm": {name: {metric: vars(outcome.over_tbm(name, metric))
                            for metric in ("mean_us", "read_us", "write_us")}
                     for name in (MBM, *APART)} if plan.readings else {},
        "readings": {one.name: {"title": one.title, **{
            name: vars(outcome.of_series(one.name).over_tbm(name)) for name in (SPRINKLER, MBM)}}
            for one in ((plan.base, *plan.readings) if plan.readings else ())},
    }  # fmt: skip


def compression(outcome: Outcome, load: str) -> dict[str, float]:
    """Return how a load was compressed, mean of the seeds."""
    return mean_numbers([outcome.compressions[BASE, load, seed] for seed in outcome.plan.seeds])


def _series(
    outcome: Outcome, series: str, loads: Sequence[str], schemes: Sequence[str]
) -> dict[str, Any]:
    return {load: {name: of_runs(outcome, series, load, name) for name in schemes}
            for load in loads}  # fmt: skip


def of_runs(outcome: Outcome, series: str, load: str, scheme: str) -> dict[str, float | None]:
    """Return the numbers of a run by name, means of the seeds; None where a seed has none."""
    found = [_of_run(one.of_series(series).one(load, scheme)) for one in outcome.seeds()]
    return {
        name: None if None in values else fmean(values)
        for name in found[0]
        if (values := [one[name] for one in found])
    }


def _of_run(run: Measured) -> dict[str, Any]:
    p99_us = {op: run.percentile_us(op, 99.0) for op in OPS}
    return {
        "mean_ms": run.mean_us() / 1e3,
        **{f"{op}_mean_ms": run.mean_us(op) / 1e3 for op in OPS},
        **{f"{op}_p99_ms": None if us is None else us / 1e3 for op, us in p99_us.items()},
        **{f"{op}s": run.latencies[op].requests for op in OPS},
        **{name: getattr(run, name) for name in (
            "mb_per_s", "erases", "gc_waf", "die_busy_percent", "suspended_percent",
            "joint_percent")},
    }  # fmt: skip
