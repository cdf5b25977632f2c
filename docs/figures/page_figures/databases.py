"""Databases on the served drive, each setting with five seeds: numbers of the page of Starblaze."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from reprieve.parallel import silent
from reprieve_studies.databases import ENGINES, SAME_BLOCK, Plan, run_into

PLAN = Plan(seconds=20, scale=20, seeds=5, same_block=SAME_BLOCK)
# Neither of the other two tells pages from wordlines: leaving that out saves six minutes.
PLANS = dict.fromkeys(ENGINES, PLAN) | {"pgbench": replace(PLAN, same_block=SAME_BLOCK[:2])}
COMMAND = "reprieve database ENGINE --seconds 20 --seeds 5 " + " ".join(
    f"--same-block {name}" for name in SAME_BLOCK
)
"""For each engine; pgbench without the last."""


def databases(out: Path) -> dict[str, Any]:
    """Run them: as root, on a machine that does nothing else, for half an hour each."""
    for engine, plan in PLANS.items():
        run_into(engine, plan, out / engine, silent)
    return numbers(out)


def numbers(out: Path) -> dict[str, Any]:
    """Return what such runs have written."""
    return {
        "seconds": PLAN.seconds,
        "time_scale": PLAN.scale,
        **{engine: _of(out / engine) for engine in PLANS},
    }


def _of(out: Path) -> dict[str, Any]:
    runs, paired = (
        json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("transactions", "paired")
    )
    return {"runs": runs, "paired": paired}
