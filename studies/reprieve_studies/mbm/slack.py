"""How much hangs on the slack of collection: means with blocks more of it, and what jumps."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from reprieve_studies.article import Section, Table
from reprieve_studies.mbm.ablation import Estimate, estimate
from reprieve_studies.mbm.experiment import SLACK, Outcome, Spot
from reprieve_studies.mbm.measures import geometric
from reprieve_studies.mbm.paired import ends, verdict, words
from reprieve_studies.mbm.readings import MBM, SLACK_SCHEMES, SLACKS, SPRINKLER, TBM

JUMP = 1.25
"""Of neighbours, the longer mean over the shorter one, from which on it is named."""
OPS: Mapping[str, str] = {"total": "all requests", "read": "reads", "write": "writes"}

Course = Sequence[float]
"""A mean, or a multiple of one, by slack."""
Courses = Mapping[str, Mapping[str, Course]]
"""By scheme and operation."""
Ratios = Sequence[Sequence[float | None]]
"""A multiple by slack: its mean over the seeds, and the ends of its interval of 95 %."""

_TEXT = (
    "Collection begins when a plane has fewer than so many free blocks; the slack is what lies "
    "between these and the blocks that are kept back. A share of the blocks of a plane makes a "
    f"small number of them, so that every scheme is run with up to {SLACKS[-1]} more. Multiples "
    "are of the same scheme with the slack that is chosen, geometric means over the paper's loads "
    "and over the seeds, of which those have one that no figure shows; those over TBM are paired "
    "by seed, with intervals of 95 %."
)
_CHANCE = (
    "The means of single loads rest on short runs, and on a drive that starts from another state "
    "with every slack, so that some of them jump by chance."
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


def sentence(means: Courses, mbm_over_tbm: Ratios) -> str:
    """Say which means jump, and whether MBM against TBM has one sign."""
    found = jumps(means)
    by = f"by more than {100 * (JUMP - 1):.0f} %"
    if not found:
        return f"One block more changes no mean {by}. {_sign(mbm_over_tbm)}"
    named = "; ".join(map(str, found))
    return f"One block more changes a mean {by}: {named}. {_sign(mbm_over_tbm)}"


def _sign(mbm_over_tbm: Ratios) -> str:
    means = [mean for mean, _, _ in mbm_over_tbm if mean is not None]
    reach = f"+0 to +{len(means) - 1}"
    said = {verdict(one) for one in mbm_over_tbm}
    if same_sign(mbm_over_tbm):
        side = "longer" if "yes" in said else "shorter"
        return (
            f"The mean of MBM is {side} than that of TBM with every slack of {reach}, and so is "
            f"the whole interval: × {min(means):.2f} to {max(means):.2f}."
        )
    turns = ", ".join(f"{words(one)} at +{slack}" for slack, one in enumerate(mbm_over_tbm))
    if "yes" in said and "no" in said:
        return f"Whether the mean of MBM is longer than that of TBM turns on the slack: × {turns}."
    return f"The seeds do not show at every slack whether the mean of MBM is longer: × {turns}."


def same_sign(ratios: Ratios) -> bool:
    """Whether the whole interval is on one side of one, the same with every slack."""
    return {verdict(one) for one in ratios} in ({"yes"}, {"no"})


def courses(
    outcome: Outcome, loads: Sequence[str], only: int | None = None
) -> dict[str, dict[str, list[float]]]:
    """Return means in µs by scheme, operation and slack, geometric over loads and seeds.

    `only`: one of the seeds, and the schemes that have it.
    """
    found = {}
    for scheme in SLACK_SCHEMES:
        drafts = outcome.plan.drafts_of_slack(scheme)
        if only is not None:
            drafts = drafts[only : only + 1]
        if drafts:
            found[scheme] = {
                op: [
                    geometric([_mean_us(outcome, loads, scheme, op, slack, one) for one in drafts])
                    for slack in SLACKS
                ]
                for op in OPS
            }
    return found


def _mean_us(
    outcome: Outcome, loads: Sequence[str], scheme: str, op: str, slack: int, draft: int
) -> float:
    spots = [Spot(SLACK, load, scheme, slack=slack, draft=draft) for load in loads]
    return geometric([outcome.runs[spot].mean_us(op) for spot in spots])


def over(outcome: Outcome, of: str, to: str, op: str = "total") -> list[Estimate]:
    """Return the mean of a scheme over that of another, slack by slack, paired by seed."""
    loads = outcome.papers
    return [
        estimate([
            _mean_us(outcome, loads, of, op, slack, draft)
            / _mean_us(outcome, loads, to, op, slack, draft)
            for draft in range(outcome.plan.slack_drafts)
        ])
        for slack in SLACKS
    ]  # fmt: skip


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return what pages quote; means in µs, all else multiples by slack."""
    means = courses(outcome, outcome.papers)
    above = {
        f"{name.lower()}_{word}over_tbm": [ends(one) for one in over(outcome, name, TBM, op)]
        for name in (MBM, SPRINKLER)
        for op, word in (("total", ""), ("read", "reads_"), ("write", "writes_"))
    }
    return {
        "blocks": list(SLACKS),
        "over_chosen": {
            scheme: {op: [one / course[0] for one in course] for op, course in by_op.items()}
            for scheme, by_op in means.items()
        },
        **above,
        "same_sign": {
            name: same_sign(ratios) for name, ratios in above.items() if name.startswith("mbm")
        },
        "jumps": [one._asdict() for one in jumps(means)],
        "loads": {load: _of_load(outcome, load) for load in outcome.papers},
        "sentence": sentence(means, above["mbm_over_tbm"]),
    }  # fmt: skip


def _of_load(outcome: Outcome, load: str) -> dict[str, Any]:
    means = courses(outcome, [load])
    seeds = range(outcome.plan.slack_drafts)
    by_seed = [jumps(courses(outcome, [load], one)) for one in seeds]
    return {
        "means_us": means,
        "jumps": [one._asdict() for one in jumps(means)],
        "jumps_by_seed": [[one._asdict() for one in own] for own in by_seed],
    }


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
    for name in (MBM, SPRINKLER):
        for op, word in (("all requests", ""), ("reads", "reads_"), ("writes", "writes_")):
            ratios = found[f"{name.lower()}_{word}over_tbm"]
            rows.append([f"{name} over TBM, {op}", *map(words, ratios)])
    columns = ["mean latency, with free blocks more", *(f"+{slack}" for slack in SLACKS)]
    return Table("Mean latency by the slack of collection", columns, rows)
