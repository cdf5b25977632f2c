"""What the paper's figures and sentences measure, from the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import NamedTuple

from reprieve_studies.mbm.experiment import LIMIT, MAIN, TAIL, Outcome, Runs, Spot
from reprieve_studies.mbm.measured import SAMPLES_MIN, Measured
from reprieve_studies.mbm.paper import CHIPS, MSNFS, SRC, TABLE_1_CHIPS, TailClaim
from reprieve_studies.mbm.readings import BASE, MBM, PLAIN, SPRINKLER, TBM

RIVALS = (TBM, SPRINKLER)
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Group:
    """The runs of a series under some loads."""

    runs: Runs
    series: str
    loads: Sequence[str]

    def one(self, load: str, scheme: str, chips: int = TABLE_1_CHIPS) -> Measured:
        """Return a run; of a reading that leaves the scheme as it is, that of the base."""
        spot = Spot(self.series, load, scheme, chips)
        return self.runs[spot if spot in self.runs else spot._replace(series=BASE.name)]

    def response(self, load: str, scheme: str, base: str, chips: int = TABLE_1_CHIPS) -> float:
        """Mean latency of all requests over that of another scheme."""
        of, to = (self.one(load, name, chips).mean_us() for name in (scheme, base))
        return of / to

    def responses(self, scheme: str, base: str, chips: int = TABLE_1_CHIPS) -> list[float]:
        """Return the same for every load."""
        return [self.response(load, scheme, base, chips) for load in self.loads]

    def normalised(self, scheme: str, chips: int) -> float:
        """Mean latency over that of TBM with the chips of Table I, average of the loads."""
        return fmean(
            self.one(load, scheme, chips).mean_us() / self.one(load, TBM).mean_us()
            for load in self.loads
        )

    def erases(self, load: str, base: str = TBM) -> float:
        """Return by how many per cent MBM erases more."""
        of, to = (self.one(load, name).erases for name in (MBM, base))
        return 100 * (of / to - 1) if to else float("nan")

    def speedup(self, load: str, scheme: str, base: str) -> float:
        """Bandwidth over that of another scheme."""
        return self.one(load, scheme).mb_per_s / self.one(load, base).mb_per_s

    def speedups(self, scheme: str, base: str) -> list[float]:
        """Return the same for every load."""
        return [self.speedup(load, scheme, base) for load in self.loads]

    def without(self, *names: str) -> Group:
        """Return the same without some loads."""
        return Group(self.runs, self.series, [load for load in self.loads if load not in names])


def papers(outcome: Outcome, series: str = MAIN) -> Group:
    """Return the runs of a series under the paper's loads."""
    return Group(outcome.runs, series, outcome.papers)


def ratios_of_readings(outcome: Outcome) -> dict[str, dict[str, dict[str, float]]]:
    """Return MBM's and Sprinkler's mean latency over TBM's, by reading and load."""
    found = {}
    for reading in (BASE, *outcome.plan.readings):
        group = papers(outcome, reading.name)
        found[reading.name] = {
            key: dict(zip(group.loads, group.responses(scheme, TBM), strict=True))
            for key, scheme in (("mbm", MBM), ("sprinkler", SPRINKLER))
        }
    return found


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return exp(fmean(log(value) for value in values))


def _reduction(ratios: Sequence[float], pick: Callable[[Sequence[float]], float]) -> float:
    return 100 * (1 - pick(ratios))


def _below(values: Sequence[float]) -> float:
    return float(sum(value < 1 for value in values))


def _fewer_chips(scheme: str) -> Callable[[Outcome], float]:
    def over(outcome: Outcome) -> float:
        group = papers(outcome)
        return group.normalised(scheme, CHIPS[0]) / group.normalised(scheme, CHIPS[-1])

    return over


def _best_chips(outcome: Outcome) -> float:
    return float(min(CHIPS, key=lambda chips: papers(outcome).normalised(MBM, chips)))


def _faster_at_all(outcome: Outcome) -> float:
    group = papers(outcome)
    return float(
        sum(
            group.normalised(MBM, chips) < group.normalised(rival, chips)
            for chips in CHIPS
            for rival in RIVALS
        )
    )


def _most_bandwidth(outcome: Outcome) -> float:
    group = papers(outcome, LIMIT)
    return float(
        sum(
            all(group.speedup(load, MBM, rival) > 1 for rival in (*RIVALS, PLAIN))
            for load in group.loads
        )
    )


