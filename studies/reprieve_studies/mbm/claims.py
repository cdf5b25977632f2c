"""The claims of the paper, measured on the runs of each reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import nan
from statistics import fmean
from typing import Any, NamedTuple

from reprieve_studies.compress import Compression
from reprieve_studies.frame import Claim, contrast, evaluate, explained
from reprieve_studies.logged import BEYOND_MIN
from reprieve_studies.mbm.runs import (
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
from reprieve_studies.seeds import Estimate
from reprieve_studies.verdicts import Verdict

MSNFS = "MSNFS"
CHIPS: Sequence[int] = DATA["chips"]


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    compressions: Mapping[tuple[str, str], Compression]
    runs: Mapping[Spot, Measured]
    series: str = MAIN
    """Of the runs that measures look at."""

    @property
    def papers(self) -> list[str]:
        """Return the paper's loads."""
        return [load.trace for load in self.plan.papers]

    def of_series(self, series: str) -> Outcome:
        """Return the results of another series."""
        return replace(self, series=series)

    def one(self, load: str, scheme: str, chips: int = 2) -> Measured:
        """Return a run of the series, or that of the base where it has none."""
        spot = Spot(self.series, load, scheme, chips)
        return self.runs[spot if spot in self.runs else spot._replace(series="base")]

    def pairs(self, metric: str, of: str, to: str) -> list[tuple[float, float]]:
        """Return a metric of two schemes under every load."""
        value = METRICS[metric]
        return [(value(self.one(load, of)), value(self.one(load, to)))
                for load in self.papers]  # fmt: skip

    def responses(self, scheme: str) -> list[float]:
        """Return the mean latency of all requests over that of TBM, for every load."""
        return [of / to for of, to in self.pairs("mean_us", scheme, TBM)]

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
    "mb_per_s": lambda run: run.mb_per_s,
    "erases": lambda run: float(run.erases),
    "read_p99_us": _read_p99_us,
}


# ---- Table I by hand -----------------------------------------------------------------------------

READ_US, PROGRAM_US, BUS_NS_PER_BYTE = 78.0, 1300.0, 10.0
PAGE_BYTES, CHANNELS, DIES_PER_CHIP, PLANES_PER_DIE = 8192, 4, 2, 2
TRANSFER_US = PAGE_BYTES * BUS_NS_PER_BYTE / 1e3
"""Of a page: 81.92."""


def channel_use(chips: int, pages: int, *, cached: bool = False) -> float:
    """Return the share of the time, in %, that writes occupy a channel whose chips all work.

    A chip takes `pages` one after the other and programs them together; it cannot take the next
    before, so that a round lasts its own transfers and the program, or all chips' transfers. With a
    cache register the next come in while it programs: a round lasts the longer of the two.
    """
    own_us = pages * TRANSFER_US
    round_us = max(own_us, PROGRAM_US) if cached else own_us + PROGRAM_US
    return min(100.0, 100 * chips * own_us / round_us)


def write_bound_mb_per_s(units: int = 2, pages: int = DIES_PER_CHIP * PLANES_PER_DIE) -> float:
    """Return the most that can be written if each unit of a channel takes its pages, then programs.

    By default chips of four pages; four dies of two pages program as soon as each has its own.
    """
    of_channel = units * pages * PAGE_BYTES / (pages * TRANSFER_US + PROGRAM_US)
    return CHANNELS * min(of_channel, 1e3 / BUS_NS_PER_BYTE)


def read_bound_mb_per_s() -> float:
    """Return what the channels carry."""
    return CHANNELS * 1e3 / BUS_NS_PER_BYTE


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
    "capacity": lambda *_: (32 * 4 * 64) / (4 * 4 * 512),
    "channel_use": lambda _, **case: channel_use(**case),
    "sensing": lambda *_: READ_US / TRANSFER_US,
}
"""Measures that are more than a metric of runs; each takes the results and its options."""
ARITHMETIC = ("capacity", "channel_use", "sensing")
"""Measures of Table I alone."""


def of_other_readings(claim: Claim) -> bool:
    """Return whether other readings have the runs of a claim, too: with two chips a channel."""
    return claim.measure == "mean_us" and claim.options.get("chips", 2) == 2  # noqa: PLR2004


def measure(outcome: Outcome, claim: Claim, series: str = MAIN) -> float:
    """Measure a claim on a series of runs, or on its own."""
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


