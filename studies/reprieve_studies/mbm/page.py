"""The report: what was run, what came out, and how to read it."""

from reprieve_studies.article import Section
from reprieve_studies.mbm import ablation, figures, substrate_table, tables
from reprieve_studies.mbm.experiment import Outcome, Plan
from reprieve_studies.mbm.formulas import (
    read_bound_mb_per_s,
    write_bound_mb_per_s,
    write_bound_of_dies_mb_per_s,
)
from reprieve_studies.mbm.measured import WARM_UP_SHARE
from reprieve_studies.mbm.paper import PAGES_PER_BLOCK, PAPER, SRC
from reprieve_studies.mbm.readings import (
    BASE,
    BLOCKS,
    IDLE_SHARE,
    MBM,
    OVER_PROVISIONING,
    PLAIN,
    QUEUE_DEPTH,
    READINGS,
    SPRINKLER,
    TBM,
)

_DRIVE = (
    f"The drive is that of Table I, with {BLOCKS} blocks a plane and an over-provisioning of "
    f"{100 * OVER_PROVISIONING:.0f} %, neither of which the paper has, brought to steady state by "
    f"random overwrites. The first {100 * WARM_UP_SHARE:.0f} % of the requests of a run count in "
    "no latency and no bandwidth: they find a drive without more free blocks than it must have. "
    f"Table I has blocks of {PAGES_PER_BLOCK:,} pages; those that are run are shorter. "
    "All schemes have multi-plane commands and serve reads first."
)
_LOADS = (
    "Table II has sizes and shares of reads; the traces may not be passed on. Counterparts have "
    "these, the burstiness of Financial1's first minutes, and places of which a fifth gets four "
    "fifths of the requests, over the whole drive. Rates are compressed until the dies idle for "
    f"{100 * IDLE_SHARE:.0f} % of the time under TBM; every scheme and every number of chips then "
    "has the same arrivals. Recorded loads of the project stand beside them."
)
_SCHEMES = (
    f"{PLAIN}: a page goes to the next plane whose die is idle. {TBM}: twin blocks, after what "
    f"others say of the letter. {SPRINKLER}: its dispatcher on the page-level FTL. {MBM}: all of "
    "its parts, and cancellation within the phase (PES_IPC)."
)
_BANDWIDTH = (
    f"Figure 10 is measured with {QUEUE_DEPTH} requests always outstanding. The paper's “up to "
    "3x” is the reciprocal of its best response time, 1/(1 − 0.668) = 3.01, which suggests bytes "
    "over latencies; both are claims above. A chip that takes all its pages and then programs "
    f"writes at most 1/8 of {write_bound_mb_per_s():.0f} MB/s, dies that do so by themselves "
    f"1/16 of {write_bound_of_dies_mb_per_s():.0f}; the channels carry "
    f"{read_bound_mb_per_s():.0f} MB/s."
)
_ABLATION = (
    "What the paper lacks: MBM with each of its parts switched off, and every FTL with every way "
    "of suspending. Numbers are multiples; geometric means over all loads, the recorded ones "
    "included. Behind ± stands half an interval of 95 %, from drafts of the loads and of the "
    "drive's first state; of recorded loads, of the latter."
)


def left_out(plan: Plan) -> list[str]:
    """Return what the full study has and this plan has not."""
    others = len(READINGS) - len(plan.readings)
    lacks = {
        "recorded loads": not plan.real,
        "the ablation": plan.drafts == 0,
        f"{others} of {len(READINGS)} other readings": others > 0,
        "the substrates": not plan.has_substrates,
    }
    return [what for what, is_lacking in lacks.items() if is_lacking]


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run, and what of the full study was not."""
    plan = outcome.plan
    lacks = left_out(plan)
    return {
        **({"Left out": ", ".join(lacks)} if lacks else {}),
        "Paper": PAPER,
        "Requests of a run": f"{plan.requests:,} at most; {plan.requests_short:,} of other "
                             f"readings, {plan.requests_tail:,} for Figures 12 and 13",
        "Pages of a block": f"{plan.pages_per_block:,} in place of {PAGES_PER_BLOCK:,}",
        **({"Drafts of each run of the ablation": f"{plan.drafts}"} if plan.drafts else {}),
        "Runs": f"{len(outcome.runs):,}",
        "Loads": ", ".join(load.label for load in plan.loads),
    }  # fmt: skip


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    readings = (BASE, *outcome.plan.readings)
    questions = [f"{reading.title}: {reading.question}" for reading in readings]
    has_ablation = outcome.plan.drafts > 0
    return [
        *([_first(outcome)] if has_ablation else []),
        Section("The drive and the loads", [_DRIVE, _LOADS, _SCHEMES],
                tables=[tables.paper_drive(), tables.loads(outcome)]),
        Section("The paper's figures", [_BANDWIDTH], figures.of_the_paper(outcome),
                [tables.runs(outcome), tables.limits(outcome), tables.percentiles(outcome)]),
        Section("Other readings of the paper",
                [*questions, f"Columns “{SRC}” are multiples of TBM."],
                [figures.sensitivity(outcome)], [tables.readings(outcome)]),
        *([substrate_table.section(outcome)] if outcome.plan.has_substrates else []),
        *([_ablation(outcome)] if has_ablation else []),
    ]  # fmt: skip


def _first(outcome: Outcome) -> Section:
    sentences = [ablation.sentence(outcome, name) for name in ("mean", "read p99")]
    return Section("What a firmware team should build first", sentences)


def _ablation(outcome: Outcome) -> Section:
    return Section("Ablation", [_ABLATION], [figures.parts(outcome), figures.grid(outcome)],
                   [tables.parts(outcome), tables.grid(outcome)])  # fmt: skip
