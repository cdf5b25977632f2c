"""The claims, measured: how much an erase scheme shortens the read tail, seed by seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import log
from statistics import fmean
from typing import Any

import numpy as np

from reprieve.experiments.store import Record
from reprieve_studies.aero import runs
from reprieve_studies.aero.runs import BASE, COMPARED, DATA, Plan, Runs, Spot
from reprieve_studies.frame import Claim, few
from reprieve_studies.runs import Bench
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.verdicts import EVENTS_MIN, Kind, Verdict

BEYOND = {"p99_9": 1_000, "p99_99": 10_000}
"""Requests for each one beyond a percentile."""
SURVIVES = next(one for one in DATA.claims if one.measure == "gain")
"""The claim that a gain is as large as the published one, whatever the case."""


@dataclass(frozen=True)
class Case:
    """A comparison: of a scheme with another, under one way of suspension."""

    arm: str
    scheme: str
    percentile: str
    to: str = BASE


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    runs: Runs
    means_ms: Mapping[tuple[str, int], float]
    """Mean erases by scheme and cycles."""

    def cells(self, case: Case) -> list[tuple[str, int]]:
        """Return the loads and cycles at which a case can be measured."""
        return [
            (load, cycles)
            for load in self.plan.loads
            for cycles in self.plan.cycles
            if case.percentile in DATA["loads"][load]["percentiles"]
            and all(Spot(load, scheme, case.arm, cycles, self.plan.seeds[0]) in self.runs
                    for scheme in (case.scheme, case.to))
        ]  # fmt: skip

    def gain(self, case: Case, cells: Iterable[tuple[str, int]]) -> Estimate:
        """Return by how many per cent a percentile is shorter, over the seeds.

        Over several loads and cycles it is the mean of the shares.
        """
        cells = list(cells)
        return estimate([self.gain_of(case, cells, seed) for seed in self.plan.seeds])

    def gain_of(self, case: Case, cells: Iterable[tuple[str, int]], seed: int) -> float:
        """Return it with one seed."""

        def at(scheme: str, cell: tuple[str, int]) -> float:
            load, cycles = cell
            run = self.runs[Spot(load, scheme, case.arm, cycles, seed)]
            return tail_us(run, case.percentile)

        return fmean(100 * (1 - at(case.scheme, cell) / at(case.to, cell)) for cell in cells)

    def of_case(self, case: Case, cells: Iterable[tuple[str, int]]) -> list[Record]:
        """Return the runs that a case rests on."""
        return [
            self.runs[Spot(load, scheme, case.arm, cycles, seed)]
            for load, cycles in cells
            for scheme in (case.scheme, case.to)
            for seed in self.plan.seeds
        ]

    def lack(self, case: Case, cells: Iterable[tuple[str, int]]) -> str:
        """Return what the runs of a case have too few of, in words; nothing if they are enough."""
        runs = self.of_case(case, cells)
        reads = min(int(run.summary["requests"]["read"]["count"]) for run in runs)
        erases = min(int(run.summary["flash"]["erases"]) for run in runs)
        events = reads // BEYOND[case.percentile]
        if events < EVENTS_MIN:
            return f"{events} of {EVENTS_MIN} reads beyond it"
        if erases < DATA["erases_min"]:
            return f"{erases} of {DATA['erases_min']} erases of a run"
        return few(self.plan.seeds)


def run(plan: Plan, bench: Bench) -> Outcome:
    """Run everything."""
    return Outcome(plan, runs.simulate(plan, bench), runs.mean_erases_ms())


def tail_us(run: Record, percentile: str) -> float:
    """Return a percentile of the reads of a run."""
    return float(run.summary["requests"]["read"]["latency_ns"][percentile]) / 1e3


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Return every claim, in the order of the file."""
    measures = {"mean": _of_mean, "gain": _of_gain, "untestable": _untestable}
    return [measures[claim.measure](outcome, claim) for claim in DATA.claims]


def _of_mean(outcome: Outcome, claim: Claim) -> Verdict:
    found = outcome.means_ms[claim.options["scheme"], claim.options["cycles"]]
    return claim.verdict(Estimate(found), kind="input")


def _of_gain(outcome: Outcome, claim: Claim) -> Verdict:
    case = Case(**claim.options)
    cells = outcome.cells(case)
    if not cells:
        return claim.verdict(None, lack="not run")
    return claim.verdict(
        outcome.gain(case, cells),
        seeds=outcome.plan.seeds,
        kind=_kind(outcome, case, cells),
        null=0.0,
        lack=outcome.lack(case, cells),
    )


def _kind(outcome: Outcome, case: Case, cells: Iterable[tuple[str, int]]) -> Kind:
    """Return what a gain is worth: nothing where what is to be suspended never was."""
    sets = DATA["arms"][case.arm]["sets"]
    asked = {"program": sets["suspension.program"] != "none", "erase": sets["suspension.erase"]}
    for run in outcome.of_case(case, cells):
        found = run.summary["flash"]["suspensions"]
        if any(wanted and not found[kind] for kind, wanted in asked.items()):
            return "vacuous"
    return "measured"


def _untestable(_outcome: Outcome, claim: Claim) -> Verdict:
    return replace(claim.verdict(None), untestable=True)


