"""The claims of the paper, measured on the runs of each set of loads and reading."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from reprieve import rig
from reprieve.experiments.store import Record
from reprieve_studies.compress import mean_numbers
from reprieve_studies.fast12.runs import BASE, DATA, DEVICES, MAIN, Group, Results
from reprieve_studies.frame import Claim, evaluate, explained, few, without_effect
from reprieve_studies.loads import Load
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.theory.formulas import phase_wait
from reprieve_studies.verdicts import Cause, Kind, Verdict

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


def _over_read(device: str, operation: str) -> float:
    return float(DATA["parts"][device][operation] / DATA["parts"][device]["read"])


OF_TABLE_1: Mapping[str, Callable[[str], float]] = {
    "program_us": partial(_alone_us, op="program", without="bus"),
    "erase_us": partial(_alone_us, op="erase", without="verify"),
    "read_us": partial(_alone_us, op="read"),
    "equation_1_us": lambda device: phase_wait(
        float(DATA["parts"][device]["pulse"]), float(DATA["parts"][device]["verify"])
    ),
    "ips_wait_us": partial(wait_us, policy="pes-ips"),
    "ipc_wait_us": partial(wait_us, policy="pes-ipc"),
    "program_over_read": partial(_over_read, operation="program"),
    "erase_over_read": partial(_over_read, operation="erase"),
}


# ---- Measures of runs ----------------------------------------------------------------------------


def mean_ns(run: Record, op: str) -> float:
    """Return the mean latency of "read" or "write" in ns; not a number if there was none."""
    group = run.summary["requests"][op]
    return float(group["latency_ns"]["mean"]) if group["count"] else float("nan")


def _suspended(run: Record) -> list[Mapping[str, Any]]:
    groups = run.summary["flash"]["suspended_operations"]
    return [groups[kind] for kind in ("program", "erase")]


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


def ratio(group: Group, load: Load, policy: str, base: str, op: str = "read") -> float:
    """Return the mean latency under a policy over that under `base`."""
    of, to = (mean_ns(group.result(load, name), op) for name in (policy, base))
    return of / to


def measure(
    group: Group, claim: Claim, loads: Sequence[Load], instead: Mapping[str, str] | None = None
) -> float:
    """Return a sentence's number over some loads: per cent, or a plain ratio.

    `instead`: policies whose runs stand in the place of others.
    """

    def value(load: Load, policy: str) -> float:
        return METRICS[claim.measure](group.result(load, policy))

    return (1 if "to" in claim.options else 100) * evaluate(claim, loads, value, instead)


def measured(
    results: Results,
    claim: Claim,
    of: str,
    reading: str,
    device: str,
    instead: Mapping[str, str] | None = None,
) -> Estimate | None:
    """Measure a sentence over the seeds; None where its runs are not there."""
    groups = results.groups(of, device, reading)
    wanted = claim.options.get("load")
    loads = [load for load in results.plan.sets.get(of, ()) if wanted in (None, load.trace)]
    if not groups or not loads:
        return None
    return estimate([measure(group, claim, loads, instead) for group in groups])


def works(group: Group, policy: str) -> bool:
    """Return whether a policy's mechanism ever worked, for a claim about it to mean anything.

    RPS puts a read before what FIFO serves first; PES suspends.
    """
    if policy == "RPS":
        return any(ratio(group, load, "RPS", "FIFO") != 1.0 for load in group.loads)
    wanted = () if policy == "PE0" else ("PES_IPS", "PES_IPC")
    return all(any(suspended_count(group.result(load, name)) for load in group.loads)
               for name in wanted)  # fmt: skip


# ---- Verdicts ------------------------------------------------------------------------------------


def verdicts(results: Results) -> list[Verdict]:
    """Return every claim, in the order of the paper, with each set of loads and reading."""
    found = [
        claim.verdict(Estimate(OF_TABLE_1[claim.measure](device)), where=f"{device}: ", at=device,
                      kind=claim.options["as"])
        for device in DEVICES for claim in DATA.claims if claim.measure in OF_TABLE_1
    ]  # fmt: skip
    found += _table_2(results)
    for claim in SENTENCES:
        found += [_sentence(results, claim, at) for at in DEVICES]
    return [*found, *_orders(results)]


def fifo_ms(results: Results, claim: Claim, of: str, load: Load) -> Estimate:
    """Measure a number of Table 2 over the seeds."""
    device, op = claim.options["device"], claim.options["op"]
    groups = results.groups(of, device)
    return estimate([mean_ns(group.result(load, "FIFO"), op) / 1e6 for group in groups])


def _table_2(results: Results) -> Iterator[Verdict]:
    claims = [claim for claim in DATA.claims if claim.measure == "fifo_ms"]
    for load in results.plan.sets[MAIN]:
        for claim in claims:
            device, op = claim.options["device"], claim.options["op"]
            seeds = results.plan.seeds
            verdict = claim.verdict(
                fifo_ms(results, claim, MAIN, load), at=load.trace, kind="predicted", seeds=seeds,
                lack=few(seeds),
            )  # fmt: skip
            yield replace(
                verdict,
                claim=f"{device}: mean {op} latency of {load.label} under FIFO",
                cause=None if load.genuine else claim.cause,
            )


def _sentence(results: Results, claim: Claim, device: str) -> Verdict:
    def under(name: str) -> Estimate | None:
        return measured(results, claim, MAIN, name, device)

    found, groups = under(BASE), results.groups(MAIN, device)
    assert found is not None, claim.claim
    is_at_work = all(works(group, claim.options["of"]) for group in groups)
    null = without_effect(
        claim, DATA["null"], partial(measured, results, claim, MAIN, BASE, device)
    )
    kind: Kind = "duplicate" if claim.options.get("again") else "predicted"
    verdict = claim.verdict(
        found, where=f"{device}: ", at=device, seeds=results.plan.seeds,
        kind=kind if is_at_work else "vacuous", null=null,
        lack=few(results.plan.seeds),
    )  # fmt: skip
    others = [one for one in DATA.readings.values() if one.name != BASE]
    verdict = explained(verdict, claim, under, others, device)
    if verdict.reproduced is not False or verdict.cause is not None:
        return verdict
    return replace(verdict, cause=_cause(results, claim, device))


def _cause(results: Results, claim: Claim, device: str) -> Cause | None:
    """Return that other loads give it, or that the paper contradicts it."""
    for of in DATA["sets"]:
        found = measured(results, claim, of, BASE, device)
        if found is not None and claim.accepts(found.mean, device):
            return "load"
    return "contradiction" if device in claim.options.get("contradicted", ()) else None


def _orders(results: Results) -> Iterator[Verdict]:
    """Yield Figure 3's order of the drives, and Figure 7."""
    seeds = results.plan.seeds
    for claim in DATA.claims:
        if claim.measure == "figure_3":
            # Without an effect of suspension both are RPS.
            yield claim.verdict(_figure_3(results, claim), seeds=seeds, kind="predicted",
                                null=0.0, lack=few(seeds))  # fmt: skip
    for device in DEVICES:
        bars = queue_ns(results, device)
        first, *_, last = DATA["queue"]["limits"]
        # The smallest limit changes something against the largest, with every seed.
        binds = all(one["RPS", first] != one["RPS", last] for one in bars)
        for claim in DATA.claims:
            if claim.measure == "queue":
                found = estimate([_of_queue(one, claim) for one in bars])
                # No priority, no suspension: nothing that grows, nothing that is added.
                yield claim.verdict(found, where=f"{device}: ", at=device, seeds=seeds,
                                    kind="predicted" if binds else "vacuous", null=0.0,
                                    lack=few(seeds))  # fmt: skip


