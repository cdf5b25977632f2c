"""The claims of the paper, measured on the runs of each reading."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import fmean
from typing import Any, NamedTuple, cast

from reprieve.characterize import Measured, measure
from reprieve.experiments.store import Record
from reprieve_studies.characterize import claims as of_the_bench
from reprieve_studies.frame import Claim, Reading, evaluate, judged
from reprieve_studies.runs import Bench
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.verdicts import EVENTS_MIN, Kind, Verdict
from reprieve_studies.zambelli21.runs import BASE, DATA, JUDGED, PART, Plan, Runs, Spot, simulate


class Metric(NamedTuple):
    """A quantity on the axis of a figure."""

    title: str
    unit: str
    of: Callable[[Record], float]


def _latency_us(group: str, name: str) -> Callable[[Record], float]:
    return lambda run: float(run.summary["requests"][group]["latency_ns"][name]) / 1e3


def _power_mw(supply: str) -> Callable[[Record], float]:
    def of(run: Record) -> float:
        energy_uj = float(run.summary["power"]["energy_uj"][supply])
        return 1e6 * energy_uj / float(run.summary["device"]["simulated_ns"])

    return of


METRICS = {
    "iops": Metric("bandwidth", "kIOPS", lambda run: run.summary["device"]["iops"] / 1e3),
    "mean": Metric("mean latency", "µs", _latency_us("total", "mean")),
    "memory_power": Metric("power of the memories", "mW", _power_mw("core")),
    "bus_power": Metric("power of the I/O bus", "mW", _power_mw("io")),
    "total_tail": Metric("p99.99 of all requests", "µs", _latency_us("total", "p99_99")),
    "read_tail": Metric("p99.99 of reads", "µs", _latency_us("read", "p99_99")),
}
"""By the name that claims use."""


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    runs: Runs
    bench: Measured
    """The part alone."""

    def measure(
        self, claim: Claim, reading: str, instead: Mapping[int, int] | None = None
    ) -> Estimate | None:
        """Measure a claim under a reading over the seeds of its runs; None if it was not run.

        `instead`: numbers of suspensions whose runs stand in the place of others.
        """
        seeds = sorted({spot.seed for spot in self.runs if spot.reading == reading})
        if not seeds:
            return None

        def value(case: Spot, number: int) -> float:
            return self.value(claim, case, number)

        return estimate(
            [evaluate(claim, cases(claim, reading, seed), value, instead) for seed in seeds]
        )

    def value(self, claim: Claim, case: Spot, number: int) -> float:
        """Return the metric of a claim in a case, with `number` suspensions."""
        run = self.runs[case._replace(suspensions=number)]
        return METRICS[claim.options["metric"]].of(run)


def run(plan: Plan, bench: Bench) -> Outcome:
    """Run everything."""
    return Outcome(plan, simulate(plan, plan.spots, bench), _of_the_part())


@cache
def _of_the_part() -> Measured:
    return measure(PART, (), DATA["wordlines"], 1)


def cases(claim: Claim, reading: str, seed: int = 1) -> list[Spot]:
    """Return the loads and depths of a claim, by default all, without suspension."""
    of = claim.options
    return [
        Spot(reading, mix, depth, 0, seed)
        for mix in ([of["mix"]] if "mix" in of else DATA["mixes"])
        for depth in ([of["depth"]] if "depth" in of else DATA["depths"])
    ]


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Return every claim, in the order of the paper, under each reading that is judged."""
    paper = DATA["paper"]
    found = [
        replace(one, source=f"{paper}, {one.source[0].lower()}{one.source[1:]}", of="mechanism")
        for one in of_the_bench.verdicts(outcome.bench)
    ]
    if not outcome.plan.claims_only:
        found.append(_amplification(outcome))
    return found + [_verdict(outcome, claim, name) for name in JUDGED for claim in DATA.claims]


def _amplification(outcome: Outcome) -> Verdict:
    own, base = (
        float(outcome.runs[Spot(name, "75W-25R", 64, 0)].summary["flash"]["gc_waf"])
        for name in ("threshold", BASE)
    )
    return Verdict(
        "write amplification, with 10 % of the blocks kept free", f"{DATA['paper']}, Table 1", "1",
        2.4, own, 0.15 * 2.4, of="absolute",
        note="where collection moves as much as it needs; in all other readings it moves 1.4 pages "
        f"a page of the host and has {base:.2f}",
    )  # fmt: skip


