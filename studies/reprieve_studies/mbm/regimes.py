"""A map of where each policy is ahead: size of requests, queue depth, collection, suspension."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from reprieve.parallel import Workshop
from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import Multiples
from reprieve_studies.mbm.paired import (
    Case,
    CaseJob,
    Cases,
    Start,
    ends,
    numbers_of,
    ratio,
    run_all,
    verdict,
    words,
)
from reprieve_studies.mbm.paper import BANDWIDTH_MEAN
from reprieve_studies.mbm.readings import (
    DEVICE,
    DRIVE,
    FTLS,
    IPC,
    MBM,
    NO_SUSPENSION,
    PLAIN,
    SPRINKLER,
    SUSPENSION,
    TBM,
    geometry,
)
from reprieve_studies.mbm.substrates import AS_PRINTED
from reprieve_studies.runs import Overrides, Setup

SERIES = "regimes"
SIZES_KIB = (8, 16, 64)
DEPTHS = (1, 4, 32)
READ_FRACTION = 0.5
PAGES_PER_BLOCK = 128
REQUESTS: Mapping[int, int] = MappingProxyType({8: 8_000, 16: 6_000, 64: 2_000})
"""By size: runs of about as many pages."""

COLLECTION: Mapping[str, Overrides] = MappingProxyType(
    {
        "none": {"ftl.precondition": "sequential", "ftl.over_provisioning": 0.45},
        "some": {"ftl.precondition": "steady", "ftl.over_provisioning": 0.45},
        "most": {"ftl.precondition": "steady", "ftl.over_provisioning": 0.25},
    }
)
"""How much of the programs is collection's: the drive has room for the whole run, or not."""

POLICIES: Mapping[str, Overrides] = MappingProxyType(
    {
        PLAIN: FTLS[PLAIN],
        TBM: FTLS[TBM],
        SPRINKLER: FTLS[SPRINKLER],
        MBM: {**FTLS[MBM], **AS_PRINTED},
    }
)
"""MBM as the paper prints it: pairs in collection, in step, even redistribution with a budget."""
ONE_BY_ONE: Overrides = MappingProxyType({**POLICIES[MBM], "ftl.gc_victims_in_step": False})
MBM_ONE_BY_ONE = "MBM, victims one by one"
STARTS: Mapping[str, Overrides] = MappingProxyType({**POLICIES, MBM_ONE_BY_ONE: ONE_BY_ONE})
"""What brings a drive to a state that runs start from."""

NOBODY, ALONE, ALL = "nobody suspends", "MBM alone suspends", "all suspend"
WAYS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {NOBODY: (NO_SUSPENSION,) * 2, ALONE: (IPC, NO_SUSPENSION), ALL: (IPC,) * 2}
)
"""What MBM suspends with, and what the others do; the second is the comparison of the paper."""
MEASURED: Mapping[str, str] = MappingProxyType(
    {"mb_per_s": "bandwidth", "read mean": "mean latency of reads"}
)
ERASES_MIN = 30
"""Of all seeds together: what rests on fewer, where there is collection, is left out."""

_TEXT = (
    "Every policy is run with each size of request, queue depth and share of collection, without "
    "suspension and with PES_IPC; ratios are to TBM, paired by seed, with intervals of 95 %. "
    "Drives that collect start from one state a policy and seed, and the beginning of a run does "
    "not count. "
    f"{100 * READ_FRACTION:.0f} % of the requests are reads. MBM is as printed: planes that "
    "collect side by side and in step, redistribution in turns within the plan, and a budget of it."
)


class Cell(NamedTuple):
    """A regime."""

    collection: str
    size_kib: int
    depth: int

    def __str__(self) -> str:
        return f"{self.collection}, {self.size_kib} KiB, {self.depth}"


CELLS = tuple(Cell(*one) for one in product(COLLECTION, SIZES_KIB, DEPTHS))


def of_policy(policy: str, suspension: str) -> str:
    """Return what a policy with a way of suspending is called here."""
    return f"{policy}, {suspension}"


def workload(
    size_kib: int, depth: int, requests: int, read_fraction: float = READ_FRACTION
) -> Overrides:
    """Return a load that always has so many requests outstanding, over the whole drive."""
    return {
        "generator": "mixed",
        "read_fraction": read_fraction,
        "request_bytes": 1024 * size_kib,
        "align_bytes": 1024 * size_kib,
        "arrivals": "closed",
        "queue_depth": depth,
        "requests": requests,
        "footprint_share": 1.0,
    }


def setup(cell: Cell, policy: str, suspension: str, seed: int, requests: int) -> Setup:
    """Return a drive under the load of a cell; `policy`: one of `STARTS`."""
    drive = {
        **DRIVE,
        **geometry(),
        "geometry.pages_per_block": PAGES_PER_BLOCK,
        **COLLECTION[cell.collection],
        **STARTS[policy],
        "policy": SUSPENSION[suspension],
    }
    load = workload(cell.size_kib, cell.depth, requests)
    return Setup({"device": DEVICE, "seed": seed, "workload": load}, drive)


def base(start: Start) -> Setup:
    """Return a drive that comes to its state under requests of middle size, at its limit."""
    cell = Cell(start.collection, SIZES_KIB[1], DEPTHS[-1])
    return setup(cell, start.policy, NO_SUSPENSION, start.seed, 1)


def start_of(collection: str, policy: str, seed: int) -> Start | None:
    """Return the state of a drive that collects; one that does not is filled in no time."""
    return None if collection == "none" else Start(collection, policy, seed)


