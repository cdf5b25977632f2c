"""The claims of the paper, measured on the runs of each set of loads and reading."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from operator import truediv
from statistics import fmean
from typing import Any

from reprieve import rig
from reprieve.experiments.store import Record
from reprieve_studies.compress import mean_numbers
from reprieve_studies.fast12.runs import BASE, DATA, DEVICES, Results
from reprieve_studies.frame import Claim, evaluate, judged
from reprieve_studies.loads import Load
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.theory.formulas import phase_wait
from reprieve_studies.verdicts import Cause, Verdict

_US = 1000
_ARRIVAL_STEP_NS = 50
"""Distance of the reads that stand for uniform arrivals: their mean is exact to half of it."""
_SPACING_NS = 10_000 * _US
"""Between one measurement and the next on the same die: more than anything takes."""


# ---- Table 1 and equation (1), by formula and on the simulated die -------------------------------


def wait_us(device: str, policy: str, **sets: Any) -> float:
    """Simulate the mean extra latency of a read that arrives uniformly over a program's phases.

    One program after the other on one die, each with a read of another block; the reads' places
    cover the program evenly. `sets`: further keys.
    """
    part = DATA["parts"][device]
    commands: list[tuple[int, str, int, int, int]] = []
    for index, offset_ns in enumerate(
        range(_ARRIVAL_STEP_NS // 2, round(part["program"] * _US), _ARRIVAL_STEP_NS)
    ):
        start_ns = index * _SPACING_NS
        block, page = divmod(index, 64)
        commands.append((start_ns, "program", 0, block, page))
        commands.append((start_ns + round(part["bus"] * _US) + offset_ns, "read", 1, 0, 0))
    rows = rig(DEVICES[device], commands, policy=policy, **sets)
    alone_ns = round((part["read"] + part["bus"]) * _US)
    waits_ns = [row.completion_ns - row.arrival_ns - alone_ns for row in rows if row.op == "read"]
    return fmean(waits_ns) / _US


def _alone_us(device: str, op: str, without: str = "") -> float:
    """Return the time on an idle die, without a part of it that Table 1 has apart."""
    names = ("program", "read", "erase")
    commands = [(at * _SPACING_NS, name, 0, 0, 0) for at, name in enumerate(names)]
    rows = {row.op: row for row in rig(DEVICES[device], commands, policy="fifo")}
    took_us = (rows[op].completion_ns - rows[op].arrival_ns) / _US
    return float(took_us - DATA["parts"][device].get(without, 0))


def _of_part(device: str, *names: str) -> Iterator[float]:
    return (float(DATA["parts"][device][name]) for name in names)


OF_TABLE_1: Mapping[str, Callable[[str], float]] = {
    "program_us": partial(_alone_us, op="program", without="bus"),
    "erase_us": partial(_alone_us, op="erase", without="verify"),
    "read_us": partial(_alone_us, op="read"),
    "equation_1_us": lambda device: phase_wait(*_of_part(device, "pulse", "verify")),
    "ips_wait_us": partial(wait_us, policy="pes-ips"),
    "ipc_wait_us": partial(wait_us, policy="pes-ipc"),
    "program_over_read": lambda device: truediv(*_of_part(device, "program", "read")),
    "erase_over_read": lambda device: truediv(*_of_part(device, "erase", "read")),
}


# ---- Measures of runs ----------------------------------------------------------------------------


def mean_ns(run: Record, op: str) -> float:
    """Return the mean latency of "read" or "write" in ns; not a number if there was none."""
    group = run.summary["requests"][op]
    return float(group["latency_ns"]["mean"]) if group["count"] else float("nan")


def _suspended(run: Record) -> Iterator[Mapping[str, Any]]:
    yield from run.summary["flash"]["suspended_operations"].values()


def suspended_count(run: Record) -> int:
    """Return the programs and erases that were suspended at least once."""
    return sum(int(one["count"]) for one in _suspended(run))


def suspended_share(run: Record) -> float:
    """Return the share of programs and erases that were suspended at least once (Figure 6)."""
    operations = sum(int(run.summary["flash"][kind]) for kind in ("programs", "erases"))
    return suspended_count(run) / operations if operations else 0.0


def suspended_increase(run: Record) -> float:
    """Return by what share a suspended program or erase took longer (Figure 5)."""
    count = suspended_count(run)
    total = sum(float(one["count"] * one["increase_mean"]) for one in _suspended(run))
    return total / count if count else 0.0


METRICS: Mapping[str, Callable[[Record], float]] = {
    "read": partial(mean_ns, op="read"),
    "write": partial(mean_ns, op="write"),
    "increase": suspended_increase,
    "share": suspended_share,
}
SENTENCES = tuple(claim for claim in DATA.claims if claim.measure in METRICS)
TABLE_2 = tuple(claim for claim in DATA.claims if claim.measure == "fifo_ms")


def ratio(results: Results, load: Load, policy: str, base: str, op: str = "read") -> float:
    """Return the mean latency under a policy over that under `base`."""
    of, to = (mean_ns(results.result(load, name), op) for name in (policy, base))
    return of / to


def _sentence(results: Results, claim: Claim) -> float:
    """Measure a sentence: per cent, or a plain ratio."""
    own = replace(results, load=claim.options.get("load", ""))

    def value(load: Load, policy: str) -> float:
        return METRICS[claim.measure](results.result(load, policy))

    return (1 if "to" in claim.options else 100) * evaluate(claim, own.loads, value)


def _fifo_ms(results: Results, claim: Claim) -> float:
    """Measure a number of Table 2, of one load."""
    own = replace(results, device=claim.options["device"])
    (load,) = own.loads
    return mean_ns(own.result(load, "FIFO"), claim.options["op"]) / 1e6


def _figure_3(results: Results, claim: Claim) -> float:
    def value(load: Load, device: str) -> float:
        return ratio(replace(results, device=device), load, "PES_IPS", "PES_IPC")

    return evaluate(claim, results.loads, value)


def _queue_ns(results: Results, policy: str, limit: int) -> float:
    """Return the mean write latency of Figure 7."""
    (load,) = (one for one in results.loads if one.trace == DATA["queue"]["load"])
    return mean_ns(results.result(load, policy, limit), "write")


def of_fifo_percent(results: Results, policy: str, limit: int) -> float:
    """Return it in per cent of that of FIFO."""
    return 100 * _queue_ns(results, policy, limit) / _queue_ns(results, "FIFO", limit)


def _queue(results: Results, claim: Claim) -> float:
    """Compare two limits under one policy, or two policies under every limit."""
    percent = partial(of_fifo_percent, results)
    if "policy" in claim.options:
        return evaluate(claim, [claim.options["policy"]], percent)
    return evaluate(claim, DATA["queue"]["limits"], lambda limit, policy: percent(policy, limit))


MEASURES: Mapping[str, Callable[[Results, Claim], float]] = {
    **dict.fromkeys(METRICS, _sentence),
    "fifo_ms": _fifo_ms,
    "figure_3": _figure_3,
    "queue": _queue,
}


def measured(results: Results, claim: Claim, **which: Any) -> Estimate | None:
    """Measure a claim on some runs over the seeds; None where they are not there."""
    found = [MEASURES[claim.measure](one, claim) for one in results.seeds(**which)]
    return estimate(found) if found else None


def works(results: Results, claim: Claim) -> bool:
    """Return whether the mechanism of a claim ever worked with a seed, so that it means anything.

    RPS puts a read before what FIFO serves first; PES suspends; the smallest limit of a queue
    changes something against the largest.
    """
    policy = claim.options["of"]
    if claim.measure == "queue":
        first, *_, last = (_queue_ns(results, "RPS", limit) for limit in DATA["queue"]["limits"])
        return first != last
    if policy == "RPS":
        return any(ratio(results, load, "RPS", "FIFO") != 1.0 for load in results.loads)
    wanted = ("PES_IPS", "PES_IPC") if policy.startswith("PES") else ()
    return all(any(suspended_count(results.result(load, name)) for load in results.loads)
               for name in wanted)  # fmt: skip


# ---- Verdicts ------------------------------------------------------------------------------------


def verdicts(results: Results) -> list[Verdict]:
    """Return every claim, in the order of the paper, with each drive or load."""
    die, order, queue = ([claim for claim in DATA.claims if claim.measure in names]
                         for names in (OF_TABLE_1, ["figure_3"], ["queue"]))  # fmt: skip
    return [
        *(claim.verdict(Estimate(OF_TABLE_1[claim.measure](device)), where=f"{device}: ",
                        at=device, kind=claim.options["as"])
          for device in DEVICES for claim in die),
        *(_verdict(results, claim, load=load) for load in results.loads for claim in TABLE_2),
        *(_verdict(results, claim, device) for claim in SENTENCES for device in DEVICES),
        *(_verdict(results, claim) for claim in order),
        *(_verdict(results, claim, device) for device in DEVICES for claim in queue),
    ]  # fmt: skip


def _verdict(results: Results, claim: Claim, device: str = "", load: Load | None = None) -> Verdict:
    """Judge a claim; without an effect of suspension a comparison of drives or queues is none."""
    own = replace(results, device=device, load=load.trace if load else "")
    is_sentence, is_at_work = claim.measure in METRICS, True
    if device:
        is_at_work = all(works(one, claim) for one in own.seeds())
    if load:
        words, cause = claim.claim.format(load=load.label), None if load.genuine else claim.cause
        claim = replace(claim, claim=words, cause=cause)
    verdict = judged(
        claim,
        lambda reading, equal: measured(own, claim, reading=reading, instead=equal),
        BASE,
        DATA,
        results.plan.seeds,
        kind=None if is_at_work else "vacuous",
        null=None if is_sentence or load else 0.0,
        others=list(DATA.readings.values())[1:] if is_sentence else (),
        where=device and f"{device}: ",
        at=device or own.load,
    )
    if not is_sentence or verdict.reproduced is not False or verdict.cause is not None:
        return verdict
    return replace(verdict, cause=_cause(own, claim))


def _cause(results: Results, claim: Claim) -> Cause | None:
    """Return that other loads give it, or that the paper contradicts it."""
    found = [measured(results, claim, of=of) for of in DATA["sets"]]
    if any(one is not None and claim.accepts(one.mean, results.device) for one in found):
        return "load"
    return "contradiction" if results.device in claim.options.get("contradicted", ()) else None


def numbers(results: Results) -> dict[str, Any]:
    """Return every number by name; shares in per cent, times in the unit that ends their name."""
    plan = results.plan
    return {
        "requests": plan.requests,
        "seeds": list(plan.seeds),
        "loads": {of: {load.trace: _load(results, of, load) for load in some}
                  for of, some in plan.sets.items()},
        "claims": {of: {one.name: {device: _claims(results, of=of, reading=one.name, device=device)
                                   for device in DEVICES} for one in plan.of_set(of)}
                   for of in plan.sets},
        "titles": {one.name: one.title for of in plan.sets for one in plan.of_set(of)},
    }  # fmt: skip


def _claims(results: Results, **which: Any) -> dict[str, float]:
    """Return every sentence, and half of its interval over the seeds."""
    own: dict[str, float] = {}
    for claim in SENTENCES:
        if one := measured(results, claim, **which):
            halves = {} if one.high is None else {f"{claim.name}_half": one.high - one.mean}
            own |= {claim.name: one.mean, **halves}
    return own


def compression(
    results: Results, of: str, device: str, load: Load, reading: str = BASE
) -> dict[str, float]:
    """Return how a load was compressed, mean of the seeds; nothing if it was not."""
    found = [one for (name, place), one in results.compressions.items()
             if (name, *place[:3]) == (reading, of, device, load.trace)]  # fmt: skip
    return mean_numbers(found) if found else {}


def _load(results: Results, of: str, load: Load) -> dict[str, Any]:
    found: dict[str, Any] = {"label": load.label, "genuine": load.genuine}
    for device in DEVICES:
        full = compression(results, of, device, load, "steady")
        found[device] = {
            **compression(results, of, device, load),
            **({"full_speed": full["speed"]} if full else {}),
            **{f"{claim.options['op']}_ms": one.mean for claim in TABLE_2
               if (one := measured(results, claim, of=of, load=load.trace))
               and claim.options["device"] == device},
        }  # fmt: skip
    return found