# ---- Numbers -------------------------------------------------------------------------------------


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return every number by name; gains in per cent, times as their names end."""
    flash = [run.summary["flash"] for run in outcome.runs.values()]
    busy = [100 * run.summary["device"]["die_busy_share"] for run in outcome.runs.values()]
    return {
        "seeds": list(outcome.plan.seeds),
        "runs": len(outcome.runs),
        "requests": {load: outcome.plan.requests(load) for load in outcome.plan.loads},
        "published_percent": DATA["published_percent"],
        "erases_of_a_run": _ends(one["erases"] for one in flash),
        "waf": _ends(one["gc_waf"] for one in flash),
        "busy_percent": _ends(busy),
        "means_ms": {scheme: {str(cycles): outcome.means_ms[scheme, cycles]
                              for cycles in DATA["cycles"]} for scheme in DATA["schemes"]},
        "arms": {name: arm["title"] for name, arm in DATA["arms"].items() if "as" not in arm},
        "loads": {name: DATA["loads"][name]["title"] for name in outcome.plan.loads},
        "gains": _gains(outcome),
        "tails_us": _tails_us(outcome),
        "erase_suspensions": _erase_suspensions(outcome),
        "other_seed_percent": vars(_other_seed(outcome)),
        "erase_time": erase_time(),
    }  # fmt: skip


def _ends(values: Iterable[float]) -> list[float]:
    found = sorted(values)
    return [found[0], found[-1]]


def cases(outcome: Outcome) -> list[Case]:
    """Return every case of AERO and AERO+ that was run."""
    every = [
        Case(arm, scheme, percentile)
        for arm, of in DATA["arms"].items()
        if "as" not in of
        for scheme in ("aero", "plus")
        for percentile in BEYOND
    ]
    return [case for case in every if outcome.cells(case)]


def _gains(outcome: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for case in cases(outcome):
        own = found.setdefault(case.arm, {}).setdefault(case.scheme, {})
        cells = outcome.cells(case)
        own[case.percentile] = {"all": judged(outcome, case, cells), "cells": {}}
        for load, cycles in cells:
            by_cycles = own[case.percentile]["cells"].setdefault(load, {})
            by_cycles[str(cycles)] = judged(outcome, case, [(load, cycles)])
    return found


def judged(outcome: Outcome, case: Case, cells: list[tuple[str, int]]) -> dict[str, Any]:
    """Return a gain, and whether the published one survives; None: undecided."""
    found = outcome.gain(case, cells)
    lack = outcome.lack(case, cells)
    return {**vars(found), "survives": SURVIVES.verdict(found, lack=lack).reproduced}


def _tails_us(outcome: Outcome) -> dict[str, Any]:
    """Return the mean p99.9 of reads by arm, scheme, load and cycles."""
    found: dict[str, Any] = {}
    for spot in dict.fromkeys(one._replace(seed=0) for one in outcome.runs):
        runs = [outcome.runs[spot._replace(seed=seed)] for seed in outcome.plan.seeds]
        own = found.setdefault(spot.arm, {}).setdefault(spot.scheme, {}).setdefault(spot.load, {})
        own[str(spot.cycles)] = fmean(tail_us(run, "p99_9") for run in runs)
    return found


def _erase_suspensions(outcome: Outcome) -> dict[str, dict[str, float]]:
    """Return suspensions of an erase where both are suspended, by scheme and cycles."""
    found: dict[str, dict[str, float]] = {}
    for scheme in COMPARED:
        for cycles in outcome.plan.cycles:
            spots = [
                Spot(load, scheme, "both", cycles, seed)
                for load in outcome.plan.loads
                for seed in outcome.plan.seeds
            ]
            flash = [outcome.runs[spot].summary["flash"] for spot in spots]
            suspensions = sum(one["suspensions"]["erase"] for one in flash)
            erases = sum(one["erases"] for one in flash)
            found.setdefault(scheme, {})[str(cycles)] = suspensions / erases
    return found


def _other_seed(outcome: Outcome) -> Estimate:
    """Return the gain of BASE over BASE with the next seed: what chance alone makes of it."""
    seeds = list(outcome.plan.seeds)
    case = Case("program", BASE, "p99_9")

    def gain(seed: int, other: int) -> float:
        spots = [Spot(load, BASE, case.arm, cycles, seed) for load, cycles in outcome.cells(case)]
        ratios = [
            log(tail_us(outcome.runs[spot], case.percentile))
            - log(tail_us(outcome.runs[spot._replace(seed=other)], case.percentile))
            for spot in spots
        ]
        return -100 * fmean(ratios)

    return estimate([gain(*pair) for pair in zip(seeds, seeds[1:] + seeds[:1], strict=True)])


def erase_time() -> dict[str, Any]:
    """Return how long all erases of a block take, by scheme, and when BASE's have taken as long.

    An accounting of ours, over the cycles that the data has, and no lifetime.
    """
    each_ms = {scheme: _means_ms(scheme) for scheme in COMPARED}
    sums_s = {scheme: sum(means) / 1e3 for scheme, means in each_ms.items()}
    found: dict[str, Any] = {"cycles": len(each_ms[BASE]), "sum_s": sums_s, "same_at": {}}
    for scheme in ("aero", "plus"):
        spent_s, cycles = 0.0, 0
        while spent_s < sums_s[scheme]:
            spent_s += each_ms[BASE][cycles] / 1e3
            cycles += 1
        found["same_at"][scheme] = cycles
    return found


def _means_ms(scheme: str) -> list[float]:
    """Return the mean erase at every number of cycles of a scheme's table, up to its last row."""
    table = runs.drive_of(scheme, 0).read("timing.t_erase_us_by_cycles")
    rows = [
        (cycles, sum(us * weight for us, weight in lengths) / sum(w for _, w in lengths) / 1e3)
        for cycles, lengths in table
    ]
    cycles, means = zip(*rows, strict=True)
    found: list[float] = np.interp(np.arange(cycles[0], cycles[-1]), cycles, means).tolist()
    return found
