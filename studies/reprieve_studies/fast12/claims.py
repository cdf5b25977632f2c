"""The claims of the paper, measured on the runs of each set of loads and reading."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from reprieve import rig
from reprieve_studies.fast12.runs import (
    BASE,
    CALIBRATED,
    DATA,
    DEVICES,
    JUDGED,
    LIMITS,
    SETS,
    Place,
    Results,
    Runs,
    Spot,
    Summary,
)
from reprieve_studies.frame import Claim, explained
from reprieve_studies.loads import Load
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.verdicts import Cause, Kind, Verdict

_US = 1000
_ARRIVAL_STEP_NS = 50
"""Distance of the reads that stand for uniform arrivals: their mean is exact to half of it."""
_SPACING_US = 10_000
"""Between one measurement and the next on the same die: more than anything takes."""


# ---- Table 1 and equation (1), by formula and on the simulated die -------------------------------


def equation_1_us(device: str) -> float:
    """Return the mean wait of a uniform arrival for the end of its phase.

    (Tp² + Tv²) / (2 (Tp + Tv)), section 4.2.
    """
    pulse, verify = (DATA["parts"][device][name] for name in ("pulse", "verify"))
    return float((pulse**2 + verify**2) / (2 * (pulse + verify)))


def cancellation_us(device: str, *, reset_inside: bool) -> float:
    """Return the mean wait under intra-phase cancellation.

    A whole reset, but in the last T_reset of a phase, if the reset lies inside the phase, where
    the phase ends first: Σ T (R − R² / 2T) / ΣT.
    """
    part = DATA["parts"][device]
    reset, phases = part["reset"], (part["pulse"], part["verify"])
    if not reset_inside:
        return float(reset)
    return float(sum(length * reset - reset**2 / 2 for length in phases) / sum(phases))


def wait_us(device: str, policy: str, *, reset_inside: bool = True) -> float:
    """Simulate the mean extra latency of a read that arrives uniformly over a program's phases.

    One program after the other on one die, each with a read of another block; the reads' places
    cover the program evenly.
    """
    part = DATA["parts"][device]
    commands: list[tuple[int, str, int, int, int]] = []
    for index, offset_ns in enumerate(
        range(_ARRIVAL_STEP_NS // 2, round(part["program"] * _US), _ARRIVAL_STEP_NS)
    ):
        start_ns = index * _SPACING_US * _US
        block, page = divmod(index, 64)
        commands.append((start_ns, "program", 0, block, page))
        commands.append((start_ns + round(part["bus"] * _US) + offset_ns, "read", 1, 0, 0))
    settings: dict[str, Any] = {"policy": policy, "suspension.reset_inside_phase": reset_inside}
    rows = rig(DEVICES[device], commands, **settings)
    alone_ns = round((part["read"] + part["bus"]) * _US)
    waits_ns = [row.completion_ns - row.arrival_ns - alone_ns for row in rows if row.op == "read"]
    return fmean(waits_ns) / _US


def _times_us(device: str) -> dict[str, float]:
    """Return what a read, a program and an erase take on an idle die, transfers included."""
    apart_ns = _SPACING_US * _US
    names = ("program", "read", "erase")
    commands = [(at * apart_ns, name, 0, 0, 0) for at, name in enumerate(names)]
    rows = rig(DEVICES[device], commands, policy="fifo")
    return {row.op: (row.completion_ns - row.arrival_ns) / _US for row in rows}


OF_TABLE_1: Mapping[str, Callable[[str], float]] = {
    "program_us": lambda device: _times_us(device)["program"] - DATA["parts"][device]["bus"],
    "erase_us": lambda device: _times_us(device)["erase"] - DATA["parts"][device]["verify"],
    "read_us": lambda device: _times_us(device)["read"],
    "equation_1_us": equation_1_us,
    "ips_wait_us": lambda device: wait_us(device, "pes-ips"),
    "ipc_wait_us": lambda device: wait_us(device, "pes-ipc"),
    "program_over_read": lambda device: _over_read(device, "program"),
    "erase_over_read": lambda device: _over_read(device, "erase"),
}


def _over_read(device: str, operation: str) -> float:
    return float(DATA["parts"][device][operation] / DATA["parts"][device]["read"])


# ---- Measures of runs ----------------------------------------------------------------------------


def mean_ns(run: Summary, op: str) -> float:
    """Return the mean latency of "read" or "write" in ns; not a number if there was none."""
    group = run["requests"][op]
    return float(group["mean_ns"]) if group["count"] else float("nan")


def suspended_count(run: Summary) -> int:
    """Return the programs and erases that were suspended at least once."""
    return sum(int(run["suspended_operations"][kind]["count"]) for kind in ("program", "erase"))


def suspended_share(run: Summary) -> float:
    """Return the share of programs and erases that were suspended at least once (Figure 6)."""
    operations = int(run["programs"]) + int(run["erases"])
    return suspended_count(run) / operations if operations else 0.0


def suspended_increase(run: Summary) -> float:
    """Return by what share a suspended program or erase took longer (Figure 5)."""
    groups = run["suspended_operations"].values()
    count = suspended_count(run)
    return float(sum(one["count"] * one["increase_mean"] for one in groups) / count) if count else 0


class Group:
    """The runs of one device under some loads, with one seed."""

    def __init__(self, runs: Runs, device: str, loads: Sequence[str]) -> None:
        self._runs = runs
        self._device = device
        self.loads = tuple(loads)

    def result(self, load: str, policy: str) -> Summary:
        """Return a run."""
        return self._runs[Spot(self._device, load, policy)]

    def ratio(self, load: str, policy: str, base: str, op: str = "read") -> float:
        """Return the mean latency under a policy over that under `base`."""
        of, to = (mean_ns(self.result(load, name), op) for name in (policy, base))
        return of / to

    def ratios(self, policy: str, base: str, op: str = "read") -> list[float]:
        """Return it for every load."""
        return [self.ratio(load, policy, base, op) for load in self.loads]

    def over_loads(self, of: Callable[[Summary], float]) -> float:
        """Return the mean of a measure under PES_IPC."""
        return fmean(of(self.result(load, "PES_IPC")) for load in self.loads)

    def works(self, policy: str) -> bool:
        """Return whether a policy's mechanism ever worked, for a claim about it to mean anything.

        RPS puts a read before what FIFO serves first; PES suspends.
        """
        if policy == "RPS":
            return any(ratio != 1.0 for ratio in self.ratios("RPS", "FIFO"))
        wanted = () if policy == "PE0" else ("PES_IPS", "PES_IPC")
        return all(any(suspended_count(self.result(load, name)) for load in self.loads)
                   for name in wanted)  # fmt: skip


def _overhead(group: Group, policy: str, pick: Callable[[list[float]], float] = fmean) -> float:
    return 100 * (pick(group.ratios(policy, "FIFO", "write")) - 1)


MEASURES: Mapping[str, Callable[..., float]] = {
    "reduction": lambda group, policy, base: 100 * (1 - fmean(group.ratios(policy, base))),
    "ratio": lambda group, policy, base: fmean(group.ratios(policy, base)),
    "above": lambda group, policy, base: 100 * (fmean(group.ratios(policy, base)) - 1),
    "above_most": lambda group, policy, base: 100 * (max(group.ratios(policy, base)) - 1),
    "above_f1": lambda group, policy, base: 100 * (group.ratio("F1", policy, base) - 1),
    "overhead": _overhead,
    "overhead_most": partial(_overhead, pick=max),
    "increase": lambda group: 100 * group.over_loads(suspended_increase),
    "share": lambda group: 100 * group.over_loads(suspended_share),
}
"""Per cent, or a plain ratio."""
SENTENCES = tuple(claim for claim in DATA.claims if claim.measure in MEASURES)


def measured(results: Results, claim: Claim, of: str, reading: str, device: str) -> Estimate | None:
    """Measure a sentence over the seeds; None where its runs are not there."""
    loads = names(results, of)
    runs = results.runs(of, reading)
    if not runs or (claim.measure == "above_f1" and "F1" not in loads):
        return None
    measure, options = MEASURES[claim.measure], dict(claim.options)
    options.pop("contradicted", None)
    return estimate([measure(Group(one, device, loads), **options) for one in runs])


def names(results: Results, of: str) -> list[str]:
    """Return the loads of a set by their traces."""
    return [load.trace for load in results.plan.sets.get(of, ())]


# ---- Verdicts ------------------------------------------------------------------------------------


def verdicts(results: Results) -> list[Verdict]:
    """Return every claim, in the order of the paper, with each set of loads and reading."""
    found = [
        claim.verdict(Estimate(OF_TABLE_1[claim.measure](device)), where=f"{device}: ", at=device,
                      kind=claim.options["as"])
        for device in DEVICES for claim in DATA.claims if claim.measure in OF_TABLE_1
    ]  # fmt: skip
    found += _table_2(results)
    for of in SETS:
        for reading in results.plan.readings(of) if of in results.plan.sets else ():
            for claim in SENTENCES:
                found += [_sentence(results, of, reading.name, claim, at) for at in DEVICES]
            found += _orders(results, of, reading.name)
    return found


def _where(of: str, reading: str, device: str = "") -> str:
    title = DATA.readings[reading].title
    return f"{f'{device}, ' if device else ''}{of} loads, {title}: "


def _table_2(results: Results) -> Iterator[Verdict]:
    claims = [claim for claim in DATA.claims if claim.measure == "fifo_ms"]
    for load in results.plan.sets.get(CALIBRATED, ()):
        for claim in claims:
            device, op = claim.options["device"], claim.options["op"]
            spot = Spot(device, load.trace, "FIFO")
            runs = [mean_ns(runs[spot], op) / 1e6 for runs in results.runs(CALIBRATED)]
            is_fitted = claim.options.get("fitted", False) and not load.genuine
            kind: Kind = "measured" if load.genuine else "input" if is_fitted else "predicted"
            verdict = claim.verdict(
                estimate(runs), at=load.trace, kind=kind,
                seeds=() if load.genuine else results.plan.seeds,
            )  # fmt: skip
            yield replace(
                verdict,
                claim=f"{device}: mean {op} latency of {load.label} under FIFO",
                note="fitted with other seeds" if is_fitted else "",
                cause=None if load.genuine else claim.cause,
            )


def _sentence(results: Results, of: str, reading: str, claim: Claim, device: str) -> Verdict:
    found = measured(results, claim, of, reading, device)
    assert found is not None, claim.claim
    policy = claim.options.get("policy", "PES_IPC")
    loads = names(results, of)
    works = all(Group(runs, device, loads).works(policy) for runs in results.runs(of, reading))
    verdict = claim.verdict(
        found, where=_where(of, reading, device), at=device, seeds=results.plan.seeds,
        kind=DATA["sets"][of]["kind"] if works else "vacuous",
    )  # fmt: skip
    others = {
        DATA.readings[other].title: partial(measured, results, claim, of, other, device)
        for other in DATA.readings if other != reading
    }  # fmt: skip
    verdict = explained(verdict, claim, others, device)
    if verdict.reproduced is not False or verdict.cause is not None:
        return verdict
    return replace(verdict, cause=_cause(results, claim, of, reading, device))


def _cause(results: Results, claim: Claim, of: str, reading: str, device: str) -> Cause | None:
    """Return that other loads give it, or that the paper contradicts it."""
    for other in SETS:
        found = measured(results, claim, other, reading, device)
        if found is not None and claim.verdict(found, at=device).reproduced:
            return "load"
    return "contradiction" if device in claim.options.get("contradicted", ()) else None


def _orders(results: Results, of: str, reading: str) -> Iterator[Verdict]:
    """Yield Figure 3 with a set of loads, and Figure 7 with the calibrated ones."""
    kind: Kind = DATA["sets"][of]["kind"]
    seeds = results.plan.seeds
    for claim in DATA.claims:
        if claim.measure == "figure_3":
            found = estimate([_figure_3(runs, names(results, of))
                              for runs in results.runs(of, reading)])  # fmt: skip
            yield claim.verdict(found, where=_where(of, reading), seeds=seeds, kind=kind)
    for device in DEVICES if of == CALIBRATED else ():
        binds = limit_binds(results, device, reading)
        for claim in DATA.claims:
            if claim.measure in QUEUE_MEASURES:
                found = QUEUE_MEASURES[claim.measure](results, device, reading)
                yield claim.verdict(found, where=_where(of, reading, device), at=device,
                                    seeds=seeds, kind=kind if binds else "vacuous")  # fmt: skip


def _figure_3(runs: Runs, loads: Sequence[str]) -> float:
    slc, mlc = (Group(runs, device, loads).ratios("PES_IPS", "PES_IPC") for device in DEVICES)
    return float(sum(of > to for of, to in zip(slc, mlc, strict=True)))


def queue_percent(
    results: Results, device: str, limit: int, policy: str, reading: str
) -> list[float]:
    """Return the mean write latency in % of that of FIFO, with F2 compressed, for each seed."""
    return [
        100 * mean_ns(runs[limit, policy], "write") / mean_ns(runs[limit, "FIFO"], "write")
        for runs in results.queue(device, reading)
    ]


def _queue_growth(results: Results, device: str, reading: str) -> Estimate:
    first, last = (queue_percent(results, device, limit, "RPS", reading)
                   for limit in (LIMITS[0], LIMITS[-1]))  # fmt: skip
    return estimate([to - of for of, to in zip(first, last, strict=True)])


def _queue_range(results: Results, device: str, reading: str) -> Estimate:
    rps, ipc = ([queue_percent(results, device, limit, policy, reading) for limit in LIMITS]
                for policy in ("RPS", "PES_IPC"))  # fmt: skip
    apart = [[to - of for of, to in zip(ofs, tos, strict=True)]
             for ofs, tos in zip(rps, ipc, strict=True)]  # fmt: skip
    return estimate([max(of_seed) - min(of_seed) for of_seed in zip(*apart, strict=True)])


QUEUE_MEASURES = {"queue_growth": _queue_growth, "queue_range": _queue_range}


def limit_binds(results: Results, device: str, reading: str) -> bool:
    """Return whether the smallest limit changes anything against the largest, with every seed."""
    return all(
        mean_ns(runs[LIMITS[0], "RPS"], "write") != mean_ns(runs[LIMITS[-1], "RPS"], "write")
        for runs in results.queue(device, reading)
    )


def held(found: Sequence[Verdict]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return for each set of loads and reading how many claims hold, of how many judged."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for of in SETS:
        for reading in JUDGED:
            mark, kind = f"{of} loads, {reading.title}: ", DATA["sets"][of]["kind"]
            judged = [one for one in found if mark in one.claim and one.kind == kind]
            yes = sum(one.reproduced is True for one in judged)
            counts[of, reading.name] = (yes, sum(one.reproduced is not None for one in judged))
    return counts


# ---- Numbers -------------------------------------------------------------------------------------


def numbers(results: Results, found: Sequence[Verdict]) -> dict[str, Any]:
    """Return every number by name; shares in per cent, times in the unit that ends their name."""
    plan, counts = results.plan, held(found)
    readings = {of: [one.name for one in plan.readings(of)] for of in plan.sets}
    others = [one.name for one in plan.others]
    claims = {of: {name: _claims(results, of, name) for name in readings[of]} for of in plan.sets}
    claims[CALIBRATED] |= {name: _claims(results, CALIBRATED, name) for name in others}
    return {
        "requests": plan.requests,
        "seeds": list(plan.seeds),
        "held": {of: {name: dict(zip(("held", "judged"), counts[of, name], strict=True))
                      for name in readings[of]} for of in SETS if of in plan.sets},
        "loads": {of: {load.trace: _load(results, of, load) for load in some}
                  for of, some in plan.sets.items()},
        "claims": claims,
        "given_by": {device: {claim.name: {
            "paper": claim.value[device],
            "by": [
                {"of": of, "reading": name, "ours": one[device][claim.name]}
                for of, by_reading in claims.items() for name, one in by_reading.items()
                if claim.name in one[device]
                and claim.verdict(Estimate(one[device][claim.name]), at=device).reproduced
            ],
        } for claim in SENTENCES} for device in DEVICES},
        "moved": {name: {device: {
            claim.name: claims[CALIBRATED][name][device][claim.name]
            - claims[CALIBRATED][BASE][device][claim.name] for claim in SENTENCES
        } for device in DEVICES} for name in others},
    }  # fmt: skip


def _claims(results: Results, of: str, reading: str) -> dict[str, dict[str, float]]:
    """Return every sentence by device, and half of its interval over the seeds."""
    found: dict[str, dict[str, float]] = {device: {} for device in DEVICES}
    for device, own in found.items():
        for claim in SENTENCES:
            one = measured(results, claim, of, reading, device)
            if one is not None:
                own[claim.name] = one.mean
                if one.high is not None:
                    own[f"{claim.name}_half"] = one.high - one.mean
    return found


def _load(results: Results, of: str, load: Load) -> dict[str, Any]:
    found: dict[str, Any] = {"label": load.label, "genuine": load.genuine}
    for device in DEVICES:
        places = [Place(of, device, load.trace, seed) for seed in results.plan.seeds_of(load)]
        scales = [results.compressions[BASE, place] for place in places]
        full = [one.speed for place in places
                if (one := results.compressions.get(("steady", place)))]  # fmt: skip
        spot = Spot(device, load.trace, "FIFO")
        found[device] = {
            "speed": fmean(scale.speed for scale in scales),
            "drive_idle_percent": 100 * fmean(scale.drive_idle_share for scale in scales),
            "die_idle_percent": 100 * fmean(scale.die_idle_share for scale in scales),
            **({"full_speed": fmean(full)} if full else {}),
            **{f"{op}_ms": fmean(mean_ns(runs[spot], op) / 1e6 for runs in results.runs(of))
               for op in ("read", "write")},
        }  # fmt: skip
    return found
