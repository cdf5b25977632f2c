"""The policies on every substrate: their bandwidth, and how much of it is in commands of planes."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from reprieve_studies.article import Section, Table
from reprieve_studies.mbm.experiment import SUBSTRATE, Outcome, Spot
from reprieve_studies.mbm.measured import Measured
from reprieve_studies.mbm.measures import geometric
from reprieve_studies.mbm.readings import QUEUE_DEPTH, SPRINKLER
from reprieve_studies.mbm.substrates import (
    IN_ORDER,
    OVER_PROVISIONING,
    POLICIES,
    READ_FRACTION,
    REQUEST_BYTES,
    SUBSTRATES,
    THRESHOLDS_PERCENT,
    WRITES_PER_REDISTRIBUTED_PAGE,
    Substrate,
)

_TEXT = (
    "The paper was run on SSDsim, which treats a chip as one unit, does not interrupt collection "
    f"and begins it below {THRESHOLDS_PERCENT[1]} % of free blocks. Every policy is run on each "
    "combination of these and of what is chosen here. A chip that is one unit is a die with the "
    "planes of both: pages go together only at one offset of all. On SSDsim collection also holds "
    "the channel until the last page is moved. The load is the same everywhere: "
    f"{QUEUE_DEPTH} requests of {REQUEST_BYTES // 1024} KiB outstanding, "
    f"{100 * READ_FRACTION:.0f} % reads, over-provisioning of {100 * OVER_PROVISIONING:.0f} %. "
    "The last policy is MBM with planes that collect side by side and in step, even "
    f"redistribution and a budget of one page in {WRITES_PER_REDISTRIBUTED_PAGE}."
)


CHOSEN = str(Substrate(False, "makes way", THRESHOLDS_PERCENT[0]))
"""The substrate of all other runs."""
ERASES_MIN = 30
"""Of a policy on a substrate, over all drafts: a bandwidth that rests on fewer is none of a drive
that collects, and is left out."""


def of(outcome: Outcome, substrate: Substrate, policy: str) -> list[Measured]:
    """Return the runs of a policy, one for each draft."""
    drafts = range(outcome.plan.drafts)
    return [outcome.runs[Spot(SUBSTRATE, str(substrate), policy, draft=draft)] for draft in drafts]


def mb_per_s(outcome: Outcome, substrate: Substrate, policy: str) -> float | None:
    """Return its bandwidth, the geometric mean over the drafts; None if it erased too little."""
    runs = of(outcome, substrate, policy)
    if sum(run.erases for run in runs) < ERASES_MIN:
        return None
    return geometric([run.mb_per_s for run in runs])


def numbers(outcome: Outcome) -> dict[str, Any]:
    """Return what pages quote, by substrate and policy."""
    return {str(substrate): _of_substrate(outcome, substrate) for substrate in SUBSTRATES}


def _of_substrate(outcome: Outcome, substrate: Substrate) -> dict[str, Any]:
    bandwidth = {policy: mb_per_s(outcome, substrate, policy) for policy in POLICIES}
    sprinkler, in_order = bandwidth[SPRINKLER], [bandwidth[policy] for policy in IN_ORDER]
    known = [one for one in in_order if one is not None]
    found: dict[str, Any] = {
        "mb_per_s": bandwidth,
        "sprinkler_over_in_order": sprinkler / max(known) if sprinkler and known else None,
    }
    if not substrate.chip_is_one:
        # Where dies have two planes, every command of several takes two pages.
        found["paired_percent"] = {
            policy: fmean(run.joint_percent for run in of(outcome, substrate, policy))
            for policy in POLICIES
        }
    return found


def section(outcome: Outcome) -> Section:
    """Return that part of the report."""
    return Section("Substrates", [_TEXT], tables=[_table(numbers(outcome))])


def _table(found: Mapping[str, Any]) -> Table:
    columns = ["unit, collection, threshold", *POLICIES, "Sprinkler over the better in order"]
    rows = [[name, *_cells(own)] for name, own in found.items()]
    return Table("Bandwidth in MB/s on every substrate", columns, rows)


def _cells(own: Mapping[str, Any]) -> list[str]:
    ratio = own["sprinkler_over_in_order"]
    cells = [_cell(own["mb_per_s"][policy], 1) for policy in POLICIES]
    return [*cells, _cell(ratio, 2)]


def _cell(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
