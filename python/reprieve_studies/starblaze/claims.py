"""The claims of the slides, measured on the runs of each case."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any, NamedTuple

from reprieve.experiments.store import Record
from reprieve_studies.frame import Claim, contrast, evaluate, judged
from reprieve_studies.runs import Bench
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.starblaze.runs import (
    BASE,
    CASES,
    DATA,
    Plan,
    Runs,
    little,
    simulate,
    slides,
)
from reprieve_studies.verdicts import Verdict

KINDS = ("read", "write")
_FIRMWARE = "firmware"
"""Jobs that stand for the drive's own firmware begin so; no latency of theirs counts."""


class Row(NamedTuple):
    """A row of ours, over all runs with different seeds."""

    iops: float
    mean_us: float
    us_max: float
    """The middle one of the runs."""
    us_max_least: float
    us_max_most: float
    p999_us: float
    """p99.9, of the job in which it is longest."""
    requests: int
    """Of a run."""


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    runs: Runs

    def of(self, reading: str, setting: str, case: str, seed: int | None = None) -> list[Record]:
        """Return the runs with all seeds, or with one."""
        wanted = (reading, setting, case)
        return [run for spot, run in self.runs.items()
                if spot[:3] == wanted and seed in (None, spot.seed)]  # fmt: skip

    def row(
        self, setting: str, case: str, kind: str, reading: str = BASE.name, seed: int | None = None
    ) -> Row:
        """Measure a case's reads or writes, without the ramp."""
        found = [measured(run.summary, kind) for run in self.of(reading, setting, case, seed)]
        iops, mean_us, us_max, p999_us, requests = zip(*found, strict=True)
        return Row(
            fmean(iops), fmean(mean_us), median(us_max), min(us_max), max(us_max), fmean(p999_us),
            min(requests),
        )  # fmt: skip

    def rate(
        self, setting: str, case: str, reading: str = BASE.name, seed: int | None = None
    ) -> float:
        """Return the reads and writes of a case in a second."""
        return sum(self.row(setting, case, kind, reading, seed).iops for kind in KINDS)


def run(plan: Plan, bench: Bench) -> Outcome:
    """Run everything."""
    return Outcome(plan, simulate(plan, plan.spots, bench))


def measured(summary: Mapping[str, Any], kind: str) -> tuple[float, float, float, float, int]:
    """Measure the host's jobs of a run that have requests of the kind.

    Returns their rate, mean, longest, p99.9 and number; times in µs.
    """
    count, total_us, us_max, p999_us, active_ns = 0, 0.0, 0.0, 0.0, 0
    for name, job in summary["flows"].items():
        group = job["requests"][kind]
        if not group["count"] or name.startswith(_FIRMWARE):
            continue
        latency = group["latency_ns"]
        count += group["count"]
        total_us += group["count"] * latency["mean"] / 1e3
        us_max = max(us_max, latency["max"] / 1e3)
        p999_us = max(p999_us, latency["p99_9"] / 1e3)
        active_ns = max(active_ns, job["active_ns"])
    return 1e9 * count / active_ns, total_us / count, us_max, p999_us, count


def seeds(outcome: Outcome, claim: Claim) -> list[int]:
    """Return the seeds of the runs that a claim is measured on."""
    reading = claim.options.get("reading", BASE.name)
    return sorted({spot.seed for spot in outcome.runs if spot.reading == reading})


def measure(
    outcome: Outcome, claim: Claim, case: str, instead: Mapping[str, str] | None = None
) -> Estimate:
    """Measure a claim in its case, or in all, over the seeds.

    `instead`: settings whose runs stand in the place of others.
    """
    of = claim.options
    kinds = [of["kind"]] if "kind" in of else KINDS
    places = [(one, kind) for one in ([case] if case else CASES) for kind in kinds]
    reading = of.get("reading", BASE.name)

    def of_seed(seed: int) -> float:
        def value(place: tuple[str, str], setting: str) -> float:
            if claim.measure == "rate":
                return outcome.rate(setting, place[0], reading, seed)
            return float(getattr(outcome.row(setting, *place, reading, seed), claim.measure))

        return evaluate(claim, places, value, instead)

    return estimate([of_seed(seed) for seed in seeds(outcome, claim)])


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Return every claim, in the order of the slides."""
    tables, rest = ([one for one in DATA.claims if (one.of == "mechanism") is of]
                    for of in (False, True))  # fmt: skip
    return [
        *(_verdict(outcome, claim, case) for case in CASES for kind in KINDS
          for claim in tables if claim.options["kind"] == kind),
        *(_verdict(outcome, claim, case) for claim in rest for case in claim.value),
        *_untestable(outcome),
    ]  # fmt: skip


def _verdict(outcome: Outcome, claim: Claim, case: str) -> Verdict:
    is_row = claim.of != "mechanism"
    own = seeds(outcome, claim)
    verdict = judged(
        claim,
        lambda _reading, equal: measure(outcome, claim, case, equal),
        BASE.name,
        DATA,
        own,
        kind=claim.options.get("as"),
        where=case + (", " if is_row else ": ") if case else "",
        at=case,
    )
    if claim.measure == "us_max" and claim.of == "absolute":
        row = outcome.row(claim.options["of"], case, claim.options["kind"])
        note = (
            f"longest of {row.requests:,} in {outcome.plan.runtime_s} s, seeds: "
            f"{row.us_max_least:,.0f} to {row.us_max_most:,.0f}; p99.9 {row.p999_us:,.0f}; the "
            "slides do not say how long their runs were"
        )
        return replace(verdict, note=note)
    if case and not is_row:
        pause_us, iops = little(case)
        rate = sum(slides(case, kind, "iops") for kind in KINDS)
        note = (
            "by Little's law the latencies of the slides themselves imply "
            f"{contrast('percent', [(iops, rate)]):+.1f} %, with pauses of {pause_us:.0f} µs"
        )
        return replace(verdict, note=note)
    return verdict


def longer_percent(outcome: Outcome) -> dict[str, float]:
    """Return by how much suspended programs and erases take longer, as a run's mean, at most."""
    runs = [run.summary["flash"]["suspended_operations"]
            for case in CASES for run in outcome.of(BASE.name, "both", case)]  # fmt: skip
    return {
        kind: 100 * max(run[kind]["increase_mean"] for run in runs) for kind in ("program", "erase")
    }


def _untestable(outcome: Outcome) -> Iterator[Verdict]:
    longer = longer_percent(outcome)
    for claim, why in DATA["untestable"].items():
        yield Verdict(claim, DATA["paper"], "1", None, None, None,
                      note=why.format(**longer), untestable=True, of="mechanism")  # fmt: skip


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return every number by name; shares in per cent, times in the unit that ends their name."""
    settings = dict.fromkeys((spot.reading, spot.setting) for spot in outcome.runs)
    runs: dict[str, Any] = {}
    for reading, setting in settings:
        cases = {case: _case(outcome, reading, setting, case) for case in CASES}
        runs.setdefault(reading, {})[setting] = cases
    plan = outcome.plan
    own = {"runtime_s": plan.runtime_s, "ramp_s": plan.ramp_s, "seeds": len(plan.seeds)}
    return {**own, "runs": runs, "suspended_longer_percent": longer_percent(outcome)}


def _case(outcome: Outcome, reading: str, setting: str, case: str) -> dict[str, Any]:
    rows = {kind: outcome.row(setting, case, kind, reading)._asdict() for kind in KINDS}
    return {**rows, "iops": outcome.rate(setting, case, reading)}
