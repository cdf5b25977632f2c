"""Write amplification of uniform random writes, by victim policy and over-provisioning."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from reprieve_studies.theory import amplification
from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.tables import TABLES, scenario
from reprieve_studies.theory.models import Drive, count

_WAF: Mapping[str, Any] = TABLES["waf"]
_POLICIES: Mapping[str, Mapping[str, Any]] = _WAF["policies"]
_RESERVE: int = TABLES["scenario"]["waf"]["ftl.gc_hard_free_blocks"]
_TOLERANCE = 0.005
_PASSES_MIN = 2
_DRAWN = 64
"""Pages of a block in the figure."""


@cache
def _theory(policy: str, alpha: float, pages: int) -> float:
    if policy == "greedy":
        return amplification.greedy(alpha, pages)
    if policy == "fifo":
        return amplification.fifo(alpha)
    return amplification.d_choices(alpha, pages, _POLICIES[policy]["sets"]["ftl.gc_choices"])


def experiments(quick: bool) -> Sequence[Experiment]:
    """All policies, spaces and sizes of a block; blocks of 64 pages and two spaces when quick."""
    if quick:
        return [_at(policy, 0.15, 64, 1024) for policy in _POLICIES]
    return [
        _at(policy, share, pages, blocks)
        for policy, of in _POLICIES.items()
        for share in _WAF["over_provisioning"]
        for pages, blocks in of["sizes"]
    ]


def _at(policy: str, share: float, pages: int, blocks: int) -> Experiment:
    of, logical = _POLICIES[policy], blocks * pages - round(blocks * pages * share)
    # When a victim is chosen the reserve is free and one block has just been opened: only the
    # others hold the data.
    alpha = (blocks - _RESERVE - 1) * pages / logical
    what = f"{policy}, {share:.0%} spare, blocks of {pages} pages"
    check = Check(
        f"write amplification: {what}",
        _theory(policy, alpha, pages),
        "1",
        "amplification",
        of["source"],
        policy if pages == _DRAWN else "",
        alpha,
        _TOLERANCE,
        is_limit=True,
        note=f"{alpha:.4f} pages that hold data for each logical one, in {blocks} blocks",
    )
    # Each victim makes room for the host's share of a block.
    requests = max(_PASSES_MIN * logical, round(of["victims"] * pages / check.theory))
    sets = {
        "geometry.blocks_per_plane": blocks,
        "geometry.pages_per_block": pages,
        "ftl.over_provisioning": share,
        "workload.requests": requests,
        **of["sets"],
    }
    ratios = {"amplification": (count("flash", "programs"), count("flash", "host_programs"))}
    drive = Drive(scenario("waf", sets), ratios=ratios, logged=False)
    return Experiment(what, drive, [check])


def curves() -> Mapping[str, Curve]:
    """Return the amplification over the pages for each logical one."""
    alphas = [1.06 + step / 50 for step in range(20)]
    return {
        policy: [(alpha, _theory(policy, alpha, _DRAWN)) for alpha in alphas]
        for policy in _POLICIES
    }
