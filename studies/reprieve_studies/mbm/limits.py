"""What each reading of MBM is worth at the drive's limit: pairs, the unit, reads of one command."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from reprieve.parallel import Workshop
from reprieve_studies.article import Section, Table
from reprieve_studies.mbm.paired import (
    Case,
    CaseJob,
    Cases,
    Start,
    ends,
    numbers_of,
    ratio,
    run_all,
    words,
)
from reprieve_studies.mbm.readings import (
    DEVICE,
    DRIVE,
    FTLS,
    MBM,
    NO_SUSPENSION,
    QUEUE_DEPTH,
    SUSPENSION,
    TBM,
    geometry,
)
from reprieve_studies.mbm.regimes import (
    COLLECTION,
    MBM_ONE_BY_ONE,
    ONE_BY_ONE,
    PAGES_PER_BLOCK,
    base,
    start_of,
    workload,
)
from reprieve_studies.mbm.substrates import AS_PRINTED
from reprieve_studies.runs import Overrides, Setup

SERIES = "limits"
_ANY: Overrides = {"scheduling.mbm_joint_reads": "any"}
_TOGETHER: Overrides = {"parallelism.joint_read_done": "command"}
_BY_DIE: Overrides = {"scheduling.mbm_unit": "die"}
_SPARE: Overrides = {"scheduling.mbm_redistribution_when": "spare"}
_BUDGET = "scheduling.mbm_writes_per_redistributed_page"
PRINTED = "MBM as printed"
BY_DIE = "as printed, a die is the unit"
APART = "as printed, victims one by one"
SPARE = "a die is the unit, redistribution in spare time"
AS_WRITTEN = "a die is the unit, nothing is written anew"
_LEFT: Overrides = {
    **{key: value for key, value in AS_PRINTED.items() if key != _BUDGET},
    "scheduling.mbm_redistribution": "none",
}
POLICIES: Mapping[str, Overrides] = MappingProxyType(
    {
        TBM: FTLS[TBM],
        "TBM, pages of a command together": {**FTLS[TBM], **_TOGETHER},
        MBM: FTLS[MBM],
        PRINTED: {**FTLS[MBM], **AS_PRINTED},
        BY_DIE: {**FTLS[MBM], **AS_PRINTED, **_BY_DIE},
        AS_WRITTEN: {**FTLS[MBM], **_LEFT, **_BY_DIE},
        SPARE: {**FTLS[MBM], **AS_PRINTED, **_BY_DIE, **_SPARE},
        APART: ONE_BY_ONE,
        "as printed, reads of any requests": {**FTLS[MBM], **AS_PRINTED, **_ANY},
        "as printed, pages of a command together": {**FTLS[MBM], **AS_PRINTED, **_TOGETHER},
        "as printed, both": {**FTLS[MBM], **AS_PRINTED, **_ANY, **_TOGETHER},
    }
)
"""None suspends: what is compared is the dispatch alone."""


class Limit(NamedTuple):
    """A load at the drive's limit."""

    title: str
    size_kib: int
    read_fraction: float
    collection: str
    requests: int


LIMITS = (
    Limit("64 KiB writes, no collection", 64, 0.0, "none", 2_500),
    Limit("8 KiB writes, no collection", 8, 0.0, "none", 12_000),
    Limit("64 KiB, half reads, no collection", 64, 0.5, "none", 4_000),
    Limit("16 KiB, half reads, no collection", 16, 0.5, "none", 6_000),
    Limit("8 KiB, half reads, no collection", 8, 0.5, "none", 8_000),
    Limit("64 KiB, half reads, collection", 64, 0.5, "some", 3_000),
    Limit("8 KiB, half reads, collection", 8, 0.5, "some", 8_000),
)
_TEXT = (
    f"With {QUEUE_DEPTH} requests outstanding and no suspension: MBM as chosen for Figure 8, as "
    "printed (pairs in collection, victims of planes chosen together, redistribution in turns with "
    "a budget), and with one reading changed each. In the paper a read of several planes is "
    "complete with its last page; ours are complete one by one unless the row says otherwise."
)


def setup(limit: Limit, policy: str, seed: int, requests: int | None = None) -> Setup:
    """Return the drive and its load."""
    drive = {
        **DRIVE,
        **geometry(),
        "geometry.pages_per_block": PAGES_PER_BLOCK,
        **COLLECTION[limit.collection],
        **POLICIES[policy],
        "policy": SUSPENSION[NO_SUSPENSION],
    }
    load = workload(limit.size_kib, QUEUE_DEPTH, requests or limit.requests, limit.read_fraction)
    return Setup({"device": DEVICE, "seed": seed, "workload": load}, drive)


def list_jobs(seeds: Sequence[int], requests: int | None) -> list[CaseJob]:
    """Return every run; `requests`: of each, in place of its own."""
    return [
        CaseJob(
            Case(SERIES, limit.title, policy, seed),
            setup(limit, policy, seed, requests),
            start(limit, policy, seed),
        )
        for limit in LIMITS
        for policy in POLICIES
        for seed in seeds
    ]


def start(limit: Limit, policy: str, seed: int) -> Start | None:
    """Return the state that a run starts from: that of MBM, as it collects, or of TBM."""
    of_map = TBM if policy.startswith(TBM) else MBM_ONE_BY_ONE if policy == APART else MBM
    return start_of(limit.collection, of_map, seed)


def run(workshop: Workshop, seeds: Sequence[int], requests: int | None = None) -> Cases:
    """Run every policy at every limit."""
    return run_all("readings of MBM at the limit", list_jobs(seeds, requests), base, workshop)


def numbers(cases: Cases) -> dict[str, Any]:
    """Return bandwidths, and what is over TBM, by load and policy."""
    return {
        limit.title: {
            policy: {
                **numbers_of(cases, SERIES, limit.title, policy),
                "over_tbm": ends(ratio(cases, (SERIES, policy), (SERIES, TBM), [limit.title],
                                       "mb_per_s")),
                "reads_over_tbm": ends(ratio(cases, (SERIES, policy), (SERIES, TBM),
                                             [limit.title], "read mean"))
                if limit.read_fraction else None,
            }
            for policy in POLICIES
        }
        for limit in LIMITS
    }  # fmt: skip


def section(cases: Cases) -> Section:
    """Return that part of the report."""
    found = numbers(cases)
    rows = []
    for title, own in found.items():
        for policy, one in own.items():
            reads = one["reads_over_tbm"]
            rows.append([title, policy, f"{one['mb_per_s']:.0f}", words(one["over_tbm"]),
                         "–" if reads is None else words(reads),
                         f"{one['joint_percent']:.0f}", f"{one['anew_percent']:.1f}"])  # fmt: skip
    columns = ["load", "policy", "MB/s", "over TBM", "mean of reads over TBM",
               "pages programmed in pairs, %", "pages written anew, % of the host's"]  # fmt: skip
    table = Table("Readings of MBM at the drive's limit", columns, rows, words=2)
    return Section("What each reading of MBM is worth", [_TEXT], tables=[table])
