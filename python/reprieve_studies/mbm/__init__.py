"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from collections.abc import Sequence
from functools import partial

from reprieve_studies.article import Article, Section, Table
from reprieve_studies.compress import cells
from reprieve_studies.frame import by_reading, cell, questions
from reprieve_studies.joint import Candidate, search
from reprieve_studies.mbm import figures
from reprieve_studies.mbm.claims import (
    Outcome,
    compression,
    measured,
    numbers,
    of_other_readings,
    verdicts,
)
from reprieve_studies.mbm.runs import (
    APART,
    DATA,
    SCHEMES,
    TBM,
    Plan,
    counterparts,
    simulate,
)
from reprieve_studies.runs import Bench
from reprieve_studies.study import Settings, Study
from reprieve_studies.verdicts import Verdict


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    usual = DATA["plan"]["quick" if settings.quick else "full"]
    plan = Plan(**{
        **usual,
        "papers": counterparts(settings.traces),
        "requests": settings.requests_or(usual["requests"]),
        "seeds": DATA["seeds"],
        "readings": [] if settings.quick else list(DATA.readings.values())[1:],
    })  # fmt: skip
    with settings.bench() as bench:
        outcome = Outcome(plan, *simulate(plan, bench))
    return Article(
        title="MBM reproduced: plane alignment, conditional reads and suspension",
        command=settings.command,
        facts=_facts(outcome),
        sections=_sections(outcome),
        verdicts=verdicts(outcome),
        numbers=numbers(outcome),
    )


def judge(
    bench: Bench, candidate: Candidate, seeds: Sequence[int], *, quick: bool
) -> list[Verdict]:
    """Judge every claim under a candidate for the joint reading."""
    usual = DATA["plan"]["search" if quick else "full"]
    plan = Plan(counterparts({}), seeds=seeds, base=candidate.reading, **usual)
    return verdicts(Outcome(plan, *simulate(plan, bench)))


STUDY = Study(
    "Maximize Bandwidth Management (MBM) for 3D NAND, against TBM and Sprinkler",
    frozenset({"requests", "traces"}),
    article,
    joint=partial(search, DATA, judge, title="MBM"),
)

_DRIVE = (
    "The drive is that of Table I, with 64 blocks a plane and an over-provisioning of 30 %, "
    "neither of which the paper has, brought to steady state by random overwrites. The first 30 % "
    "of the requests of a run count in no latency and no bandwidth: they find a drive without more "
    "free blocks than it must have. Blocks are shorter than the 1,024 pages of Table I. All "
    "schemes have multi-plane commands and serve reads first."
)
_LOADS = (
    "Table II has sizes and shares of reads; the traces may not be passed on. Counterparts have "
    "these, the burstiness of Financial1's first minutes, and places of which a fifth gets four "
    "fifths of the requests, over the whole drive. Rates are compressed until the dies idle for 70 "
    "% of the time under TBM; every scheme and every number of chips then has the same arrivals."
)
_SCHEMES = (
    "Page-level: a page goes to the next plane whose die is idle. TBM: twin blocks, after what "
    "others say of the letter. Sprinkler: its dispatcher on the page-level FTL. MBM: all of its "
    "parts, and cancellation within the phase (PES_IPC). The paper's “up to 3x” of bandwidth is "
    "the reciprocal of its best response time, 1/(1 − 0.668) = 3.01, which suggests bytes over "
    "latencies; both are claims above."
)


def _facts(outcome: Outcome) -> dict[str, str]:
    plan = outcome.plan
    lengths = f"{plan.requests:,} at most"
    if plan.readings:
        lengths += f"; {plan.requests_short:,} of other readings"
    if plan.tail_times:
        lengths += f", {plan.requests * plan.tail_times:,} for Figures 12 and 13"
    left_out = "other readings, and Figures 9, 12 and 13"
    return {
        "Paper": DATA["paper"],
        "Reading": plan.base.title,
        **({} if plan.readings else {"Left out": left_out}),
        "Requests of a run": lengths,
        "Seeds": f"{', '.join(map(str, plan.seeds))}; intervals are of 95 % over them",
        "Pages of a block": f"{plan.pages_per_block:,} in place of 1,024",
        "Runs": f"{len(outcome.runs):,}",
        "Loads": ", ".join(load.label for load in plan.papers),
    }


def _sections(outcome: Outcome) -> list[Section]:
    paper = Section("The paper's figures", [_DRIVE, _LOADS, _SCHEMES],
                    figures.of_the_paper(outcome), [_loads(outcome)])  # fmt: skip
    if not outcome.plan.readings:
        return [paper]
    shown = {one.name: one for one in (outcome.plan.base, *outcome.plan.readings)}
    table = by_reading(
        "Response times under every reading",
        [(claim, "") for claim in DATA.claims if of_other_readings(claim)], list(shown),
        lambda claim, _at, name: measured(outcome, claim, name),
        {name: one.title for name, one in shown.items()},
    )  # fmt: skip
    return [
        paper,
        Section("Whose gain it is", [_GAIN], tables=[_gain(outcome)]),
        Section("Other readings of the paper", questions(shown.values()), tables=[table]),
    ]  # fmt: skip


def _loads(outcome: Outcome) -> Table:
    """Return every load: what the paper says of it, and how it was compressed."""
    rows = []
    for load in outcome.plan.papers:
        own = [f"{one:g}" for one in DATA["loads"][load.trace]]
        rows.append([load.trace, load.label, *own, *cells(compression(outcome, load.trace))])
    columns = ["trace", "load", "reads, KB", "writes, KB", "reads, %", "faster by",
               "drive idle, %", "dies idle, %"]  # fmt: skip
    return Table("Table II, and how loads are compressed", columns, rows, words=2)


_GAIN = (
    "The paper gives suspension to MBM alone. Here TBM has it too, and MBM is without; each number "
    "is over that of TBM without suspension, the average of six loads."
)


def _gain(outcome: Outcome) -> Table:
    """Return how fast MBM and TBM are with and without suspension."""
    metrics = {"requests": "mean_us", "reads": "read_us", "writes": "write_us"}
    rows = [
        [name, *(cell(outcome.over_tbm(name, metric)) for metric in metrics.values())]
        for name in (*list(SCHEMES)[2:], *APART)
    ]
    return Table(f"Mean latency, {TBM} = 1", ["scheme", *metrics], rows)
