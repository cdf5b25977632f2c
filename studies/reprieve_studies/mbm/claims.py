"""The claims of the paper beside what was simulated."""

from collections.abc import Iterator
from dataclasses import replace

from reprieve_studies.mbm import formulas
from reprieve_studies.mbm.causes import Nearest, cause_of, of_readings, of_substrates
from reprieve_studies.mbm.experiment import LIMIT, MAIN, SUBSTRATE, TAIL, Outcome
from reprieve_studies.mbm.measures import MEASURES, papers, ratios_of_readings, tails
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
from reprieve_studies.mbm.readings import BASE, MBM, SPRINKLER, TBM
from reprieve_studies.mbm.substrate_table import CHOSEN, mb_per_s
from reprieve_studies.mbm.substrates import SUBSTRATES
from reprieve_studies.verdicts import Verdict

ERASES = ("erases_mean", "erases_most", "msnfs_erases", "reading_erases_more")
"""Measures that count erases."""
AT_THE_LIMIT = (
    "saturated_most",
    "saturated_mean",
    "saturated_best",
    "saturated_sprinkler",
    "plain_above_tbm",
    "plain_above_sprinkler",
)
"""Measures of runs at the drive's limit."""


def verdicts(outcome: Outcome) -> list[Verdict]:
    """Every claim, in the order of the paper."""
    nearest = find_nearest(outcome)
    return [
        *formulas.verdicts(),
        *(with_cause(of_claim(outcome, claim), claim, nearest) for claim in CLAIMS),
        *_msnfs(outcome),
        with_cause(of_claim(outcome, SIMILAR_TAIL), SIMILAR_TAIL, nearest),
        *(of_tail(outcome, claim) for claim in TAIL_CLAIMS),
    ]


def find_nearest(outcome: Outcome) -> dict[str, Nearest]:
    """Return the reading, or substrate, that comes nearest to each claim that any can move.

    Of those that were run: some runs are of the figures alone.
    """
    ran = {spot.series for spot in outcome.runs}
    found = of_readings(ratios_of_readings(outcome)) if BASE.name in ran else {}
    if SUBSTRATE in ran:
        speeds = {
            str(substrate): {name: mb_per_s(outcome, substrate, name) for name in (MBM, TBM)}
            for substrate in SUBSTRATES
        }
        if all(value is not None for value in speeds[CHOSEN].values()):
            found |= of_substrates(speeds, CHOSEN, (MBM, TBM))
    return found


def with_cause(verdict: Verdict, claim: Claim, nearest: dict[str, Nearest]) -> Verdict:
    """Return the verdict with its cause and what is measured of that, if it is not reproduced."""
    if verdict.reproduced is not False:
        return verdict
    cause, words = cause_of(claim.measure, nearest)
    note = "; ".join(part for part in (verdict.note, words) if part)
    return replace(verdict, cause=cause, note=note)


def of_claim(outcome: Outcome, claim: Claim) -> Verdict:
    """Return the verdict on a sentence with a number."""
    lack = too_few_events(outcome, claim)
    return Verdict(
        claim.claim,
        claim.source,
        claim.unit,
        claim.paper,
        MEASURES[claim.measure](outcome),
        claim.tolerance,
        claim.relation,
        lack or claim.note,
        untestable=lack is not None,
    )


def too_few_events(outcome: Outcome, claim: Claim) -> str | None:
    """Return in words that a claim rests on too few events, if it does.

    Those of a percentile are the requests beyond it; those of a mean, or of a bandwidth, the
    requests that count.
    """
    if claim.measure == SIMILAR_TAIL.measure:
        group = papers(outcome, TAIL)
        reads = min(group.one(MSNFS, name).latencies["read"].requests for name in (SPRINKLER, MBM))
        # A hundredth of them is beyond p99.
        events, what = reads // 100, "reads beyond the percentile"
    elif claim.measure in ERASES:
        events, what = fewest_erases(outcome), "erases under a load"
    else:
        events, what = fewest_requests(outcome, claim), "requests under a load"
    wanted = outcome.plan.events_min
    return f"too few {what}: {events}, {wanted} are wanted" if events < wanted else None


def fewest_requests(outcome: Outcome, claim: Claim) -> int:
    """Return the fewest requests that count in a run of a claim of means or of bandwidths."""
    series = LIMIT if claim.measure in AT_THE_LIMIT else MAIN
    return min(
        run.latencies["total"].requests
        for spot, run in outcome.runs.items()
        if spot.series == series and spot.load in outcome.papers
    )


def fewest_erases(outcome: Outcome) -> int:
    """Return the fewest erases of TBM or MBM under a load of the paper."""
    group = papers(outcome)
    return min(group.one(load, name).erases for load in group.loads for name in (TBM, MBM))


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
        few = f"fewer than {outcome.plan.events_min} requests"
        notes.append(f"{too_few} further ones rest on {few} and are left out")
    if failing:
        notes.append("not for " + "; ".join(failing))
    return Verdict(
        claim.claim, claim.source, "1", len(found), sum(one.holds for one in found), 0,
        note="; ".join(notes), untestable=not found,
    )  # fmt: skip
