"""The claims of the paper, measured on the runs of each reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import nan
from statistics import fmean
from typing import Any

from reprieve_studies.compress import mean_numbers
from reprieve_studies.frame import Claim, contrast, evaluate, few, judged
from reprieve_studies.mbm import runs
from reprieve_studies.mbm.runs import DATA, MAIN, MBM, OPS, SPRINKLER, TAIL, TBM, Measured, Outcome
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.verdicts import EVENTS_MIN, Verdict

CHIPS: Sequence[int] = DATA["plan"]["full"]["chips"]


def _faster_at_all(outcome: Outcome) -> float:
    of, every = outcome.normalised, product(CHIPS, runs.RIVALS)
    return float(sum(of(MBM, chips) < of(rival, chips) for chips, rival in every))


def _msnfs_more(outcome: Outcome) -> float:
    *others, last = (contrast("above", [pair]) for pair in outcome.pairs("erases", MBM, TBM))
    return last - max(others)


MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "best_chips": lambda outcome: min(CHIPS, key=lambda chips: outcome.normalised(MBM, chips)),
    "faster_at_all": _faster_at_all,
    "msnfs_more": _msnfs_more,
}
"""Measures that are more than a metric of runs."""


def of_other_readings(claim: Claim) -> bool:
    """Return whether other readings have the runs of a claim, too: with two chips a channel."""
    return claim.measure == "mean_us" and "needs" not in claim.options


def measure(outcome: Outcome, claim: Claim) -> float:
    """Measure a claim with one seed."""
    if claim.measure in MEASURES:
        return MEASURES[claim.measure](outcome)
    of = claim.options
    own = replace(outcome, series=of.get("series", outcome.series))
    loads = [load for load in own.papers
             if load == of.get("load", load) and load != of.get("without")]  # fmt: skip

    def value(load: str, scheme: str) -> float:
        if scheme == "best other":
            return max(value(load, one) for one in (*runs.RIVALS, runs.PLAIN))
        return runs.METRICS[claim.measure](own.one(load, scheme, of.get("chips", 2)))

    if claim.measure == "normalised":
        return evaluate(claim, [of["scheme"]], own.normalised)
    return evaluate(claim, loads, value)


def measured(outcome: Outcome, claim: Claim, series: str = MAIN) -> Estimate:
    """Measure a claim over the seeds, on a series of runs, or on its own."""
    return estimate([measure(one, claim) for one in outcome.seeds(series=series)])


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Return every claim, in the order of the paper."""
    return [_verdict(outcome, claim) for claim in DATA.claims]


def _verdict(outcome: Outcome, claim: Claim) -> Verdict:
    plan, of = outcome.plan, claim.options
    is_of_tails = claim.measure == "tails" or of.get("series") == TAIL
    if (is_of_tails and not plan.tail_times) or not {*of.get("needs", ())} <= {*plan.chips}:
        return claim.verdict(None, seeds=plan.seeds, kind="predicted", lack="its runs are left out")
    if claim.measure == "tails":
        return _of_tails(outcome, claim)
    return judged(
        claim,
        lambda series, equal: measured(replace(outcome, instead=equal), claim, series),
        MAIN,
        DATA,
        plan.seeds,
        lack=too_few_events(outcome, claim),
        others=plan.readings if of_other_readings(claim) else (),
    )


def too_few_events(outcome: Outcome, claim: Claim) -> str:
    """Return in words that a claim rests on too few events in a run, if it does.

    Those of a percentile are the requests beyond it, those of a mean or a bandwidth all requests.
    """
    if claim.measure == "read_p99_us":
        what = "reads beyond the percentile"
        # A hundredth of the reads is beyond p99.
        counts = [group.one("MSNFS", name).latencies["read"].requests // 100
                  for group in outcome.seeds(series=TAIL)
                  for name in (SPRINKLER, MBM)]  # fmt: skip
    elif claim.measure in ("erases", "msnfs_more"):
        what = "erases under a load"
        counts = [int(one.one(load, name).counts["erases"]) for one in outcome.seeds()
                  for load in outcome.papers for name in (TBM, MBM)]  # fmt: skip
    else:
        what, series = "requests under a load", claim.options.get("series", MAIN)
        counts = [run.latencies["total"].requests for spot, run in outcome.runs.items()
                  if spot.series == series and spot.load in outcome.papers]  # fmt: skip
    events = min(counts)
    return f"{events} of {EVENTS_MIN} {what}" if events < EVENTS_MIN else ""