def _implied(pick: Callable[[Sequence[float]], float]) -> Callable[[Outcome], float]:
    # The bytes are the same, so that they cancel.
    return lambda outcome: pick([1 / one for one in papers(outcome).responses(MBM, TBM)])


def _limit(
    scheme: str, base: str, pick: Callable[[Sequence[float]], float]
) -> Callable[[Outcome], float]:
    return lambda outcome: pick(papers(outcome, LIMIT).speedups(scheme, base))


def _erases(pick: Callable[[Sequence[float]], float]) -> Callable[[Outcome], float]:
    def more(outcome: Outcome) -> float:
        group = papers(outcome).without(MSNFS)
        return pick([group.erases(load) for load in group.loads])

    return more


MEASURES: dict[str, Callable[[Outcome], float]] = {
    "response_reduction": lambda o: _reduction(papers(o).responses(MBM, TBM), fmean),
    "response_reduction_most": lambda o: _reduction(papers(o).responses(MBM, TBM), min),
    "sprinkler_src": lambda o: papers(o).response(SRC, SPRINKLER, TBM),
    "mbm_src": lambda o: 100 * (papers(o).response(SRC, MBM, TBM) - 1),
    "mbm_faster": lambda o: _below(papers(o).without(SRC).responses(MBM, TBM)),
    "sprinkler_faster": lambda o: _below(papers(o).without(SRC).responses(SPRINKLER, TBM)),
    "reduction_2": lambda o: _reduction(papers(o).responses(MBM, TBM, 2), fmean),
    "reduction_8": lambda o: _reduction(papers(o).responses(MBM, TBM, 8), fmean),
    "tbm_fewer_chips": _fewer_chips(TBM),
    "sprinkler_fewer_chips": _fewer_chips(SPRINKLER),
    "mbm_fewer_chips": _fewer_chips(MBM),
    "mbm_best_chips": _best_chips,
    "faster_at_all_chips": _faster_at_all,
    "saturated_most": _limit(MBM, TBM, max),
    "saturated_mean": _limit(MBM, TBM, fmean),
    "implied_most": _implied(max),
    "implied_mean": _implied(fmean),
    "saturated_best": _most_bandwidth,
    "saturated_sprinkler": _limit(TBM, SPRINKLER, _below),
    "plain_above_tbm": _limit(TBM, PLAIN, _below),
    "plain_above_sprinkler": _limit(SPRINKLER, PLAIN, _below),
    "erases_mean": _erases(fmean),
    "erases_most": _erases(max),
    "msnfs_erases": lambda o: papers(o).erases(MSNFS) / 100 + 1,
    "reading_erases_more": lambda o: papers(o).erases(MSNFS) - _erases(max)(o),
    "sprinkler_msnfs_tail": lambda o: _tail_ratio(o, MSNFS, "read", 99.0),
}
"""By the name that `paper.CLAIMS` uses."""


def _tail_ratio(outcome: Outcome, load: str, op: str, percent: float) -> float:
    group = papers(outcome, TAIL)
    of, to = (group.one(load, name).percentile_us(op, percent) for name in (SPRINKLER, MBM))
    return float("nan") if of is None or to is None else of / to


class Tail(NamedTuple):
    """A percentile of two schemes."""

    load: str
    op: str
    percent: float
    best_us: float
    rival_us: float

    @property
    def holds(self) -> bool:
        """Whether the rival's is longer."""
        return self.best_us < self.rival_us


def tails(outcome: Outcome, claim: TailClaim) -> tuple[list[Tail], int]:
    """Compare what a claim speaks of; return too how many percentiles rest on too few requests."""
    found, too_few, least = [], 0, outcome.plan.events_min
    group = papers(outcome, TAIL)
    for load in claim.loads:
        for op in claim.ops:
            for percent in claim.percentiles:
                best = group.one(load, claim.best).percentile_us(op, percent)
                for rival in claim.rivals:
                    other = group.one(load, rival).percentile_us(op, percent)
                    runs = (group.one(load, name) for name in (claim.best, rival))
                    count = min(run.latencies[op].requests for run in runs)
                    # One that rests on fewer than `SAMPLES_MIN` is none to begin with.
                    few = least > SAMPLES_MIN and count * (1 - percent / 100) < least - _ROUNDING
                    if best is None or other is None or few:
                        too_few += 1
                    else:
                        found.append(Tail(load, op, percent, best, other))
    return found, too_few
