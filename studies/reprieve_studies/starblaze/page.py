"""The report: what was run, what came out, and how to read it."""

from reprieve_studies.article import Section
from reprieve_studies.starblaze import figures, tables
from reprieve_studies.starblaze.experiment import SEED, Outcome
from reprieve_studies.starblaze.paper import PAPER
from reprieve_studies.starblaze.readings import BASE, BLOCKS, READINGS, TLC

_DRIVE = (
    f"The slides name no drive. Ours has {TLC.dies} dies of 3D TLC with the slides' typical times, "
    f"{BLOCKS} blocks each, programs of 64 KiB (four planes as one), and collects garbage in step "
    "with the host. It is mapped by 4 KiB and full. Every request takes 15 µs before it reaches "
    "the drive, taken from the slides' writes, which end in the buffer; so their mean is an input."
)
_CHOICE = (
    "Programs of 64 KiB on so many dies were chosen by hand arithmetic before any run: the mean "
    "read of the slides loses 13 to 52 µs by suspension, and a read waits for programs about that "
    "long in such a drive. Erases are too rare for it: they add less than a few µs to the mean."
)
_LOAD = (
    "The names of the cases are read as mixes: 2rr1rw as two reads to a write, 5rr4rw as five to "
    "four. Rates are held at those of the slides, which are the same before and after, with one "
    "request outstanding a thread. The job files are in jobs/, and a real fio takes them too."
)
_ODD = (
    "Bandwidth and IOPS are the same in both tables to the last digit, though latency falls by up "
    "to 35 %. By Little's law rate and latency give the requests outstanding on average: fewer "
    "than the threads, in each case. So either something else held the rate, or the columns were "
    "copied. A closed loop would have gained what the last column says."
)
_TWO_MS = (
    "The longest read after is 1.8 to 2.1 ms in all cases. With erases alone suspended, thousands "
    "of reads a minute wait for a program, and the longest would be a whole one. A longest wait "
    "below that is one of few: so programs made way too, and what is left are rare waits."
)


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan = outcome.plan
    return {
        "Paper": PAPER,
        "Reading": BASE.title,
        "Simulated time of a run": f"{plan.runtime_s} s after a ramp of {plan.ramp_s} s",
        "Runs": f"{len(plan.spots):,}",
        "Seeds": f"{SEED} to {SEED + plan.seeds - 1}; {SEED} of other readings",
    }


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    questions = [f"{reading.title}: {reading.question}" for reading in READINGS]
    return [
        Section("The tables of the slides", [_DRIVE, _CHOICE, _LOAD],
                figures.all_figures(outcome), [tables.both_tables(outcome)]),
        Section("The same rates before and after", [_ODD], tables=[tables.sums()]),
        Section("What two milliseconds imply", [_TWO_MS],
                tables=[tables.waits(outcome), tables.by_setting(outcome)]),
        Section("Other readings", questions, tables=[tables.by_reading(outcome)]),
        Section("A read behind an operation", tables=[tables.conflicts_of_parts()]),
    ]  # fmt: skip