def tails(outcome: Outcome, claim: Claim) -> dict[tuple[str, str, float], list[bool]]:
    """Return by load, operation and percentile whether the rival's is longer, with each seed.

    Nothing for those that rest on too few requests in a run.
    """
    of, found = claim.options, {}
    loads, ops = of.get("loads", DATA["tail_loads"]), of.get("ops", OPS)
    for load, op, percent in product(loads, ops, of["percentiles"]):
        pairs = [[one.one(load, of[name]).latencies[op] for name in ("best", "rival")]
                 for one in outcome.seeds(series=TAIL)]  # fmt: skip
        requests = min(run.requests for pair in pairs for run in pair)
        is_enough = round(requests * (1 - percent / 100), 6) >= EVENTS_MIN
        us = [[run.percentiles_us[str(percent)] or nan for run in pair] for pair in pairs]
        found[load, op, percent] = [best < rival for best, rival in us] if is_enough else []
    return found


def _of_tails(outcome: Outcome, claim: Claim) -> Verdict:
    every, seeds = tails(outcome, claim), outcome.plan.seeds
    found = {case: holds for case, holds in every.items() if holds}
    lack = "" if found else f"no percentile rests on {EVENTS_MIN} requests"
    notes = ["percentiles for which it holds"]
    if few_of := len(every) - len(found):
        notes.append(f"{few_of} further ones rest on fewer than {EVENTS_MIN} requests")
    if failing := {f"{load} {op} p{percent:g}": None for at, _ in enumerate(seeds)
                   for (load, op, percent), holds in found.items() if not holds[at]}:  # fmt: skip
        notes.append(f"not with every seed for {', '.join(failing)}")
    sums = [float(sum(holds[at] for holds in found.values())) for at, _ in enumerate(seeds)]
    verdict = claim.verdict(estimate(sums), seeds=seeds, kind="predicted", null=0.0,
                            lack=few(seeds) or lack)  # fmt: skip
    return replace(verdict, paper=len(found) or len(every), note="; ".join(notes))


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return every number by name; times and shares in the unit that ends their name."""
    plan, every = outcome.plan, (outcome.papers, [*runs.SCHEMES])
    tested = DATA["tail_loads"] if plan.tail_times else []
    series = {"runs": (MAIN, *every), "limit": (runs.LIMIT, *every),
              "tails": (TAIL, tested, runs.PAPERS)}  # fmt: skip
    shown = {one.name: one for one in (plan.base, *plan.readings)} if plan.readings else {}
    return {
        "requests": {"each": plan.requests, "short": plan.requests_short,
                     "tail": plan.requests * plan.tail_times,
                     "warm_up_percent": 100 * DATA["warm_up_share"]},
        "seeds": list(plan.seeds),
        "buffer_kib": plan.base.sets["buffer.bytes"] / 1024,
        "loads": {load: compression(outcome, load) for load in outcome.papers},
        **{name: {load: {scheme: _of_runs(outcome, of, load, scheme) for scheme in names}
                  for load in loads} for name, (of, loads, names) in series.items()},
        "over_tbm": {name: {metric: vars(outcome.over_tbm(name, metric))
                            for metric in ("mean_us", "read_us", "write_us")}
                     for name in (MBM, *runs.APART) if shown},
        "readings": {name: {"title": one.title, **{
            scheme: vars(outcome.over_tbm(scheme, series=name)) for scheme in (SPRINKLER, MBM)}}
            for name, one in shown.items()},
    }  # fmt: skip


def compression(outcome: Outcome, load: str) -> dict[str, float]:
    """Return how a load was compressed, mean of the seeds."""
    return mean_numbers(
        [outcome.compressions[runs.BASE, load, seed] for seed in outcome.plan.seeds]
    )


def _of_runs(outcome: Outcome, series: str, load: str, scheme: str) -> dict[str, Any]:
    """Return the numbers of a run by name, means of the seeds; None where a seed has none."""
    found = [_of_run(one.one(load, scheme)) for one in outcome.seeds(series=series)]
    values = {name: [one[name] for one in found] for name in found[0]}
    return {name: None if None in some else fmean(some) for name, some in values.items()}


def _of_run(run: Measured) -> dict[str, Any]:
    of = run.latencies
    p99_us = {op: of[op].percentiles_us["99.0"] for op in OPS}
    return {
        "mean_ms": of["total"].mean_us / 1e3,
        **{f"{op}_mean_ms": of[op].mean_us / 1e3 for op in OPS},
        **{f"{op}_p99_ms": us and us / 1e3 for op, us in p99_us.items()},
        **{f"{op}s": of[op].requests for op in OPS},
        **run.counts,
    }
