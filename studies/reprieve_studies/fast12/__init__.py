"""Wu and He, FAST 2012: program and erase suspension, measured under six loads on two drives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprieve import UserError
from reprieve.parallel import Step, Workshop
from reprieve_studies.article import Article
from reprieve_studies.fast12 import claims, loads, page
from reprieve_studies.fast12.experiment import Plan, run
from reprieve_studies.fast12.numbers import all_numbers
from reprieve_studies.loads import real, traces_at_hand

__all__ = ["REQUESTS", "REQUESTS_QUICK", "Request", "article"]

REQUESTS = 300_000
REQUESTS_QUICK = 8_000
"""Of each load at most: the full run within a quarter of an hour on two cores, the quick one
within a minute."""

_REQUESTS_MIN = 1_000


@dataclass(frozen=True)
class Request:
    """What to reproduce it with."""

    requests: int
    """Of each load at most."""
    traces: Mapping[str, Path] = field(default_factory=dict)
    """Genuine traces by the paper's name of them."""

    def with_requests(self, requests: int | None) -> Request:
        """Return the same with so many requests; None changes nothing."""
        if requests is None:
            return self
        if requests < _REQUESTS_MIN:
            raise UserError(f"--requests {requests}: must be at least {_REQUESTS_MIN}")
        return replace(self, requests=requests)


def article(request: Request, jobs: int | None, step: Step, command: str) -> Article:
    """Run everything and write it up; `jobs` simulations at a time, None: one a core."""
    plan = Plan(loads.papers(request.traces), real(traces_at_hand()), request.requests)
    outcome = run(plan, Workshop(jobs, step, plan.pieces))
    return Article(
        title="FAST 2012 reproduced: program and erase suspension",
        command=command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        numbers=all_numbers(outcome),
    )
