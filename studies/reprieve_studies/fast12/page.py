"""The report: what was run, what came out, and how to read it."""

from reprieve_studies.article import Section
from reprieve_studies.fast12 import alternatives, beyond, figures, tables
from reprieve_studies.fast12.experiment import Outcome
from reprieve_studies.fast12.paper import PAPER

_COUNTERPARTS = (
    "The paper's traces may not be redistributed. Each load whose name ends in “-like” is a "
    "synthetic counterpart: generated from published characteristics, with nothing fitted to the "
    "paper's results. A counterpart has the mean rates, sizes and mix of its trace; it does not "
    "have its hours, its hot spots or its order. Give a genuine trace with --trace NAME=FILE."
)
_IDLE = (
    "As in the paper, each load is compressed by one factor for all times between arrivals, found "
    "by bisection so that the drive under FIFO idles for 70 % of the time. Idle is read as the "
    "paper words it, of the system: no request is open. The other reading is the mean over the "
    "dies; Figure 7 speaks against it, because dies that work for 30 % of the time cannot work for "
    "the 210 % that a load seven times as fast asks for. Both are run; which of the paper's "
    "numbers speak for the other reading stands below."
)


def facts(outcome: Outcome) -> dict[str, str]:
    """Return what was run."""
    plan = outcome.plan
    genuine = [load.trace for load in plan.papers if load.genuine]
    return {
        "Paper": f"{PAPER}, USENIX FAST",
        "Loads": f"{len(plan.papers)} of the paper, {len(plan.real)} recorded on 1&1 servers",
        "Genuine traces": ", ".join(genuine) or "none: counterparts",
        "Requests of a load": f"{plan.requests:,} at most",
        "Seeds": "1 to 6, one a load",
    }


def sections(outcome: Outcome) -> list[Section]:
    """Return the report below its verdicts."""
    found = [
        Section("Loads", [_COUNTERPARTS, _IDLE], tables=[tables.compression(outcome)]),
        Section("The paper's figures", figures=figures.papers(outcome),
                tables=[tables.table_2(outcome), tables.increase(outcome)]),
    ]  # fmt: skip
    if outcome.plan.real:
        text = "The same on recordings of three servers of 1&1 Internet AG, an hour or less each."
        found.append(Section("Real loads", [text], figures=figures.real(outcome)))
    readings = [f"{one.title}: {one.question}" for one in alternatives.ALTERNATIVES]
    found.append(
        Section(
            "Other readings of the paper",
            ["The paper leaves open, or contradicts itself on, what follows.", *readings],
            [figures.figure_7_of_dies(outcome)],
            tables=[tables.explained(outcome), tables.sentences(outcome)],
        )
    )
    segments = beyond.DRIVE["timing.erase_segments"]
    text = (
        "A full drive of 64 blocks a plane whose garbage is collected in the background, with "
        f"erases of {segments} segments (an assumption), each load compressed to 70 % idle under "
        "FIFO. Suspending the programs of garbage collection is the paper's future work; writes "
        "before erases are those of Wu, Huang and He, Journal of Systems Architecture, 2014; "
        "segments, deferral and the switch by time are after Kim et al., USENIX ATC 2019, whose "
        "own numbers were not at hand."
    )
    found.append(
        Section("Beyond the paper", [text], figures=figures.tails(outcome),
                tables=[tables.variants(outcome), tables.background(outcome)])
    )  # fmt: skip
    return found
