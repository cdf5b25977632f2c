"""Suspension judged by itself: what of MBM's gain is its dispatch, and what any policy gets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from reprieve.parallel import Workshop
from reprieve_studies.article import Section, Table
from reprieve_studies.mbm.experiment import Plan, place
from reprieve_studies.mbm.paired import (
    Case,
    CaseJob,
    Cases,
    Start,
    ends,
    ratio,
    run_all,
    words,
)
from reprieve_studies.mbm.paper import TABLE_1_CHIPS
from reprieve_studies.mbm.readings import (
    DEVICE,
    DRIVE,
    FTLS,
    IPC,
    MBM,
    NO_SUSPENSION,
    QUEUE_DEPTH,
    SPRINKLER,
    SUSPENSION,
    TBM,
    geometry,
)
from reprieve_studies.mbm.regimes import SIZES_KIB, workload
from reprieve_studies.mbm.substrates import AS_PRINTED
from reprieve_studies.runs import Overrides, Setup

SERIES = "inside"
PRINTED = "MBM as printed"
POLICIES: Mapping[str, Overrides] = MappingProxyType(
    {
        TBM: FTLS[TBM],
        SPRINKLER: FTLS[SPRINKLER],
        MBM: FTLS[MBM],
        PRINTED: {**FTLS[MBM], **AS_PRINTED},
    }
)
MEASURED = ("mean", "read mean", "write mean")
_SEEDS_APART = 100
REQUESTS_MAX = 4_000
"""Of a run: there are many."""

COMPARED: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = MappingProxyType(
    {
        "MBM with suspension over TBM without, as in the paper":
            ((MBM, IPC), (TBM, NO_SUSPENSION)),
        "suspension alone: TBM with over TBM without": ((TBM, IPC), (TBM, NO_SUSPENSION)),
        "the same: Sprinkler with over Sprinkler without":
            ((SPRINKLER, IPC), (SPRINKLER, NO_SUSPENSION)),
        "the same: MBM with over MBM without": ((MBM, IPC), (MBM, NO_SUSPENSION)),
        "dispatch alone: MBM over TBM, both without":
            ((MBM, NO_SUSPENSION), (TBM, NO_SUSPENSION)),
        "dispatch beside suspension: MBM over TBM, both with": ((MBM, IPC), (TBM, IPC)),
        "the same: MBM over Sprinkler, both with": ((MBM, IPC), (SPRINKLER, IPC)),
        "MBM as printed with suspension over TBM without": ((PRINTED, IPC), (TBM, NO_SUSPENSION)),
        "MBM as printed over TBM, both with": ((PRINTED, IPC), (TBM, IPC)),
    }
)  # fmt: skip
"""What is over what: policy and suspension."""

_TEXT = (
    "The paper gives suspension to MBM alone, and compares with rivals that have none. Here every "
    "policy is run with and without it under the six counterparts, which are compressed once, "
    "under TBM. A row is one policy over another, geometric mean over the loads, paired by seed."
)


def of_policy(policy: str, suspension: str) -> str:
    """Return what a policy with a way of suspending is called here."""
    return f"{policy}, {suspension}"


def list_jobs(
    plan: Plan, scales: Mapping[str, float] | None, seeds: Sequence[int]
) -> list[CaseJob]:
    """Return every run; without `scales` at the loads' own rates, for counting."""
    requests = min(plan.requests, REQUESTS_MAX)
    return [
        CaseJob(
            Case(SERIES, load.trace, of_policy(policy, suspension), seed),
            place(plan, replace(load, seed=load.seed + _SEEDS_APART * (seed - 1)), requests,
                  TABLE_1_CHIPS).with_overrides({
                      **overrides,
                      "policy": SUSPENSION[suspension],
                      "workload.time_scale": 1.0 if scales is None else scales[load.trace],
                  }),
            Start("as elsewhere", policy, seed),
        )
        for load in plan.papers
        for policy, overrides in POLICIES.items()
        for suspension in (NO_SUSPENSION, IPC)
        for seed in seeds
    ]  # fmt: skip


def base(plan: Plan, start: Start) -> Setup:
    """Return a drive that comes to its state at its limit."""
    scenario = {"device": DEVICE, "seed": start.seed,
                "workload": workload(SIZES_KIB[1], QUEUE_DEPTH, 1)}  # fmt: skip
    shape = {**DRIVE, **geometry(), "geometry.pages_per_block": plan.pages_per_block}
    return Setup(scenario, {**shape, **POLICIES[start.policy], "policy": SUSPENSION[NO_SUSPENSION]})


def run(plan: Plan, workshop: Workshop, seeds: Sequence[int], scales: Mapping[str, float]) -> Cases:
    """Run every policy with and without suspension; `scales`: of the loads' times."""
    jobs = list_jobs(plan, scales, seeds)
    return run_all("suspension by itself", jobs, lambda start: base(plan, start), workshop)


def numbers(cases: Cases) -> dict[str, Any]:
    """Return every comparison, as mean and ends of an interval, by what is compared."""
    places = sorted({case.where for case in cases})
    return {
        title: {
            name: ends(
                ratio(cases, (SERIES, of_policy(*one)), (SERIES, of_policy(*other)), places, name)
            )
            for name in MEASURED
        }
        for title, (one, other) in COMPARED.items()
    }


def section(cases: Cases) -> Section:
    """Return that part of the report."""
    rows = [[title, *(words(own[name]) for name in MEASURED)]
            for title, own in numbers(cases).items()]  # fmt: skip
    table = Table("Whose the gain is", ["over", *MEASURED], rows)
    return Section("Suspension by itself", [_TEXT], tables=[table])
