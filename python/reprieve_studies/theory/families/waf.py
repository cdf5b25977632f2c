"""Write amplification of uniform random writes, by victim policy and over-provisioning."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from reprieve_studies.theory import amplification
from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.models import Drive, count, spread

_RESERVE = 2
_TOLERANCE = 0.005
_OVER_PROVISIONING = (0.07, 0.15, 0.28, 0.30)
_BLOCKS = {64: 2048, 128: 2048, 256: 2048, 1024: 1024}
"""Blocks of a drive, by pages of a block."""
_PASSES_MIN = 2
_VICTIMS = {"greedy": 6_000, "d-choices 10": 16_000, "d-choices 2": 100_000, "fifo": 12_000}
"""Of a run. Their valid pages differ little with greedy and much with two choices."""
_SIZES_OF_TWO = (64, 128)
"""Of blocks with two choices: larger ones take too long for that many victims."""
_DRAWN = 64
"""Pages of a block in the figure."""

_MEAN_FIELD = "mean field of Van Houdt, SIGMETRICS 2013"
_LAMBERT = "Desnoyers; Xiang and Kurkoski: A = α/(α + W₀(−αe^(−α)))"


@cache
def _theory(policy: str, alpha: float, pages: int) -> float:
    kind, _, choices = policy.partition(" ")
    if kind == "greedy":
        return amplification.greedy(alpha, pages)
    if kind == "fifo":
        return amplification.fifo(alpha)
    return amplification.d_choices(alpha, pages, int(choices))


_POLICIES: Mapping[str, Mapping[str, Any]] = {
    "greedy": {"ftl.gc_victim": "greedy"},
    "d-choices 10": {"ftl.gc_victim": "d-choices", "ftl.gc_choices": 10},
    "d-choices 2": {"ftl.gc_victim": "d-choices", "ftl.gc_choices": 2},
    "fifo": {"ftl.gc_victim": "fifo"},
}


def experiments(quick: bool) -> Sequence[Experiment]:
    """All policies, spaces and sizes of a block; blocks of 64 pages and two spaces when quick."""
    if quick:
        return [_at(policy, 0.15, 64, 1024) for policy in _POLICIES]
    return [
        _at(policy, share, pages, _BLOCKS[pages])
        for policy in _POLICIES
        for share in _OVER_PROVISIONING
        for pages in _BLOCKS
        if policy != "d-choices 2" or pages in _SIZES_OF_TWO
    ]


def _at(policy: str, share: float, pages: int, blocks: int) -> Experiment:
    logical = blocks * pages - round(blocks * pages * share)
    # When a victim is chosen the reserve is free and one block has just been opened: only the
    # others hold the data.
    alpha = (blocks - _RESERVE - 1) * pages / logical
    what = f"{policy}, {share:.0%} spare, blocks of {pages} pages"
    check = Check(
        f"write amplification: {what}",
        _theory(policy, alpha, pages),
        "1",
        "amplification",
        _LAMBERT if policy == "fifo" else _MEAN_FIELD,
        policy if pages == _DRAWN else "",
        alpha,
        _TOLERANCE,
        is_limit=True,
        note=f"{alpha:.4f} pages that hold data for each logical one, in {blocks} blocks",
    )
    # Each victim makes room for the host's share of a block.
    victims = _VICTIMS[policy] * pages / check.theory
    requests = max(_PASSES_MIN * logical, round(victims))
    drive = Drive(
        _scenario(policy, share, pages, blocks, requests),
        ratios={"amplification": (count("flash", "programs"), count("flash", "host_programs"))},
        logged=False,
    )
    return Experiment(what, drive, [check])


def _scenario(policy: str, share: float, pages: int, blocks: int, requests: int) -> dict[str, Any]:
    return spread(
        {
            "device": "fast12-slc",
            "policy": "rps",
            "geometry.channels": 1,
            "geometry.planes_per_die": 1,
            "geometry.blocks_per_plane": blocks,
            "geometry.pages_per_block": pages,
            "ftl.over_provisioning": share,
            "ftl.gc_background": False,
            "ftl.gc_hard_free_blocks": _RESERVE,
            "ftl.precondition": "steady",
            "host.link_bytes_per_s": "none",
            **_POLICIES[policy],
            "workload.generator": "mixed",
            "workload.requests": requests,
            "workload.read_fraction": 0.0,
            "workload.request_bytes": 2048,
            "workload.queue_depth": 4,
        }
    )


def curves() -> Mapping[str, Curve]:
    """Return the amplification over the pages for each logical one."""
    alphas = [1.06 + step / 50 for step in range(20)]
    return {
        policy: [(alpha, _theory(policy, alpha, _DRAWN)) for alpha in alphas]
        for policy in _POLICIES
    }