def _verdict(outcome: Outcome, claim: Claim, reading: str) -> Verdict:
    if claim.of == "mechanism":
        cells = [
            " to ".join(f"{outcome.value(claim, case, claim.options[name]):,.4g}"
                        for name in ("to", "of"))
            for case in cases(claim, reading, outcome.plan.seeds[0])
        ]  # fmt: skip
        note = "loads and depths for which it holds; seed 1: " + "; ".join(cells)
        claim = replace(claim, note=note)
    return judged(
        claim,
        partial(outcome.measure, claim),
        reading,
        DATA,
        outcome.plan.seeds,
        kind=_kind(outcome, claim, reading),
        lack=_lack(outcome, claim, reading),
        others=_others(claim, reading),
    )


_TAILS = {"total_tail": "total", "read_tail": "read"}
_BEYOND = 10_000
"""Requests for each one beyond p99.99."""


def _lack(outcome: Outcome, claim: Claim, reading: str) -> str:
    """Return that a percentile rests on too few requests, if it does."""
    group = _TAILS.get(claim.options["metric"])
    if group is None:
        return ""
    numbers = (claim.options["of"], claim.options["to"])
    every = cases(claim, reading, outcome.plan.seeds[0])
    runs = [outcome.runs[case._replace(suspensions=number)] for case in every for number in numbers]
    events = min(int(run.summary["requests"][group]["count"]) // _BEYOND for run in runs)
    return f"{events} of {EVENTS_MIN} requests beyond p99.99" if events < EVENTS_MIN else ""


def _others(claim: Claim, reading: str) -> list[Reading]:
    """Return the readings beside one that may give a claim: none gives an absolute number."""
    every = () if claim.of == "absolute" else DATA.readings.values()
    return [one for one in every if one.name != reading]


def _kind(outcome: Outcome, claim: Claim, reading: str) -> Kind:
    """Return what a claim is worth: nothing where no program was suspended."""
    if "kind" in claim.options:
        return cast(Kind, claim.options["kind"])
    for case in cases(claim, reading, outcome.plan.seeds[0]):
        run = outcome.runs[case._replace(suspensions=claim.options["of"])]
        if not run.summary["flash"]["suspensions"]["program"]:
            return "vacuous"
    return "predicted"


# ---- Numbers -------------------------------------------------------------------------------------

_UNITS = {"kIOPS": "kiops", "µs": "us", "mW": "mw"}


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return every number by name; shares in per cent, other units as their names end."""
    plan = outcome.plan
    present = list(dict.fromkeys(spot.reading for spot in outcome.runs))
    changes, orders = ([one for one in DATA.claims if one.of == of]
                       for of in ("headline", "mechanism"))  # fmt: skip
    return {
        "requests": plan.requests,
        "requests_of_others": plan.requests_of("page-2"),
        "seeds": list(plan.seeds),
        "seeds_of_others": 1,
        "titles": {name: DATA.readings[name].title for name in present},
        "runs": {name: _runs(outcome, name) for name in present},
        "changes": {
            name: {one.claim: vars(outcome.measure(one, name)) for one in changes}
            for name in present
        },
        "orders": {
            name: {
                one.claim: {"of": one.value[""], "holds": _mean(outcome.measure(one, name))}
                for one in orders
            }
            for name in present
        },
    }  # fmt: skip


def _mean(found: Estimate | None) -> float:
    assert found is not None
    return found.mean


def _runs(outcome: Outcome, reading: str) -> dict[str, Any]:
    """Return by load, depth and suspensions allowed the means over a reading's seeds."""
    units = DATA.readings[reading].sets.get("timing.wordline_pages", 4)
    found: dict[str, Any] = {mix: {} for mix in DATA["mixes"]}
    for spot in dict.fromkeys(one._replace(seed=0) for one in outcome.runs):
        if spot.reading == reading:
            own = [_run(run, units) for one, run in outcome.runs.items() if one[:-1] == spot[:-1]]
            means = {name: fmean(one[name] for one in own) for name in own[0]}
            found[spot.mix].setdefault(str(spot.depth), {})[str(spot.suspensions)] = means
    return found


def _run(run: Record, program_units: int) -> dict[str, float]:
    flash = run.summary["flash"]
    programs = flash["programs"] / program_units
    return {
        **{f"{name}_{_UNITS[metric.unit]}": metric.of(run) for name, metric in METRICS.items()},
        "die_busy_percent": 100 * run.summary["device"]["die_busy_share"],
        "suspensions_per_program": flash["suspensions"]["program"] / programs if programs else 0.0,
    }
