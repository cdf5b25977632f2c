"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprieve import UserError
from reprieve.parallel import Step, Workshop
from reprieve_studies.article import Article
from reprieve_studies.loads import real, traces_at_hand
from reprieve_studies.mbm import blocks, claims, loads, page
from reprieve_studies.mbm.experiment import PAGES_PER_BLOCK_RUN, Plan, pieces, run
from reprieve_studies.mbm.numbers import all_numbers, numbers_of_blocks

__all__ = ["FULL", "QUICK", "Request", "article"]

REQUESTS = 12_000
REQUESTS_QUICK = 2_000
"""Of each load at most: the full run within half an hour on two cores. Bringing a thousand drives
to their steady state is much of it, and most of the quick one."""

_REQUESTS_MIN = 1_000

DRAFTS = 3
"""Of each run of the ablation, for its intervals."""


@dataclass(frozen=True)
class Request:
    """What to reproduce it with."""

    requests: int
    """Of each load at most."""
    traces: Mapping[str, Path] = field(default_factory=dict)
    """Genuine traces by the paper's name of them."""
    pages_per_block: int = PAGES_PER_BLOCK_RUN
    drafts: int = 1
    full_geometry: bool = False
    """The paper's blocks beside shorter ones, for Figures 8 and 11 alone."""

    def with_requests(self, requests: int | None) -> Request:
        """Return the same with so many requests; None changes nothing."""
        if requests is None:
            return self
        if requests < _REQUESTS_MIN:
            raise UserError(f"--requests {requests}: must be at least {_REQUESTS_MIN}")
        return replace(self, requests=requests)


FULL = Request(REQUESTS, drafts=DRAFTS)
QUICK = Request(REQUESTS_QUICK)


def article(request: Request, jobs: int | None, step: Step, command: str) -> Article:
    """Run everything and write it up; `jobs` simulations at a time, None: one a core."""
    twins = loads.papers(request.traces)
    if request.full_geometry:
        return _with_blocks_of_the_paper(Plan(twins, [], request.requests), jobs, step, command)
    recorded = real(traces_at_hand())
    plan = Plan(twins, recorded, request.requests, request.pages_per_block, request.drafts)
    outcome = run(plan, Workshop(jobs, step, pieces(plan)))
    return Article(
        title="MBM reproduced: plane alignment, conditional reads and suspension",
        command=command,
        facts=page.facts(outcome),
        sections=page.sections(outcome),
        verdicts=claims.verdicts(outcome),
        numbers=all_numbers(outcome),
    )


def _with_blocks_of_the_paper(plan: Plan, jobs: int | None, step: Step, command: str) -> Article:
    outcomes = blocks.run(plan, Workshop(jobs, step, blocks.pieces(plan)))
    return Article(
        title="MBM reproduced: the blocks of Table I",
        command=command,
        facts=blocks.facts(outcomes),
        sections=blocks.sections(outcomes),
        verdicts=blocks.verdicts(outcomes),
        numbers=numbers_of_blocks(outcomes),
    )
