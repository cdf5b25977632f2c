"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from reprieve_studies.article import Article, Section, Table
from reprieve_studies.compress import cells, mean_numbers
from reprieve_studies.frame import by_reading, questions
from reprieve_studies.loads import real
from reprieve_studies.mbm import figures
from reprieve_studies.mbm.claims import (
    Outcome,
    measure,
    numbers,
    of_other_readings,
    of_run,
    verdicts,
)
from reprieve_studies.mbm.runs import (
    DATA,
    MAIN,
    SCHEMES,
    Plan,
    Spot,
    counterparts,
    simulate,
)
from reprieve_studies.seeds import Estimate
from reprieve_studies.study import Settings, Study


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    usual = DATA["plan"]["quick" if settings.quick else "full"]
    wanted = DATA["plan"]["readings_quick"] if settings.quick else list(DATA.readings)[1:]
    plan = Plan(**{
        **usual,
        "papers": counterparts(settings.traces),
        "real": [] if settings.quick else real(),
        "requests": settings.requests_or(usual["requests"]),
        "readings": [one for name, one in DATA.readings.items() if name in wanted],
    })  # fmt: skip
    with settings.bench() as bench:
        outcome = Outcome(plan, *simulate(plan, bench))
    return Article(
        title="MBM reproduced: plane alignment, conditional reads and suspension",
        command=settings.command,
        facts=_facts(outcome, quick=settings.quick),
        sections=_sections(outcome),
        verdicts=verdicts(outcome),
        numbers=numbers(outcome),
    )


STUDY = Study(
    "Maximize Bandwidth Management (MBM) for 3D NAND, against TBM and Sprinkler",
    frozenset({"requests", "traces"}),
    article,
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


def _facts(outcome: Outcome, *, quick: bool) -> dict[str, str]:
    plan = outcome.plan
    others = len(DATA.readings) - 1 - len(plan.readings)
    left_out = {"Left out": f"recorded loads, {others} of {len(DATA.readings) - 1} other readings"}
    return {
        **(left_out if quick else {}),
        "Paper": DATA["paper"],
        "Requests of a run": f"{plan.requests:,} at most; {plan.requests_short:,} of other "
                             f"readings, {plan.requests_tail:,} for Figures 12 and 13",
        "Pages of a block": f"{plan.pages_per_block:,} in place of 1,024",
        "Runs": f"{len(outcome.runs):,}",
        "Loads": ", ".join(load.label for load in (*plan.papers, *plan.real)),
    }  # fmt: skip


def _sections(outcome: Outcome) -> list[Section]:
    shown = {one.name: one for one in (DATA.readings["base"], *outcome.plan.readings)}
    table = by_reading(
        "Response times under every reading",
        [(claim, "") for claim in DATA.claims if of_other_readings(claim)], list(shown),
        lambda claim, _at, name: Estimate(measure(outcome, claim, name)),
        {name: one.title for name, one in shown.items()},
    )  # fmt: skip
    return [
        Section("The paper's figures", [_DRIVE, _LOADS, _SCHEMES], figures.of_the_paper(outcome),
                [_loads(outcome), _runs(outcome)]),
        Section("Other readings of the paper", questions(shown.values()),
                [figures.sensitivity(outcome)], [table]),
    ]  # fmt: skip


def _loads(outcome: Outcome) -> Table:
    """Return every load: what the paper says of it, and how it was compressed."""
    rows = []
    for load in (*outcome.plan.papers, *outcome.plan.real):
        own = [f"{one:g}" for one in DATA["loads"].get(load.trace, ())] or ["–"] * 3
        found = mean_numbers([outcome.compressions["base", load.trace]])
        rows.append([load.trace, load.label, *own, *cells(found)])
    columns = ["trace", "load", "reads, KB", "writes, KB", "reads, %", "faster by",
               "drive idle, %", "dies idle, %"]  # fmt: skip
    return Table("Table II, and how loads are compressed", columns, rows, words=2)


_COLUMNS = {
    "mean, ms": ("mean_ms", ".3f"),
    "reads, ms": ("read_mean_ms", ".3f"), "p99 of reads, ms": ("read_p99_ms", ".3f"),
    "writes, ms": ("write_mean_ms", ".3f"), "p99 of writes, ms": ("write_p99_ms", ".3f"),
    "erases": ("erases", ""), "WAF": ("gc_waf", ".2f"), "dies busy, %": ("die_busy_percent", ".0f"),
    "programs suspended, %": ("suspended_percent", ".0f"),
    "pages programmed in pairs, %": ("joint_percent", ".0f"),
}  # fmt: skip
"""Numbers of a run, and their form in the table."""


def _runs(outcome: Outcome) -> Table:
    """Return every run of Figures 8 and 11."""
    rows = []
    for load in (*outcome.plan.papers, *outcome.plan.real):
        for scheme in SCHEMES:
            run = of_run(outcome.runs[Spot(MAIN, load.trace, scheme)])
            numbers_of = ((run[name], form) for name, form in _COLUMNS.values())
            rows.append([load.label, scheme, *("–" if value is None else f"{value:,{form}}"
                         for value, form in numbers_of)])  # fmt: skip
    columns = ["load", "scheme", *_COLUMNS]
    return Table("Every run of Figures 8 and 11", columns, rows, words=2)
