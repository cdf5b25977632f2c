"""The claims of the paper beside what was simulated."""

from collections.abc import Iterator
from dataclasses import replace

from reprieve_studies.fast12 import formulas
from reprieve_studies.fast12.alternatives import IDLE_DIES
from reprieve_studies.fast12.experiment import Outcome
from reprieve_studies.fast12.measures import MEASURES, Group, mean_ns
from reprieve_studies.fast12.paper import (
    DEVICES,
    PAPER,
    QUEUE_LIMITS,
    SENTENCES,
    SLIDES,
    TABLE_2_MS,
    Sentence,
)
from reprieve_studies.verdicts import AT_LEAST, AT_MOST, Verdict

_COUNTERPART = (
    "an absolute latency belongs to its trace, which may not be redistributed; ours is of the "
    "counterpart {label}, give the trace with --trace {name}=FILE"
)
_TABLE_2_TOLERANCE = 0.25
"""Of the paper's value, where the genuine trace is given; set before the run."""


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Every claim, in the order of the paper."""
    return [
        *formulas.verdicts(),
        *_table_2(outcome),
        *(_sentence(outcome, sentence, device) for sentence in SENTENCES for device in DEVICES),
        *_figure_3(outcome),
        *_figure_7(outcome),
        *_abstract(outcome),
    ]


def group(outcome: Outcome, device: str) -> Group:
    """Return the runs of a device under the paper's six loads."""
    return Group(outcome.main, device, [load.trace for load in outcome.plan.papers])


def _table_2(outcome: Outcome) -> Iterator[Verdict]:
    columns = [(device, op) for device in DEVICES for op in ("read", "write")]
    for load in outcome.plan.papers:
        for (device, op), paper in zip(columns, TABLE_2_MS[load.trace], strict=True):
            result = group(outcome, device).result(load.trace, "FIFO")
            yield Verdict(
                f"{device}: mean {op} latency of {load.label} under FIFO",
                f"{PAPER}, Table 2",
                "ms",
                paper,
                mean_ns(result, op) / 1e6,
                _TABLE_2_TOLERANCE * paper,
                note="" if load.genuine else _COUNTERPART.format(label=load.label, name=load.trace),
                untestable=not load.genuine,
            )


def _sentence(outcome: Outcome, sentence: Sentence, device: str) -> Verdict:
    measure = MEASURES[sentence.measure]
    papers = group(outcome, device)
    other = measure(Group(outcome.alternatives[IDLE_DIES], device, papers.loads))
    unit = "" if sentence.unit == "1" else f" {sentence.unit}"
    notes = [sentence.note] if sentence.note else []
    return Verdict(
        f"{device}: {sentence.claim}",
        sentence.source,
        sentence.unit,
        sentence.of(device),
        measure(papers),
        sentence.tolerance,
        sentence.relation,
        "; ".join([*notes, f"with dies that idle for 70 %: {other:.3g}{unit}"]),
    )


def _figure_3(outcome: Outcome) -> Iterator[Verdict]:
    """IPS gains less on SLC than on MLC, under every load."""
    slc, mlc = (group(outcome, device) for device in DEVICES)
    poorer = [
        slc.ratio(load, "PES_IPS", "PES_IPC", "read")
        > mlc.ratio(load, "PES_IPS", "PES_IPC", "read")
        for load in slc.loads
    ]
    claim = "loads under which IPS is farther behind IPC on SLC than on MLC: all six"
    yield Verdict(claim, f"{PAPER}, section 5.1", "1", 6, sum(poorer), 0)


def _figure_7(outcome: Outcome) -> Iterator[Verdict]:
    source = f"{PAPER}, section 5.3, Figure 7"
    for device in DEVICES:
        rps, ipc = (
            [100 * queue_ratio(outcome, device, limit, policy) for limit in QUEUE_LIMITS]
            for policy in ("RPS", "PES_IPC")
        )
        yield Verdict(
            f"{device}: the write overhead of RPS grows with the maximum write queue",
            source, "%", 1, rps[-1] - rps[0], 0, AT_LEAST,
            note="from 16 to 512, in per cent of FIFO's write latency; the paper prints no number",
        )  # fmt: skip
        apart = [further - base for further, base in zip(ipc, rps, strict=True)]
        yield Verdict(
            f"{device}: PES_IPC adds a near-constant amount to RPS, whatever the queue",
            source, "%", 2, max(apart) - min(apart), 0, AT_MOST,
            note="range of the difference, in per cent of FIFO's write latency; “near-constant” "
                 "is read as at most two",
        )  # fmt: skip


def queue_ratio(
    outcome: Outcome, device: str, limit: int, policy: str, *, of_dies: bool = False
) -> float:
    """Mean write latency over that of FIFO, under F2 compressed once more."""
    of, base = (
        mean_ns(outcome.queue[of_dies, device, limit, one], "write") for one in (policy, "FIFO")
    )
    return of / base


def _abstract(outcome: Outcome) -> Iterator[Verdict]:
    """Yield the abstract's three numbers: averages, those of reads for MLC only."""
    named = {sentence.measure: sentence for sentence in SENTENCES}
    note = "the abstract does not say that it is the average for MLC"
    for measure in ("ipc_reduction_of_rps", "ipc_reduction_of_fifo"):
        found = _sentence(outcome, named[measure], "MLC")
        yield replace(found, source=f"{PAPER}, abstract", note=note)
    overheads = [MEASURES["ipc_write_overhead"](group(outcome, device)) for device in DEVICES]
    yield Verdict(
        "writes are slowed by less than 4 %", f"{PAPER}, abstract", "%", 4, max(overheads), 0,
        AT_MOST, note="average over the loads, the worse drive; " + f"{SLIDES}: “low overhead”",
    )  # fmt: skip
