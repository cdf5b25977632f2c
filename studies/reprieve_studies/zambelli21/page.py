"""The report: what was run, what came out, and how to read it."""

from reprieve_studies.article import Section
from reprieve_studies.characterize.page import SECTIONS
from reprieve_studies.zambelli21 import figures, tables, tail, wear
from reprieve_studies.zambelli21.experiment import PART, WORDLINES, Outcome
from reprieve_studies.zambelli21.measures import SEED
from reprieve_studies.zambelli21.paper import PAPER
from reprieve_studies.zambelli21.readings import BASE, BLOCKS, FITTED, JUDGED, READINGS

_DRIVE = (
    "The drive is that of the paper's Table 1, of 16 channels, with one chip of eight dies each, "
    f"and {BLOCKS} blocks a die in place of 2048: over-provisioning and the threshold of garbage "
    "collection are shares, and stay. Flash is mapped by 4 KiB, the size of a request; a program "
    "takes four such units, a page. Random writes are acknowledged in the frame buffer, 1024 of "
    "them: a mean of 191 µs over reads and writes cannot hold programs of 2 ms. For each page of "
    "the host collection moves 1.4 (a write amplification of 2.4, Table 1), in step with the host; "
    "a drive that collects a whole block at once would have its writes wait for 0.3 s."
)
_CHOICE = (
    "One chip a channel and a program a page are chosen because the paper's 335 kIOPS, a quarter "
    "of them writes, then keep the dies busy with programs for 79 % of the time. With whole "
    "wordlines it is 26 %, with two chips half of either, and suspension would have less to gain."
)
_POWER = (
    "The paper's powers are confidential; those of the part are sourced or assumed, and so are "
    "the milliwatts that come out. Signs, orders and sizes can be compared, absolute values cannot."
)
_BENCH = (
    f"The part, {PART}, on the bench, after section 4 of the paper; reprieve characterize {PART} "
    "gives the same by itself."
)
_RBER = (
    "That suspension does not change the block it happens in is a parameter of the part, "
    "reliability.delta = 0, taken from the paper; both blocks have one cycle before, one gets "
    "100 more, the other ages for two days, all of which is assumed. So the table repeats the "
    "paper, and reproduces nothing."
)


_SENSITIVITY = (
    "The fitted reading has four free parameters. Two are fitted: the chips of a channel to the "
    "bandwidth without suspension, the time of a command to that with ten. Two are chosen after "
    "the paper's tail, which is shorter than an erase and a program: which reads wait for a "
    "program, and whether erases make way. A fifth question is what “5 and 10” count: suspensions "
    "of a program, or points at which it can be suspended. Each is changed by itself."
)
_TAIL = (
    "The p99.99 of reads by the suspensions allowed of a program, and what the slowest 0.01 % of "
    "the reads waited for: the fitted reading, 25W-75R at QD 64, the blame of the request log."
)
_FRONT = (
    "Suspensions cost a share of a cycle, as two patents have it: "
    f"{wear.WEAR_PER_PROGRAM_SUSPEND:g} for each of a program and {wear.WEAR_PER_ERASE_SUSPEND:g} "
    "for each of an erase, both assumed, as no figure is published. A policy is on the front if "
    "none has both a shorter tail and a longer life."
)


def _of_the_full_run(outcome: Outcome) -> list[Section]:
    by_limit, points = tail.by_limit(outcome.tails), wear.points(outcome.front)
    return [
        Section("Sensitivity", [_SENSITIVITY], tables=[tables.sensitivity(outcome)]),
        Section("The tail", [_TAIL], [figures.of_the_tail(by_limit)], [tables.tails(outcome)]),
        Section("Tail against lifetime", [_FRONT], [figures.of_the_front(points)],
                [tables.front(outcome)]),
    ]  # fmt: skip


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan = outcome.plan
    return {
        "Paper": PAPER,
        "Part": PART,
        "Readings": ", ".join(reading.title for reading in JUDGED),
        "Requests of a run": f"{plan.requests:,}; {plan.requests_of_others:,} of other readings",
        "Run in": "no" if plan.quick else "until collection has set in; not counted",
        "Runs": f"{len(plan.spots):,}",
        "Wordlines on the bench": str(WORDLINES),
        "Seeds": ", ".join(str(seed) for seed in plan.seeds)
        + f"; {len(plan.seeds_of_others)} of them for other readings, {SEED} for the part",
    }


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    shown = JUDGED if outcome.plan.quick else READINGS
    questions = [f"{reading.title}: {reading.question}" for reading in shown]
    bench = [make(outcome.bench) for make in SECTIONS]
    return [
        Section("The drive", [_DRIVE, _CHOICE], tables=[tables.paper_drive(), tables.work()]),
        Section("The paper's figures", [_POWER], figures.of_the_drive(outcome),
                [tables.runs(outcome, reading) for reading in (FITTED, BASE)]),
        Section("Readings of the paper", questions, tables=[tables.readings(outcome)]),
        *([] if outcome.plan.quick else _of_the_full_run(outcome)),
        Section("The part", [_BENCH], figures.of_the_part(outcome)),
        *bench,
        Section("Raw bit errors", [_RBER], tables=[tables.rber()]),
    ]  # fmt: skip
