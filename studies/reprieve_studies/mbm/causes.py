"""Why a claim is not reproduced: the reading or the substrate that comes nearest, and how near."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from reprieve_studies.mbm.paper import CLAIMS, SIMILAR_TAIL, SRC, TAIL_CLAIMS, Claim, tail_measure
from reprieve_studies.mbm.readings import BASE, READINGS
from reprieve_studies.verdicts import Cause, Verdict

Ratios = Mapping[str, float]
"""Of mean latencies to TBM's, by load."""

_EXPLAINS = 0.5
"""Of the distance to the paper: a cause covers at least as much."""


def _others(found: Ratios) -> list[float]:
    return [ratio for load, ratio in found.items() if load != SRC]


_OF_MBM: Mapping[str, Callable[[Ratios], float]] = {
    "response_reduction": lambda found: 100 * (1 - fmean(found.values())),
    "response_reduction_most": lambda found: 100 * (1 - min(found.values())),
    "mbm_src": lambda found: 100 * (found[SRC] - 1),
    "mbm_faster": lambda found: float(sum(ratio < 1 for ratio in _others(found))),
    "reduction_2": lambda found: 100 * (1 - fmean(found.values())),
    "implied_most": lambda found: max(1 / ratio for ratio in found.values()),
    "implied_mean": lambda found: fmean(1 / ratio for ratio in found.values()),
}
_OF_SPRINKLER: Mapping[str, Callable[[Ratios], float]] = {
    "sprinkler_src": lambda found: found[SRC],
    "sprinkler_faster": lambda found: float(sum(ratio < 1 for ratio in _others(found))),
}
"""What a claim measures, from the ratios of a policy under a reading."""
_OF_SUBSTRATES = ("saturated_mean", "saturated_most")
"""Claims of bandwidth at the limit, which substrates are run for."""

CONTRADICTED: Mapping[str, str] = {
    "plain_above_sprinkler": "two sentences earlier Sprinkler “gets good improvement”",
    "saturated_sprinkler": "the same paragraph has Sprinkler below the baseline",
    "plain_above_tbm": "everywhere else the baseline is TBM itself, to which all is normalised",
    "mbm_best_chips": "section I has fewer chips serve fewer requests at a time",
    "msnfs_erases": "the same paragraph has “only dozens” of collections, and 247 are not",
    "sprinkler_msnfs_tail": "two sentences earlier MBM is “consistently and significantly” better",
}
"""Claims that another sentence of the paper denies, or whose reason it does."""

_TAILS = tuple(
    Claim(tail.claim, tail_measure(number), 100.0, "%", 0.0, tail.source,
          note="of the percentiles for which it holds")
    for number, tail in enumerate(TAIL_CLAIMS)
)  # fmt: skip
_EVERY = {claim.measure: claim for claim in (*CLAIMS, SIMILAR_TAIL, *_TAILS)}


@dataclass(frozen=True)
class Nearest:
    """What comes nearest to a claim."""

    measure: str
    what: str
    """The reading or substrate."""
    cause: Cause
    chosen: float
    """What the chosen reading gives, in runs of the same length."""
    gives: float
    share: float
    """Of the distance from `chosen` to the paper that it covers; above 1 it goes beyond."""
    reproduces: bool
    is_bound: bool = False
    """Nothing can give more, and this is less than the claim: so the claim is out of reach."""

    @property
    def explains(self) -> bool:
        """Whether it reproduces the claim, covers most of the distance, or is a bound of it."""
        return self.reproduces or self.is_bound or self.share >= _EXPLAINS

    @property
    def left(self) -> float:
        """Return the share of the distance that is left, or that it goes beyond."""
        return abs(1 - self.share)

    def __str__(self) -> str:
        return f"{self.what} gives {self.gives:.3g}, {100 * self.share:.0f} % of the distance"


def _nearest(claim: Claim, cause: Cause, chosen: float, found: Mapping[str, float]) -> Nearest:
    what = min(found, key=lambda name: abs(found[name] - claim.paper))
    distance = claim.paper - chosen
    share = (found[what] - chosen) / distance if distance else 1.0
    verdict = Verdict(claim.claim, claim.source, claim.unit, claim.paper, found[what],
                      claim.tolerance, claim.relation)  # fmt: skip
    return Nearest(claim.measure, what, cause, chosen, found[what], share,
                   verdict.reproduced is True)  # fmt: skip


