"""The numbers of the report by name, for pages that quote them."""

from __future__ import annotations

from typing import Any

from reprieve_studies.deadline.claims import gains, share_of_loads
from reprieve_studies.deadline.experiment import HEAVIER, Outcome
from reprieve_studies.deadline.families import FAMILIES, words


def all_numbers(outcome: Outcome) -> dict[str, Any]:
    """Return them: by load, then by family."""
    found = gains(outcome)
    less, told = share_of_loads(found)
    return {
        "less": less,
        "told": told,
        "tries": outcome.plan.tries,
        "seeds": len(outcome.plan.judged),
        "loads": {
            one.bench.name: {
                "title": one.bench.title,
                "slo_us": one.bench.slo_us,
                "null": one.bench.null,
                "counts": one.counts,
                "ratio": one.ratio.mean,
                "ratio_low": one.ratio.low,
                "ratio_high": one.ratio.high,
                "families": {
                    family: _of_family(outcome, one.bench.name, family) for family in FAMILIES
                },
            }
            for one in found
        },
        "bounds": {
            name: {row.kind: row.measured.suspensions_per_s for row in each.rows}
            for name, each in outcome.bounds.items()
        },
    }


def _of_family(outcome: Outcome, bench: str, family: str) -> dict[str, Any]:
    one = outcome.over_seeds(bench, family)
    return {
        "late_share": one.late_share,
        "p99_9_us": one.p99_9_us,
        "suspensions_per_s": one.suspensions_per_s,
        "writes_per_s": one.writes_per_s,
        "late_share_heavier": outcome.over_seeds(bench, family, HEAVIER[-1]).late_share,
        "point": words(outcome.frozen[bench, family].keys),
    }