def _figure_3(results: Results, claim: Claim) -> Estimate:
    def of_seed(groups: Mapping[str, Group]) -> float:
        def value(load: Load, device: str) -> float:
            return ratio(groups[device], load, "PES_IPS", "PES_IPC")

        return evaluate(claim, results.plan.sets[MAIN], value)

    seeds = zip(*(results.groups(MAIN, device) for device in DEVICES), strict=True)
    return estimate([of_seed(dict(zip(DEVICES, groups, strict=True))) for groups in seeds])


OfQueue = Mapping[tuple[str, int], float]
"""Mean write latencies in ns, by policy and limit of the queue."""


def queue_ns(results: Results, device: str) -> list[OfQueue]:
    """Return the latencies of Figure 7 for each seed."""
    of = DATA["queue"]
    (load,) = (one for one in results.plan.sets[MAIN] if one.trace == of["load"])
    return [
        {(policy, limit): mean_ns(group.result(load, policy, limit), "write")
         for limit in of["limits"] for policy in of["policies"]}
        for group in results.groups(MAIN, device)
    ]  # fmt: skip


def of_fifo_percent(of_queue: OfQueue, policy: str, limit: int) -> float:
    """Return a latency in per cent of that of FIFO."""
    return 100 * of_queue[policy, limit] / of_queue["FIFO", limit]


def _of_queue(of_queue: OfQueue, claim: Claim) -> float:
    """Compare two limits under one policy, or two policies under every limit."""
    percent = partial(of_fifo_percent, of_queue)
    if "policy" in claim.options:
        return evaluate(claim, [claim.options["policy"]], percent)
    return evaluate(claim, DATA["queue"]["limits"], lambda limit, policy: percent(policy, limit))


# ---- Numbers -------------------------------------------------------------------------------------


def numbers(results: Results) -> dict[str, Any]:
    """Return every number by name; shares in per cent, times in the unit that ends their name."""
    plan = results.plan
    return {
        "requests": plan.requests,
        "seeds": list(plan.seeds),
        "loads": {of: {load.trace: _load(results, of, load) for load in some}
                  for of, some in plan.sets.items()},
        "claims": {of: {one.name: _claims(results, of, one.name) for one in plan.of_set(of)}
                   for of in plan.sets},
        "titles": {one.name: one.title for of in plan.sets for one in plan.of_set(of)},
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


def compression(results: Results, of: str, device: str, load: Load) -> dict[str, float]:
    """Return how a load was compressed, mean of the seeds."""
    places = results.plan.places(of, device, load)
    return mean_numbers([results.compressions[BASE, place] for place in places])


def _load(results: Results, of: str, load: Load) -> dict[str, Any]:
    plan, found = results.plan, {"label": load.label, "genuine": load.genuine}
    for device in DEVICES:
        full = [one.speed for place in plan.places(of, device, load)
                if (one := results.compressions.get(("steady", place)))]  # fmt: skip
        found[device] = {
            **compression(results, of, device, load),
            **({"full_speed": fmean(full)} if full else {}),
            **{f"{claim.options['op']}_ms": fifo_ms(results, claim, of, load).mean
               for claim in DATA.claims if claim.options.get("device") == device},
        }  # fmt: skip
    return found
