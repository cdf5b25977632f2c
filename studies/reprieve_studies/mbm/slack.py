"""How much hangs on the slack of collection: means with blocks more of it, and what jumps."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from reprieve_studies.article import Section, Table
from reprieve_studies.mbm.experiment import SLACK, Outcome, Spot
from reprieve_studies.mbm.measures import geometric
from reprieve_studies.mbm.readings import BASE, MBM, SLACK_SCHEMES, SLACKS, SPRINKLER, TBM

JUMP = 1.25
"""Of neighbours, the longer mean over the shorter one, from which on it is named."""
OPS: Mapping[str, str] = {"total": "all requests", "read": "reads", "write": "writes"}

Course = Sequence[float]
"""A mean, or a multiple of one, by slack."""
Courses = Mapping[str, Mapping[str, Course]]
"""By scheme and operation."""

_TEXT = (
    "Collection begins when a plane has fewer than so many free blocks; the slack is what lies "
    "between these and the blocks that are kept back. A share of the blocks of a plane makes a "
    f"small number of them, so that every scheme is run with up to {SLACKS[-1]} more. Multiples "
    "are of the same scheme with the slack that is chosen, geometric means over the paper's loads."
)
_CHANCE = (
    "The means of single loads rest on one draft of short runs each, and on a drive that starts "
    "from another state with every slack, so that some of them jump by chance."
)


class Jump(NamedTuple):
    """A mean that one block changes by more than `JUMP`."""

    scheme: str
    op: str
    slack: int
    """The less of the two."""
    ratio: float
    """What the mean is multiplied by with one block more."""

    def __str__(self) -> str:
        return (
            f"{self.scheme}, {OPS[self.op]}, from +{self.slack} to +{self.slack + 1}: "
            f"× {self.ratio:.2f}"
        )


def jumps(means: Courses) -> list[Jump]:
    """Return every jump between neighbours."""
    return [
        Jump(scheme, op, slack, after / before)
        for scheme, by_op in means.items()
        for op, course in by_op.items()
        for slack, (before, after) in enumerate(pairwise(course))
        if max(after / before, before / after) > JUMP
    ]


def sentence(means: Courses, mbm_over_tbm: Course) -> str:
    """Say which means jump, and whether MBM against TBM has one sign."""
    found = jumps(means)
    words = f"by more than {100 * (JUMP - 1):.0f} %"
    if not found:
        return f"One block more changes no mean {words}. {_sign(mbm_over_tbm)}"
    named = "; ".join(map(str, found))
    return f"One block more changes a mean {words}: {named}. {_sign(mbm_over_tbm)}"


def _sign(mbm_over_tbm: Course) -> str:
    least, most = min(mbm_over_tbm), max(mbm_over_tbm)
    reach = f"+0 to +{len(mbm_over_tbm) - 1}"
    if same_sign(mbm_over_tbm):
        side = "longer" if least > 1 else "shorter"
        return (
            f"The mean of MBM is {side} than that of TBM with every slack of {reach}: × "
            f"{least:.2f} to {most:.2f}."
        )
    turns = ", ".join(f"{one:.2f} (+{slack})" for slack, one in enumerate(mbm_over_tbm))
    return f"Whether the mean of MBM is longer than that of TBM turns on the slack: × {turns}."


def same_sign(ratios: Course) -> bool:
    """Whether all are longer, or all are shorter."""
    return min(ratios) > 1 or max(ratios) < 1


def courses(outcome: Outcome, loads: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Return means in µs by scheme, operation and slack, geometric over loads."""
    return {
        scheme: {
            op: [_mean_us(outcome, loads, scheme, op, slack) for slack in SLACKS] for op in OPS
        }
        for scheme in SLACK_SCHEMES
    }


def _mean_us(outcome: Outcome, loads: Sequence[str], scheme: str, op: str, slack: int) -> float:
    runs = [outcome.runs[Spot(SLACK, load, scheme, slack=slack)] for load in loads]
    return geometric([run.mean_us(op) for run in runs])


def over(of: Course, to: Course) -> list[float]:
    """Return one mean over another, slack by slack."""
    return [one / other for one, other in zip(of, to, strict=True)]


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return what pages quote; means in µs, all else multiples by slack."""
    means = courses(outcome, outcome.papers)
    mbm = over(means[MBM]["total"], means[TBM]["total"])
    by_load = {load: courses(outcome, [load]) for load in outcome.papers}
    return {
        "blocks": list(SLACKS),
        "over_chosen": {
            scheme: {op: [one / course[0] for one in course] for op, course in by_op.items()}
            for scheme, by_op in means.items()
        },
        "mbm_over_tbm": mbm,
        "sprinkler_over_tbm": over(means[SPRINKLER]["total"], means[TBM]["total"]),
        "same_sign": same_sign(mbm),
        "jumps": [one._asdict() for one in jumps(means)],
        "loads": {load: {"speed": outcome.compressions[BASE.name, load].speed, "means_us": own,
                         "jumps": [one._asdict() for one in jumps(own)]}
                  for load, own in by_load.items()},
        "sentence": sentence(means, mbm),
    }  # fmt: skip


def section(outcome: Outcome) -> Section:
    """Return that part of the report."""
    found = numbers(outcome)
    tables = [_table(found), _of_loads(outcome, found)]
    return Section("Slack of collection", [_TEXT, found["sentence"], _CHANCE], tables=tables)


def _of_loads(outcome: Outcome, found: Mapping[str, Any]) -> Table:
    """Name what jumps under each load."""
    rows = [
        [load.label, one.scheme, OPS[one.op], f"+{one.slack}", f"+{one.slack + 1}",
         f"{one.ratio:.2f}"]
        for load in outcome.plan.papers
        for one in (Jump(**jump) for jump in found["loads"][load.trace]["jumps"])
    ]  # fmt: skip
    columns = ["load", "scheme", "mean of", "from", "to", "times"]
    return Table("Means of single loads that one block changes by more", columns, rows, words=3)


def _table(found: Mapping[str, Any]) -> Table:
    rows = [
        [f"{scheme}, {OPS[op]}", *(f"{one:.2f}" for one in course)]
        for scheme, by_op in found["over_chosen"].items()
        for op, course in by_op.items()
    ]
    for name, ratios in (
        ("MBM", found["mbm_over_tbm"]),
        ("Sprinkler", found["sprinkler_over_tbm"]),
    ):
        rows.append([f"{name} over TBM, all requests", *(f"{one:.2f}" for one in ratios)])
    columns = ["mean latency, with free blocks more", *(f"+{slack}" for slack in SLACKS)]
    return Table("Mean latency by the slack of collection", columns, rows)
