"""The claims of the paper beside what was simulated."""

from collections.abc import Iterator

from reprieve_studies.mbm import formulas
from reprieve_studies.mbm.experiment import Outcome
from reprieve_studies.mbm.measures import MEASURES, papers, tails
from reprieve_studies.mbm.paper import (
    CLAIMS,
    MSNFS,
    MSNFS_ERASES,
    PAPER,
    SIMILAR_TAIL,
    TAIL_CLAIMS,
    Claim,
    TailClaim,
)
from reprieve_studies.verdicts import Verdict


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Every claim, in the order of the paper."""
    return [
        *formulas.verdicts(),
        *(of_claim(outcome, claim) for claim in CLAIMS),
        *_msnfs(outcome),
        of_claim(outcome, SIMILAR_TAIL),
        *(of_tail(outcome, claim) for claim in TAIL_CLAIMS),
    ]


def of_claim(outcome: Outcome, claim: Claim) -> Verdict:
    """Return the verdict on a sentence with a number."""
    return Verdict(
        claim.claim,
        claim.source,
        claim.unit,
        claim.paper,
        MEASURES[claim.measure](outcome),
        claim.tolerance,
        claim.relation,
        claim.note,
    )


def _msnfs(outcome: Outcome) -> Iterator[Verdict]:
    group = papers(outcome)
    genuine = {load.trace: load.genuine for load in outcome.plan.papers}[MSNFS]
    for scheme, paper in MSNFS_ERASES.items():
        yield Verdict(
            f"MSNFS: collections of {scheme}", f"{PAPER}, section VI.C", "1", paper,
            group.one(MSNFS, scheme).erases, 0.15 * paper,
            note="a count belongs to its trace"
                 + ("" if genuine else ", and ours is of a counterpart")
                 + "; how full the paper's drive was is not said",
            untestable=True,
        )  # fmt: skip


def of_tail(outcome: Outcome, claim: TailClaim) -> Verdict:
    """Return the verdict on an order of percentiles."""
    found, too_few = tails(outcome, claim)
    failing = [
        f"{one.load} {one.op} p{one.percent:g}: {claim.best} {one.best_us:,.0f} µs, "
        f"other {one.rival_us:,.0f}"
        for one in found
        if not one.holds
    ]
    notes = ["percentiles for which it holds"]
    if too_few:
        notes.append(f"{too_few} further ones rest on fewer than ten requests and are left out")
    if failing:
        notes.append("not for " + "; ".join(failing))
    return Verdict(
        claim.claim, claim.source, "1", len(found), sum(one.holds for one in found), 0,
        note="; ".join(notes), untestable=not found,
    )  # fmt: skip