def of_readings(readings: Mapping[str, Mapping[str, Ratios]]) -> dict[str, Nearest]:
    """Return the nearest reading of each claim of response times, by its measure.

    `readings`: by name, under `mbm` and `sprinkler`, ratios to TBM by load.
    """
    titles = {one.name: one.title for one in READINGS if one.name in readings}
    found = {}
    for of, measures in (("mbm", _OF_MBM), ("sprinkler", _OF_SPRINKLER)):
        for claim in CLAIMS:
            if claim.measure in measures:
                take = measures[claim.measure]
                others = {title: take(readings[name][of]) for name, title in titles.items()}
                chosen = take(readings[BASE.name][of])
                found[claim.measure] = _nearest(claim, "reading", chosen, others)
    return found


def of_substrates(
    substrates: Mapping[str, Mapping[str, float | None]], chosen: str, policies: tuple[str, str]
) -> dict[str, Nearest]:
    """Return the substrate on which MBM's bandwidth over TBM's is nearest to that of the paper.

    `substrates`: bandwidths by policy; `chosen`: that of the study; `policies`: MBM and TBM.
    """
    ratios = {}
    for name, own in substrates.items():
        of, to = (own[policy] for policy in policies)
        if of is not None and to is not None:
            ratios[name] = of / to
    base = ratios.pop(chosen)
    return {
        claim.measure: _nearest(claim, "substrate", base, ratios)
        for claim in CLAIMS
        if claim.measure in _OF_SUBSTRATES
    }


def of_wholes(wholes: Mapping[str, Mapping[str, float | None]], chosen: str) -> dict[str, Nearest]:
    """Return the reading that comes nearest to each claim, among those run for every claim.

    `wholes`: by title and measure; `chosen`: the title of what is chosen.
    """
    found = {}
    for measure, claim in _EVERY.items():
        base = wholes[chosen].get(measure)
        others = {title: value for title, own in wholes.items()
                  if title != chosen and (value := own.get(measure)) is not None}  # fmt: skip
        if base is None or not others:
            continue
        found[measure] = _nearest(claim, "reading", base, others)
        short = _nearest(claim, "load", base, {"as chosen, in runs of this length": base})
        if short.reproduces:
            # What the study's longer runs deny is the load's: something grows with its length.
            found[measure] = replace(short, share=1.0)
    return found


def of_bounds(limit: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, Nearest]:
    """Return what no dispatcher can exceed, where that is less than a claim of bandwidth.

    `limit`: runs at the drive's limit by load and policy. A dispatcher can at most keep all dies
    busy, and program all pages in pairs; the rest of TBM's work, its collection among it, remains.
    """
    bounds, ours = [], []
    for own in limit.values():
        tbm = own["TBM"]
        single = 2 - tbm["joint_percent"] / 100
        bounds.append(100 * single / tbm["die_busy_percent"])
        ours.append(own["MBM"]["mb_per_s"] / tbm["mb_per_s"])
    found = {}
    for measure, pick in (("saturated_most", max), ("saturated_mean", fmean)):
        claim, gives, chosen = _EVERY[measure], pick(bounds), pick(ours)
        if gives < claim.paper - claim.tolerance:
            share = (gives - chosen) / (claim.paper - chosen)
            found[measure] = Nearest(measure, "dies always busy, every program in pairs",
                                     "ill_posed", chosen, gives, share, reproduces=False,
                                     is_bound=True)  # fmt: skip
    return found


def nearest_of(*groups: Mapping[str, Nearest]) -> dict[str, Nearest]:
    """Return for each measure what comes nearest; a bound where nothing covers half of the way."""
    found: dict[str, Nearest] = {}
    for measure in _EVERY:
        own = [group[measure] for group in groups if measure in group]
        if own:
            nearest = min((one for one in own if not one.is_bound), key=lambda one: one.left)
            bounds = [one for one in own if one.is_bound]
            found[measure] = bounds[0] if bounds and not nearest.explains else nearest
    return found


def cause_of(measure: str, nearest: Mapping[str, Nearest]) -> tuple[Cause | None, str]:
    """Return the cause of a claim that is not reproduced, and what is to be said of it."""
    if measure in CONTRADICTED:
        return "contradiction", CONTRADICTED[measure]
    own = nearest.get(measure)
    if own is None:
        return None, ""
    return (own.cause if own.explains else None), str(own)


def rows(nearest: Iterable[Nearest]) -> list[dict[str, Any]]:
    """Return what pages quote."""
    return [
        {
            "measure": one.measure,
            "claim": _EVERY[one.measure].claim,
            "unit": _EVERY[one.measure].unit,
            "paper": _EVERY[one.measure].paper,
            "chosen": one.chosen,
            "what": one.what,
            "gives": one.gives,
            "share_percent": 100 * one.share,
            "cause": one.cause if one.explains else None,
            "kind_of_cause": one.cause,
            "is_bound": one.is_bound,
            "reproduces": one.reproduces,
        }
        for one in nearest
    ]