def list_jobs(cells: Sequence[Cell], seeds: Sequence[int], requests: int | None) -> list[CaseJob]:
    """Return every run; `requests`: of each, in place of those by size."""
    return [
        CaseJob(
            Case(SERIES, str(cell), of_policy(policy, suspension), seed),
            setup(cell, policy, suspension, seed, requests or REQUESTS[cell.size_kib]),
            start_of(cell.collection, policy, seed),
        )
        for cell in cells
        for policy in POLICIES
        for suspension in (NO_SUSPENSION, IPC)
        for seed in seeds
    ]


def run(
    workshop: Workshop, cells: Sequence[Cell], seeds: Sequence[int], requests: int | None = None
) -> Cases:
    """Run the map."""
    return run_all("the map of regimes", list_jobs(cells, seeds, requests), base, workshop)


def _policies(way: str) -> dict[str, str]:
    of_mbm, of_others = WAYS[way]
    return {name: of_policy(name, of_mbm if name == MBM else of_others) for name in POLICIES}


def numbers(cases: Cases) -> dict[str, Any]:
    """Return what pages quote, by cell."""
    known = {case.where for case in cases}
    return {str(cell): _of_cell(cases, cell) for cell in CELLS if str(cell) in known}


def _of_cell(cases: Cases, cell: Cell) -> dict[str, Any]:
    where = str(cell)
    runs = {
        name: numbers_of(cases, SERIES, where, name)
        for way in (NOBODY, ALL)
        for name in _policies(way).values()
    }
    counts = [run["erases"] for run in runs.values()]
    found: dict[str, Any] = {
        "collection_percent": runs[of_policy(TBM, NO_SUSPENSION)]["collection_percent"],
        "erases": min(counts),
        "counts": cell.collection == "none" or min(counts) >= ERASES_MIN,
        "mb_per_s": {name: run["mb_per_s"] for name, run in runs.items()},
    }
    for way in WAYS:
        names = _policies(way)
        found[way] = {
            policy: {
                name: ends(
                    ratio(cases, (SERIES, names[policy]), (SERIES, names[TBM]), [where], name)
                )
                for name in MEASURED
            }
            for policy in POLICIES
            if policy != TBM
        }
        found[way]["MBM over Sprinkler"] = {
            name: ends(ratio(cases, (SERIES, names[MBM]), (SERIES, names[SPRINKLER]), [where],
                             name))
            for name in MEASURED
        }  # fmt: skip
    return found


def tally(found: Mapping[str, Any], way: str, policy: str, measure: str) -> dict[str, int]:
    """Count the cells in which a policy is above TBM, below it, or neither for sure."""
    said = [verdict(cell[way][policy][measure]) for cell in found.values() if cell["counts"]]
    return {word: said.count(word) for word in ("yes", "no", "open")}


def figure(found: Mapping[str, Any], measure: str) -> Figure:
    """Draw the map of a measure."""
    chart = Multiples(
        list(_points(found, measure)),
        f"{MEASURED[measure]}, TBM = 1",
        "KiB of a request and queue depth",
        palette=tuple(POLICIES),
        one=TBM,
        marks={ALONE: BANDWIDTH_MEAN} if measure == "mb_per_s" else {},
    )
    paper = f"; its average of {BANDWIDTH_MEAN} is the dashed line" if measure == "mb_per_s" else ""
    caption = (
        f"{MEASURED[measure].capitalize()} over that of TBM, the line at 1, by how much of the "
        "programs is collection's (rows) and by who suspends (columns); the middle column is the "
        f"comparison of the paper{paper}. Bars are intervals of 95 % over the seeds, paired."
    )
    name = "regimes-bandwidth" if measure == "mb_per_s" else "regimes-reads"
    return Figure(name, f"Where each policy is ahead: {MEASURED[measure]}", caption, chart.draw)


def _points(found: Mapping[str, Any], measure: str) -> Iterator[dict[str, Any]]:
    for cell in CELLS:
        own = found.get(str(cell))
        if own is None or not own["counts"]:
            continue
        shares = [one["collection_percent"] for name, one in found.items()
                  if name.startswith(f"{cell.collection},")]  # fmt: skip
        for way in WAYS:
            for policy in POLICIES:
                mean, low, high = (1.0, None, None) if policy == TBM else own[way][policy][measure]
                if mean is None or not math.isfinite(mean):
                    continue
                yield {
                    "row": f"collection: {sum(shares) / len(shares):.0f} %",
                    "column": way,
                    "spot": f"{cell.size_kib} · {cell.depth}",
                    "series": policy,
                    "value": mean,
                    **({} if low is None else {"low": low, "high": high}),
                }


def section(cases: Cases) -> Section:
    """Return that part of the report."""
    found = numbers(cases)
    rows = []
    for name, own in found.items():
        if own["counts"]:
            cells = [words(own[way][MBM]["mb_per_s"]) for way in WAYS]
            rows.append([name, f"{own['collection_percent']:.0f}", *cells,
                         words(own[NOBODY][SPRINKLER]["mb_per_s"])])  # fmt: skip
    columns = ["collection, size, depth", "programs of collection, %",
               *(f"MBM, {way}" for way in WAYS), "Sprinkler, nobody suspends"]  # fmt: skip
    table = Table("Bandwidth over that of TBM in each regime", columns, rows, folded=True)
    return Section("Where the paper's order holds", [_TEXT],
                   [figure(found, name) for name in MEASURED], [table])  # fmt: skip
