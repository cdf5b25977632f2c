"""SQLite on the served drive, each setting with five seeds: numbers of the page of Starblaze."""

import json
from pathlib import Path
from typing import Any

from reprieve.parallel import silent
from reprieve_studies.databases import SAME_BLOCK, Plan, run_into

PLAN = Plan(seconds=20, scale=20, seeds=5, same_block=SAME_BLOCK)
COMMAND = "reprieve database sqlite --seconds 20 --seeds 5 " + " ".join(
    f"--same-block {name}" for name in SAME_BLOCK
)


def databases(out: Path) -> dict[str, Any]:
    """Run them: as root, on a machine that does nothing else, for a quarter of an hour."""
    run_into("sqlite", PLAN, out, silent)
    return numbers(out)


def numbers(out: Path) -> dict[str, Any]:
    """Return what such a run has written."""
    runs, paired = (
        json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("transactions", "paired")
    )
    return {"seconds": PLAN.seconds, "time_scale": PLAN.scale, "runs": runs, "paired": paired}
