"""A drive in its steady state runs from its first request as it does after two million."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import reprieve as rp

EXAMPLE = Path(__file__).parents[2] / "examples" / "write-heavy-steady.toml"

TOLERANCE = 0.02


def figures(requests: int, settings: dict[str, Any]) -> tuple[float, float]:
    """Return IOPS and write amplification of a run, nothing of which is left out."""
    everything: dict[str, Any] = {"workload.requests": requests, **settings}
    summary = rp.run(EXAMPLE, **everything).summary
    assert summary["precondition"]["at_rest"]
    flash = summary["flash"]
    amplification = 1 + flash["gc_programs"] / flash["host_programs"]
    return summary["device"]["iops"], amplification


@pytest.mark.parametrize(
    "settings",
    [
        {},
        # 128 pages of buffer, 8,192, and a load that leaves the drive time.
        {"buffer.acknowledge": "back"},
        {"buffer.acknowledge": "back", "buffer.bytes": 32 << 20},
        {"workload.arrivals": "poisson", "workload.rate_iops": 4000},
    ],
)
def test_a_short_run_has_the_figures_of_a_long_one(settings: dict[str, Any]) -> None:
    short, long = figures(60_000, settings), figures(2_000_000, settings)
    assert short == pytest.approx(long, rel=TOLERANCE), (short, long)
