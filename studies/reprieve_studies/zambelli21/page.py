"""The report: what was run, what came out, and how to read it."""

from reprieve_studies.article import Section
from reprieve_studies.characterize.page import SECTIONS
from reprieve_studies.zambelli21 import figures, tables
from reprieve_studies.zambelli21.experiment import PART, SEED, WORDLINES, Outcome
from reprieve_studies.zambelli21.paper import PAPER
from reprieve_studies.zambelli21.readings import BASE, BLOCKS, READINGS

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
    "reliability.delta = 0, taken from the paper; both blocks have 1000 cycles before, one gets "
    "100 more, the other ages for two days, all of which is assumed. So the table repeats the "
    "paper, and reproduces nothing."
)


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan = outcome.plan
    return {
        "Paper": PAPER,
        "Part": PART,
        "Reading": BASE.title,
        "Requests of a run": f"{plan.requests:,}; {plan.requests_of_others:,} of other readings",
        "Runs": f"{len(plan.spots):,}",
        "Wordlines on the bench": str(WORDLINES),
        "Seed": str(SEED),
    }


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    questions = [f"{reading.title}: {reading.question}" for reading in READINGS]
    bench = [make(outcome.bench) for make in SECTIONS]
    return [
        Section("The drive", [_DRIVE, _CHOICE], tables=[tables.paper_drive(), tables.work()]),
        Section("The paper's figures", [_POWER], figures.of_the_drive(outcome),
                [tables.runs(outcome)]),
        Section("Other readings of the paper", questions,
                tables=[tables.readings(outcome), tables.orders(outcome)]),
        Section("The part", [_BENCH], figures.of_the_part(outcome)),
        *bench,
        Section("Raw bit errors", [_RBER], tables=[tables.rber()]),
    ]  # fmt: skip
