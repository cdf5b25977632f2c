"""The numbers of this reproduction by name, which pages and other programs quote."""

from typing import Any

from reprieve_studies.starblaze.arithmetic import little
from reprieve_studies.starblaze.experiment import Outcome
from reprieve_studies.starblaze.measures import measured
from reprieve_studies.starblaze.paper import CASES, KINDS
from reprieve_studies.starblaze.readings import BASE, READINGS
from reprieve_studies.starblaze.tables import waits_by_hand


def all_numbers(outcome: Outcome) -> dict[str, Any]:
    """Return all of them; shares in per cent, times in the unit that ends their name."""
    runs = {
        reading.name: {
            setting: {case: _case(outcome, reading.name, setting, case) for case in CASES}
            for setting in reading.settings
        }
        for reading in READINGS
    }
    return {
        "runtime_s": outcome.plan.runtime_s,
        "ramp_s": outcome.plan.ramp_s,
        "seeds": outcome.plan.seeds,
        "runs": runs,
        "by_hand": {case: waits_by_hand(outcome, CASES[case]) for case in CASES},
        "sums": {name: _sums(name) for name in CASES},
        "suspended_longer_percent": _longer(outcome),
    }


def _case(outcome: Outcome, reading: str, setting: str, case: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in KINDS:
        one = measured(outcome.runs, reading, setting, case, kind)
        found[kind] = {"iops": one.iops, "mean_us": one.mean_us, "us_max": one.us_max,
                       "us_max_least": one.us_max_least,
                       "us_max_most": one.us_max_most}  # fmt: skip
    found["iops"] = sum(found[kind]["iops"] for kind in KINDS)
    return found


def _sums(name: str) -> dict[str, float]:
    case = CASES[name]
    found = little(case)
    iops = case.read.iops + case.write.iops
    return {
        "outstanding_before": found.outstanding_before,
        "outstanding_after": found.outstanding_after,
        "think_us": found.think_us,
        "iops": iops,
        "iops_after": found.iops_after,
        "gain_percent": 100 * (found.iops_after / iops - 1),
    }


def _longer(outcome: Outcome) -> dict[str, float]:
    """By how much suspended programs and erases take longer in the mean of a run, at most."""
    groups = [
        result.summary["flash"]["suspended_operations"]
        for spot, result in outcome.runs.items()
        if (spot.reading, spot.setting) == (BASE.name, "both")
    ]
    return {
        kind: 100 * max(group[kind]["increase_mean"] for group in groups)
        for kind in ("program", "erase")
    }
