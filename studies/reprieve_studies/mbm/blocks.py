"""How much the length of a block matters: Figures 8 and 11 with the blocks of Table I as well."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reprieve.parallel import Workshop
from reprieve_studies.article import Section, Table
from reprieve_studies.mbm import claims, tables
from reprieve_studies.mbm.experiment import (
    MAIN,
    PAGES_PER_BLOCK_RUN,
    Compressing,
    Job,
    Outcome,
    Plan,
    Spot,
    list_main_jobs,
    scales_of,
)
from reprieve_studies.mbm.measured import Measured
from reprieve_studies.mbm.measures import MEASURES, geometric
from reprieve_studies.mbm.paper import CLAIMS, PAGES_PER_BLOCK, PAPER
from reprieve_studies.mbm.readings import BASE, MBM, TBM
from reprieve_studies.verdicts import Verdict

TIMES = PAGES_PER_BLOCK // PAGES_PER_BLOCK_RUN
"""Blocks are so many times as long, and a drive is in its running state after so many requests."""


@dataclass(frozen=True)
class Size:
    """A length of blocks, and how long the runs are."""

    pages: int
    times: int


SIZES = (Size(PAGES_PER_BLOCK_RUN, 1), Size(PAGES_PER_BLOCK, 1), Size(PAGES_PER_BLOCK, TIMES))
"""The last is the paper's drive in its running state."""

HEADLINES = (
    "response_reduction",
    "response_reduction_most",
    "sprinkler_src",
    "mbm_src",
    "mbm_faster",
    "sprinkler_faster",
    "erases_mean",
    "erases_most",
    "msnfs_erases",
)
"""Of the claims, those that rest on these runs."""

_RATIOS: dict[str, Callable[[Measured], float | None]] = {
    "mean latency of reads": lambda run: run.mean_us("read"),
    "p99 of reads": lambda run: run.percentile_us("read", 99.0),
    "mean latency of writes": lambda run: run.mean_us("write"),
    "p99 of writes": lambda run: run.percentile_us("write", 99.0),
}


def pieces(plan: Plan) -> int:
    """Return how many pieces of work it is."""
    return len(plan.loads) + len(SIZES) * len(list_main_jobs(plan, None))


def run(plan: Plan, workshop: Workshop) -> list[Outcome]:
    """Run every size; the loads are compressed once, for the blocks of all other runs."""
    places = [(BASE, load) for load in plan.loads]
    found = workshop.each("compressing the loads", places, Compressing(plan).one)
    made = {(BASE.name, load.trace): one for (_, load), one in zip(places, found, strict=True)}
    plans = [
        replace(plan, requests=size.times * plan.requests, pages_per_block=size.pages)
        for size in SIZES
    ]
    jobs = [list_main_jobs(plan, scales_of(made)) for plan in plans]
    runs = iter(workshop.each("Figures 8 and 11", [job for own in jobs for job in own], Job.run))
    return [
        Outcome(plan, made, {job.spot: next(runs) for job in own})
        for plan, own in zip(plans, jobs, strict=True)
    ]


def verdicts(outcomes: Sequence[Outcome]) -> list[Verdict]:
    """Return those of the paper's drive in its running state."""
    return [claims.of_claim(outcomes[-1], claim) for claim in CLAIMS if claim.measure in HEADLINES]


def facts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return what was run."""
    return {
        "Paper": PAPER,
        "Runs": "; ".join(_title(outcome) for outcome in outcomes),
        "Loads": ", ".join(load.label for load in outcomes[0].plan.loads),
    }


def _title(outcome: Outcome) -> str:
    return f"{outcome.plan.pages_per_block:,} pages, {outcome.plan.requests:,} requests"


def sections(outcomes: Sequence[Outcome]) -> list[Section]:
    """Return the report below its verdicts, which are those of the last column."""
    text = (
        f"Table I has blocks of {PAGES_PER_BLOCK:,} pages; all other runs have "
        f"{PAGES_PER_BLOCK_RUN}. A longer block needs as many times the requests until the drive "
        "has left the state it starts from. The arrivals are the same in all columns."
    )
    return [
        Section("What the length of a block changes", [text], tables=[comparison(outcomes)]),
        Section("Every run with the blocks of Table I", tables=[tables.runs(outcomes[-1])]),
    ]


def comparison(outcomes: Sequence[Outcome]) -> Table:
    """Set the headlines of every size side by side."""
    named = {claim.measure: claim for claim in CLAIMS}
    rows = []
    for measure in HEADLINES:
        claim = named[measure]
        ours = [f"{MEASURES[measure](outcome):.3g}" for outcome in outcomes]
        rows.append([claim.claim, claim.unit, f"{claim.paper:g}", *ours])
    found = [ratios(outcome) for outcome in outcomes]
    for name in _RATIOS:
        cells = ["–" if one[name] is None else f"{one[name]:.3g}" for one in found]
        rows.append([f"{name} of MBM over TBM, geometric mean", "1", "–", *cells])
    columns = ["claim", "unit", "paper", *(_title(outcome) for outcome in outcomes)]
    return Table("Headlines by length of a block", columns, rows, words=2)


def ratios(outcome: Outcome) -> dict[str, float | None]:
    """Return what MBM has over TBM, geometric means; None where no load has enough requests."""
    return {name: _ratio(outcome, take) for name, take in _RATIOS.items()}


def _ratio(outcome: Outcome, take: Callable[[Measured], float | None]) -> float | None:
    found = []
    for load in outcome.loads:
        of, to = (take(outcome.runs[Spot(MAIN, load, name)]) for name in (MBM, TBM))
        if of is not None and to is not None:
            found.append(of / to)
    return geometric(found) if found else None