# ---- Verdicts ------------------------------------------------------------------------------------


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Return every claim, in the order of the paper."""
    return [
        _of_tails(outcome, claim) if claim.measure == "tails" else _verdict(outcome, claim)
        for claim in DATA.claims
    ]


def _verdict(outcome: Outcome, claim: Claim) -> Verdict:
    is_arithmetic = claim.measure in ARITHMETIC
    verdict = claim.verdict(
        Estimate(measure(outcome, claim)), kind="arithmetic" if is_arithmetic else "measured"
    )
    lack = None if is_arithmetic else too_few_events(outcome, claim)
    if lack is not None or is_count(claim):
        return replace(verdict, note=lack or claim.note, untestable=True)
    readings = outcome.plan.readings if of_other_readings(claim) else ()
    return explained(verdict, claim, lambda name: Estimate(measure(outcome, claim, name)), readings)


def is_count(claim: Claim) -> bool:
    """Return whether a claim is a count of a trace, which a counterpart need not have."""
    return claim.of == "absolute" and claim.measure == "erases"


def too_few_events(outcome: Outcome, claim: Claim) -> str | None:
    """Return in words that a claim rests on too few events, if it does.

    Those of a percentile are the requests beyond it; those of a mean, or of a bandwidth, the
    requests that count.
    """
    if claim.measure == "read_p99_us":
        # A hundredth of the reads is beyond p99.
        runs = (outcome.of_series(TAIL).one(MSNFS, name) for name in (SPRINKLER, MBM))
        events = min(run.latencies["read"].requests // 100 for run in runs)
        what = "reads beyond the percentile"
    elif claim.measure in ("erases", "msnfs_more"):
        runs = (outcome.one(load, name) for load in outcome.papers for name in (TBM, MBM))
        events, what = min(run.erases for run in runs), "erases under a load"
    else:
        series = claim.options.get("series", MAIN)
        events = min(run.latencies["total"].requests for spot, run in outcome.runs.items()
                     if spot.series == series and spot.load in outcome.papers)  # fmt: skip
        what = "requests under a load"
    wanted = outcome.plan.events_min
    return f"too few {what}: {events}, {wanted} are wanted" if events < wanted else None


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


def tails(outcome: Outcome, claim: Claim) -> tuple[list[Tail], int]:
    """Compare the percentiles of a claim; return too how many rest on too few requests."""
    found, least = [], outcome.plan.events_min
    group, of = outcome.of_series(TAIL), claim.options
    loads, ops = of.get("loads", DATA["tail_loads"]), of.get("ops", OPS)
    cases = list(product(loads, ops, of["percentiles"]))
    for load, op, percent in cases:
        runs = [group.one(load, of[name]) for name in ("best", "rival")]
        best, rival = (run.percentile_us(op, percent) for run in runs)
        beyond = min(run.latencies[op].requests for run in runs) * (1 - percent / 100)
        # One that rests on fewer than `BEYOND_MIN` is none to begin with.
        few = least > BEYOND_MIN and beyond < least - 1e-6
        if best is not None and rival is not None and not few:
            found.append(Tail(load, op, percent, best, rival))
    return found, len(cases) - len(found)


def _of_tails(outcome: Outcome, claim: Claim) -> Verdict:
    found, too_few = tails(outcome, claim)
    failing = "; ".join(
        f"{one.load} {one.op} p{one.percent:g}: {claim.options['best']} {one.best_us:,.0f} µs, "
        f"other {one.rival_us:,.0f}" for one in found if not one.holds
    )  # fmt: skip
    few = f"fewer than {outcome.plan.events_min} requests"
    notes = [
        "percentiles for which it holds",
        *([f"{too_few} further ones rest on {few} and are left out"] if too_few else []),
        *([f"not for {failing}"] if failing else []),
    ]
    verdict = claim.verdict(Estimate(float(sum(one.holds for one in found))))
    return replace(verdict, paper=len(found), note="; ".join(notes), untestable=not found)


# ---- Numbers -------------------------------------------------------------------------------------


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return every number by name; times and shares in the unit that ends their name."""
    plan = outcome.plan
    named = [claim for claim in DATA.claims if claim.name]
    arithmetic = [_verdict(outcome, one) for one in DATA.claims if one.measure in ARITHMETIC]
    every = [load.trace for load in (*plan.papers, *plan.real)]
    return {
        "requests": {"each": plan.requests, "short": plan.requests_short,
                     "tail": plan.requests_tail, "warm_up_percent": 100 * DATA["warm_up_share"]},
        "speeds": {load: outcome.compressions["base", load].speed for load in every},
        "claims": {claim.name: measure(outcome, claim) for claim in named},
        "reproduced": {claim.name: _verdict(outcome, claim).reproduced for claim in named},
        "by_table_1": [{"ours": one.ours, "reproduced": one.reproduced} for one in arithmetic],
        "with_cache_register_percent": {"case 1": channel_use(5, 2, cached=True),
                                        "case 3": channel_use(4, 4, cached=True)},
        "tail_claims": [_tail_numbers(outcome, claim) for claim in DATA.claims
                        if claim.measure == "tails"],
        "runs": _series(outcome, MAIN, every, SCHEMES),
        "limit": _series(outcome, LIMIT, outcome.papers, SCHEMES),
        "tails": _series(outcome, TAIL, DATA["tail_loads"], PAPERS),
        "chips": {str(chips): {name: outcome.normalised(name, chips) for name in PAPERS}
                  for chips in CHIPS},
        "readings": {one.name: _reading(outcome, one.name)
                     for one in (DATA.readings["base"], *plan.readings)},
        "channel": {"chips_mb_per_s": write_bound_mb_per_s(),
                    "dies_mb_per_s": write_bound_mb_per_s(4, PLANES_PER_DIE),
                    "mb_per_s": read_bound_mb_per_s()},
    }  # fmt: skip


def _series(
    outcome: Outcome, series: str, loads: Sequence[str], schemes: Sequence[str] | Mapping[str, Any]
) -> dict[str, Any]:
    return {
        load: {name: of_run(outcome.runs[Spot(series, load, name)]) for name in schemes}
        for load in loads
    }


def of_run(run: Measured) -> dict[str, Any]:
    """Return the numbers of a run by name."""
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


def _tail_numbers(outcome: Outcome, claim: Claim) -> dict[str, Any]:
    found, too_few = tails(outcome, claim)
    held = [one for one in found if one.holds]
    return {
        "reproduced": len(held) == len(found),
        "compared": len(found),
        "held": len(held),
        "held_of": {op: sum(one.op == op for one in held) for op in OPS},
        "compared_of": {op: sum(one.op == op for one in found) for op in OPS},
        "too_few": too_few,
    }


def _reading(outcome: Outcome, series: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, scheme in (("mbm", MBM), ("sprinkler", SPRINKLER)):
        own = outcome.of_series(series).responses(scheme)
        found[key] = dict(zip(outcome.papers, own, strict=True))
        found[f"{key}_mean"] = fmean(own)
    return found
