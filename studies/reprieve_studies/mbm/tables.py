"""The report's tables: the drive, the loads, every run, readings, the ablation."""

from reprieve_studies.article import Table
from reprieve_studies.mbm import ablation
from reprieve_studies.mbm.experiment import LIMIT, MAIN, TAIL, Outcome, Spot
from reprieve_studies.mbm.measured import OPS, PERCENTILES, Measured
from reprieve_studies.mbm.measures import Group, papers
from reprieve_studies.mbm.paper import SRC, TABLE_1, TABLE_2, TAIL_LOADS
from reprieve_studies.mbm.readings import (
    BASE,
    GRID_FTLS,
    MBM,
    PAPERS,
    PARTS,
    SCHEMES,
    SPRINKLER,
    SUSPENSION,
    TBM,
)


def paper_drive() -> Table:
    """Return Table I."""
    return Table("Table I of the paper", ["parameter", "value"], [list(row) for row in TABLE_1],
                 words=2)  # fmt: skip


def loads(outcome: Outcome) -> Table:
    """Return every load: what the paper says of it, and how it was compressed."""
    rows = []
    for load in outcome.plan.loads:
        own = TABLE_2.get(load.trace)
        cells = ["–", "–", "–"]
        if own is not None:
            cells = [f"{own.read_kib:g}", f"{own.write_kib:g}", f"{own.reads_percent:g}"]
        scale = outcome.compressions[BASE.name, load.trace]
        rows.append([load.trace, load.label, *cells, f"{scale.speed:,.3g}",
                     f"{100 * scale.drive_idle_share:.1f}",
                     f"{100 * scale.die_idle_share:.1f}"])  # fmt: skip
    columns = ["trace", "load", "reads, KB", "writes, KB", "reads, %", "faster by",
               "drive idle, %", "dies idle, %"]  # fmt: skip
    return Table("Table II, and how loads are compressed", columns, rows, words=2)


def runs(outcome: Outcome) -> Table:
    """Return every run of Figures 8 and 11."""
    rows = []
    for load in outcome.plan.loads:
        for scheme in SCHEMES:
            run = outcome.runs[Spot(MAIN, load.trace, scheme)]
            rows.append([load.label, scheme, *_cells(run)])
    columns = ["load", "scheme", "mean, ms", "reads, ms", "p99 of reads, ms", "writes, ms",
               "p99 of writes, ms", "erases", "WAF", "dies busy, %", "programs suspended, %",
               "pages programmed in pairs, %"]  # fmt: skip
    return Table("Every run of Figures 8 and 11", columns, rows, words=2)


def _cells(run: Measured) -> list[str]:
    times = [
        run.mean_us(),
        run.mean_us("read"),
        run.percentile_us("read", 99.0),
        run.mean_us("write"),
        run.percentile_us("write", 99.0),
    ]
    return [
        *("–" if one is None else f"{one / 1e3:,.3f}" for one in times),
        f"{run.erases:,}",
        f"{run.gc_waf:.2f}",
        f"{run.die_busy_percent:.0f}",
        f"{run.suspended_percent:.0f}",
        f"{run.joint_percent:.0f}",
    ]


def limits(outcome: Outcome) -> Table:
    """Return the bandwidths of Figure 10."""
    group, rows = papers(outcome, LIMIT), []
    labels = {load.trace: load.label for load in outcome.plan.papers}
    for load in group.loads:
        found = [f"{group.one(load, scheme).mb_per_s:.1f}" for scheme in SCHEMES]
        waf = [f"{group.one(load, scheme).gc_waf:.2f}" for scheme in (TBM, MBM)]
        rows.append([labels[load], *found, *waf])
    columns = ["load", *(f"{scheme}, MB/s" for scheme in SCHEMES), "WAF of TBM", "of MBM"]
    return Table("Figure 10: bandwidth with 32 requests outstanding", columns, rows)


def percentiles(outcome: Outcome) -> Table:
    """Return the percentiles of Figures 12 and 13."""
    group, rows = papers(outcome, TAIL), []
    labels = {load.trace: load.label for load in outcome.plan.papers}
    for load in TAIL_LOADS:
        for op in OPS:
            for scheme in PAPERS:
                of = group.one(load, scheme).latencies[op]
                cells = [
                    "too few" if one is None else f"{one / 1e3:,.2f}"
                    for one in (of.percentiles_us[percent] for percent in PERCENTILES)
                ]
                rows.append([labels[load], op, scheme, f"{of.requests:,}", *cells])
    columns = ["load", "operation", "scheme", "requests", *(f"p{one:g}" for one in PERCENTILES)]
    caption = "Figures 12 and 13: percentiles in ms; too few: fewer than ten requests beyond it"
    return Table(caption, columns, rows, words=3)


def readings(outcome: Outcome) -> Table:
    """Set the paper's numbers of Figure 8 beside those of every reading."""
    rows = []
    for reading in (BASE, *outcome.plan.readings):
        group = papers(outcome, reading.name)
        own = group.responses(MBM, TBM)
        rows.append([
            reading.title,
            f"{100 * (1 - sum(own) / len(own)):.1f}",
            f"{100 * (1 - min(own)):.1f}",
            f"{sum(one < 1 for one in own)}",
            f"{group.response(SRC, MBM, TBM):.2f}",
            f"{group.response(SRC, SPRINKLER, TBM):.2f}",
            f"{_mean(group, SPRINKLER):.2f}",
        ])  # fmt: skip
    rows.append(["the paper", "43.6", "66.8", "5", "1.075", "2.18", "–"])
    columns = ["reading", "MBM shortens, %", "at most, %", "loads of six", "src1_2: MBM",
               "src1_2: Sprinkler", "Sprinkler, average"]  # fmt: skip
    return Table("What each reading changes: mean latency against TBM", columns, rows)


def _mean(group: Group, scheme: str) -> float:
    own = group.responses(scheme, TBM)
    return sum(own) / len(own)


def parts(outcome: Outcome) -> Table:
    """Return MBM with each part switched off."""
    rows = []
    for part, scheme in PARTS.items():
        cells = [str(ablation.part_estimate(outcome, part, one)) for one in ablation.MEASURES]
        rows.append([part, scheme.title, *cells])
    columns = ["MBM", "that is", *ablation.MEASURES]
    caption = "MBM with one part switched off, over MBM; geometric means over all loads"
    return Table(caption, columns, rows, words=2)


def grid(outcome: Outcome) -> Table:
    """Return every FTL with every way of suspending."""
    rows = []
    for row in GRID_FTLS:
        for way in SUSPENSION:
            cells = [
                str(ablation.grid_estimate(outcome, row, way, one)) for one in ablation.MEASURES
            ]
            rows.append([row, way, *cells])
    columns = ["FTL", "suspension", *ablation.MEASURES]
    caption = "Every FTL with every suspension, over FIFO; geometric means over all loads"
    return Table(caption, columns, rows, words=2)
