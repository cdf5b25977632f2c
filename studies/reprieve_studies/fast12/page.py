"""The report: what was run, what came out, and how to read it."""

from collections.abc import Sequence

from reprieve_studies.article import Section
from reprieve_studies.fast12 import alternatives, beyond, figures, tables
from reprieve_studies.fast12.claims import held
from reprieve_studies.fast12.experiment import REAL, Outcome
from reprieve_studies.fast12.loads import CALIBRATED, CHARACTERISED, COUPLED, SETS
from reprieve_studies.fast12.paper import PAPER
from reprieve_studies.verdicts import Verdict

_COUNTERPARTS = (
    "The paper's traces may not be redistributed. In their place stand synthetic counterparts, "
    "in sets that are never mixed. Those of the set “characterised” are made from published "
    "characteristics, with nothing fitted to the paper's results. Those of the set “calibrated” "
    "are the same with two parameters of each load's bursts fitted to two numbers of the paper: "
    "the mean latencies of that load's reads and writes on SLC under FIFO, in Table 2, in the "
    "nearer of two forms: reads in trains of their own, or in the trains of the writes. The "
    "set “coupled” is fitted to the same numbers, all loads in the second form. Everything "
    "else is then predicted. Give a genuine trace with --trace NAME=FILE; it stands in both sets."
)
_IDLE = (
    "As in the paper, each load is compressed by one factor for all times between arrivals, found "
    "by bisection so that the drive under FIFO idles for 70 % of the time. Idle is read as the "
    "paper words it, of the system: no request is open. The other reading is the mean over the "
    "dies; Figure 7 speaks against it, because dies that work for 30 % of the time cannot work for "
    "the 210 % that a load seven times as fast asks for. Both are run."
)


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan = outcome.plan
    genuine = [load.trace for load in plan.loads(CALIBRATED) if load.genuine]
    seeds = ", ".join(str(seed) for seed in plan.seeds)
    return {
        "Paper": f"{PAPER}, USENIX FAST",
        "Loads": f"{len(plan.loads(CALIBRATED))} of the paper in "
        f"{len(plan.sets.keys() - {REAL})} sets each, "
        f"{len(plan.loads(REAL))} recorded on 1&1 servers",
        "Genuine traces": ", ".join(genuine) or "none: counterparts",
        "Requests of a load": f"{plan.requests:,} at most",
        "Seeds": f"{seeds}; intervals are of 95 % over them",
    }


def summary(verdicts: Sequence[Verdict]) -> str:
    """Say in a paragraph what holds."""
    counts = held(list(verdicts))
    best = max(
        ((of, reading) for of in SETS for reading in alternatives.READINGS),
        key=lambda one: counts[one[0], one[1].name][0],
    )
    yes, judged = counts[best[0], best[1].name]
    missed = [
        one.claim.split(": ", 1)[1] + f" ({one.claim.split(', ')[0]})"
        for one in verdicts
        if one.reproduced is False and f"{best[0]} loads, {best[1].title}: " in one.claim
    ]
    return (
        f"Of the {judged} sentences about results {yes} hold in the better case: {best[0]} loads "
        f"and {best[1].title}. Not so: {'; '.join(missed) or 'none'}."
    )


def sections(outcome: Outcome, verdicts: Sequence[Verdict]) -> list[Section]:
    """Return the report below its verdicts."""
    found = [
        Section("What holds", [summary(verdicts)], figures.papers(outcome)[:1],
                tables=[tables.headline(verdicts), tables.sentences(outcome)]),
        Section("Loads", [_COUNTERPARTS, _IDLE],
                tables=[tables.table_2(outcome), tables.compression(outcome)]),
        Section("The paper's figures", figures=figures.papers(outcome)[1:],
                tables=[tables.increase(outcome)]),
        *([Section("The same with coupled loads", figures=figures.papers(outcome, COUPLED))]
          if outcome.plan.loads(COUPLED) else []),
        Section("The same with characterised loads",
                figures=figures.papers(outcome, CHARACTERISED)),
    ]  # fmt: skip
    if outcome.plan.loads(REAL):
        text = "The same on recordings of three servers of 1&1 Internet AG, an hour or less each."
        found.append(Section("Real loads", [text], figures=figures.real(outcome)))
    readings = [f"{one.title}: {one.question}" for one in alternatives.ALTERNATIVES]
    found.append(
        Section(
            "Other readings of the paper",
            [
                "The paper leaves open, or contradicts itself on, what follows. Two readings are "
                "run with every load. "
                + " ".join(f"{one.title}: {one.question}." for one in alternatives.READINGS),
                *readings,
            ],
            tables=[tables.moved(outcome, verdicts)] if outcome.plan.alternatives else [],
        )
    )
    if not outcome.plan.beyond:
        return found
    segments = beyond.DRIVE["timing.erase_segments"]
    text = (
        "A full drive of 64 blocks a plane whose garbage is collected in the background, with "
        f"erases of {segments} segments (an assumption), each load compressed to 70 % idle under "
        "FIFO; the first fifth of the requests is not counted. Suspending the programs of garbage "
        "collection is the paper's future work; writes before erases are those of Wu, Huang and "
        "He, Journal of Systems Architecture, 2014; segments, deferral and the switch by time are "
        "after Kim et al., USENIX ATC 2019, whose own numbers were not at hand."
    )
    found.append(
        Section("Beyond the paper", [text], figures=figures.tails(outcome),
                tables=[tables.variants(outcome), tables.background(outcome)])
    )  # fmt: skip
    return found
