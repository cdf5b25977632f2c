"""The claims of the paper beside what was simulated."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from reprieve_studies.fast12 import formulas
from reprieve_studies.fast12.alternatives import BASE, READINGS, Alternative
from reprieve_studies.fast12.experiment import Outcome
from reprieve_studies.fast12.loads import CALIBRATED, CHARACTERISED, COUPLED, SETS
from reprieve_studies.fast12.measures import (
    MEASURES,
    Group,
    mean_ns,
    over_seeds,
    prefers_reads,
    suspends,
)
from reprieve_studies.fast12.paper import (
    DEVICES,
    PAPER,
    QUEUE_LIMITS,
    SENTENCES,
    SLIDES,
    TABLE_2_MS,
    Sentence,
)
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Cause, Kind, Verdict

_TABLE_2_TOLERANCE = 0.25
"""Of the paper's value; set before the run."""
KINDS: dict[str, Kind] = {
    CHARACTERISED: "measured",
    CALIBRATED: "predicted",
    COUPLED: "predicted",
}
"""What a verdict under each set of loads is worth."""


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Every claim, in the order of the paper, under each set of loads and each reading."""
    found = [*formulas.verdicts(), *_table_2(outcome)]
    for of in (CALIBRATED, COUPLED, CHARACTERISED):
        for reading in outcome.plan.readings(of) if outcome.plan.loads(of) else ():
            found += _claims(outcome, of, reading)
    return found + list(_abstract(outcome))


def names(outcome: Outcome, of: str) -> list[str]:
    """Return the loads of a set by their traces."""
    return [load.trace for load in outcome.plan.loads(of)]


def _claims(outcome: Outcome, of: str, reading: Alternative) -> Iterator[Verdict]:
    for sentence in SENTENCES:
        for device in DEVICES:
            yield _sentence(outcome, of, reading, sentence, device)
    yield _figure_3(outcome, of, reading)
    if of == CALIBRATED:
        yield from _figure_7(outcome, reading)


def _where(of: str, reading: Alternative, device: str | None = None) -> str:
    return f"{f'{device}, ' if device else ''}{of} loads, {reading.title}: "


def _table_2(outcome: Outcome) -> Iterator[Verdict]:
    """Table 2: the SLC columns are what the loads were fitted to, the MLC columns are predicted."""
    columns = [(device, op) for device in DEVICES for op in ("read", "write")]
    for load in outcome.plan.loads(CALIBRATED):
        for (device, op), paper in zip(columns, TABLE_2_MS[load.trace], strict=True):

            def ms(group: Group, op: str = op, trace: str = load.trace) -> float:
                return mean_ns(group.result(trace, "FIFO"), op) / 1e6

            found = over_seeds(outcome.runs(CALIBRATED), device, [load.trace], ms)
            fitted = device == "SLC" and not load.genuine
            yield Verdict(
                f"{device}: mean {op} latency of {load.label} under FIFO",
                f"{PAPER}, Table 2",
                "ms",
                paper,
                found.mean,
                _TABLE_2_TOLERANCE * paper,
                note="fitted with other seeds" if fitted else "",
                kind="measured" if load.genuine else "input" if fitted else "predicted",
                cause=None if load.genuine else "load",
                seeds=() if load.genuine else outcome.plan.seeds,
                low=found.low,
                high=found.high,
            )


def measured(
    outcome: Outcome, of: str, reading: str, device: str, measure: Callable[[Group], float]
) -> Estimate:
    """Measure the runs of a set of loads under a reading or an alternative."""
    return over_seeds(outcome.runs(of, reading), device, names(outcome, of), measure)


def _sentence(
    outcome: Outcome, of: str, reading: Alternative, sentence: Sentence, device: str
) -> Verdict:
    found = measured(outcome, of, reading.name, device, MEASURES[sentence.measure])
    mechanism = prefers_reads if sentence.measure.startswith(("rps", "contention")) else suspends
    works = all(
        mechanism(Group(runs, device, names(outcome, of)))
        for runs in outcome.runs(of, reading.name)
    )
    verdict = Verdict(
        _where(of, reading, device) + sentence.claim,
        sentence.source,
        sentence.unit,
        sentence.of(device),
        found.mean,
        sentence.tolerance,
        sentence.relation,
        sentence.note,
        kind=KINDS[of] if works or sentence.measure.startswith("pe0") else "vacuous",
        seeds=outcome.plan.seeds,
        low=found.low,
        high=found.high,
    )
    if verdict.reproduced is not False:
        return verdict
    return replace(verdict, cause=_cause(outcome, verdict, of, reading, sentence, device))


def _cause(
    outcome: Outcome,
    verdict: Verdict,
    of: str,
    reading: Alternative,
    sentence: Sentence,
    device: str,
) -> Cause | None:
    """Say why a sentence is not reproduced: another reading or load gives it, or it cannot be."""

    def holds(where: str, other: str) -> bool:
        found = measured(outcome, where, other, device, MEASURES[sentence.measure])
        return replace(verdict, ours=found.mean).reproduced is True

    others = [each.name for each in outcome.plan.readings(of) if each.name != reading.name]
    if of == CALIBRATED:
        others += [each.name for each in outcome.plan.alternatives]
    if any(holds(of, other) for other in others):
        return "reading"
    sets = [
        one
        for one in SETS
        if one != of and outcome.plan.loads(one) and reading in outcome.plan.readings(one)
    ]
    if any(holds(one, reading.name) for one in sets):
        return "load"
    return "contradiction" if device in sentence.contradicted else None


def _figure_3(outcome: Outcome, of: str, reading: Alternative) -> Verdict:
    """IPS gains less on SLC than on MLC, under every load."""
    loads = names(outcome, of)
    counts = []
    for runs in outcome.runs(of, reading.name):
        slc, mlc = (Group(runs, device, loads) for device in DEVICES)
        poorer = [
            slc.ratio(load, "PES_IPS", "PES_IPC", "read")
            > mlc.ratio(load, "PES_IPS", "PES_IPC", "read")
            for load in loads
        ]
        counts.append(float(sum(poorer)))
    found = estimate(counts)
    return Verdict(
        _where(of, reading) + "IPS is farther behind IPC on SLC than on MLC, under all six",
        f"{PAPER}, section 5.1", "1", 6, found.mean, 0, kind=KINDS[of],
        seeds=outcome.plan.seeds, low=found.low, high=found.high,
    )  # fmt: skip


def _figure_7(outcome: Outcome, reading: Alternative) -> Iterator[Verdict]:
    source = f"{PAPER}, section 5.3, Figure 7"
    for device in DEVICES:
        rps, ipc = (
            [queue_percent(outcome, device, limit, policy, reading.name) for limit in QUEUE_LIMITS]
            for policy in ("RPS", "PES_IPC")
        )
        kind = KINDS[CALIBRATED] if _limit_binds(outcome, device, reading) else "vacuous"
        grows = estimate([last - first for first, last in zip(rps[0], rps[-1], strict=True)])
        note = "in per cent of FIFO's write latency"
        where = _where(CALIBRATED, reading, device)
        seeds = outcome.plan.seeds
        yield Verdict(
            where + "the write overhead of RPS grows with the maximum write queue",
            source, "%", 1, grows.mean, 0, AT_LEAST,
            note=f"from 16 to 512, {note}; the paper prints no number",
            low=grows.low, high=grows.high, kind=kind, seeds=seeds,
        )  # fmt: skip
        apart = [
            [further - base for base, further in zip(bases, furthers, strict=True)]
            for bases, furthers in zip(rps, ipc, strict=True)
        ]
        ranges = estimate([max(of_seed) - min(of_seed) for of_seed in zip(*apart, strict=True)])
        yield Verdict(
            where + "PES_IPC adds a near-constant amount to RPS, whatever the queue",
            source, "%", 2, ranges.mean, 0, AT_MOST,
            note=f"range of the difference, {note}; “near-constant” is read as at most two",
            low=ranges.low, high=ranges.high, kind=kind, seeds=seeds,
        )  # fmt: skip


def queue_percent(
    outcome: Outcome, device: str, limit: int, policy: str, reading: str
) -> list[float]:
    """Mean write latency in % of that of FIFO, under F2 compressed once more, for each seed."""
    return [
        100 * mean_ns(runs[limit, policy], "write") / mean_ns(runs[limit, "FIFO"], "write")
        for runs in outcome.queue(device, reading)
    ]


def _limit_binds(outcome: Outcome, device: str, reading: Alternative) -> bool:
    """Whether the smallest limit changes anything against the largest, with every seed."""
    ends = (QUEUE_LIMITS[0], QUEUE_LIMITS[-1])
    return all(
        mean_ns(runs[ends[0], "RPS"], "write") != mean_ns(runs[ends[1], "RPS"], "write")
        for runs in outcome.queue(device, reading.name)
    )


def _abstract(outcome: Outcome) -> Iterator[Verdict]:
    """Yield the abstract's three numbers: averages, those of reads for MLC only."""
    named = {sentence.measure: sentence for sentence in SENTENCES}
    note = "the abstract does not say that it is the average for MLC"
    for measure in ("ipc_reduction_of_rps", "ipc_reduction_of_fifo"):
        found = _sentence(outcome, CALIBRATED, BASE, named[measure], "MLC")
        yield replace(found, source=f"{PAPER}, abstract", note=note, kind="duplicate")
    overheads = [
        measured(outcome, CALIBRATED, BASE.name, device, MEASURES["ipc_write_overhead"]).mean
        for device in DEVICES
    ]
    yield Verdict(
        _where(CALIBRATED, BASE) + "writes are slowed by less than 4 %", f"{PAPER}, abstract", "%",
        4, max(overheads), 0, AT_MOST, kind="duplicate", seeds=outcome.plan.seeds,
        note="average over the loads, the worse drive; " + f"{SLIDES}: “low overhead”",
    )  # fmt: skip


def held(found: list[Verdict]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return for each set of loads and reading how many sentences hold, of how many judged."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for of in SETS:
        for reading in READINGS:
            mark = f"{of} loads, {reading.title}: "
            judged = [one for one in found if mark in one.claim and one.kind == KINDS[of]]
            yes = sum(one.reproduced is True for one in judged)
            counts[of, reading.name] = (yes, sum(one.reproduced is not None for one in judged))
    return counts
