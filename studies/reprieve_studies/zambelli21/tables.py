"""The report's tables: the drive's runs, what other readings change, what the dies can do."""

from collections.abc import Sequence

from reprieve import Result
from reprieve.reliability import characterised_rber
from reprieve_studies.article import Table
from reprieve_studies.characterize.claims import CYCLES, CYCLES_BEFORE, DAYS
from reprieve_studies.zambelli21 import tail, wear
from reprieve_studies.zambelli21.bounds import most_kiops, work_us
from reprieve_studies.zambelli21.claims import absolutes
from reprieve_studies.zambelli21.experiment import PART, Outcome
from reprieve_studies.zambelli21.measures import (
    METRICS,
    SEED,
    TAILS,
    changed,
    holding,
    interval_us,
    write_amplification,
)
from reprieve_studies.zambelli21.paper import CHANGES, MIXES, ORDERS, TABLE_1, TABLE_2_US
from reprieve_studies.zambelli21.readings import (
    BASE,
    BY_NAME,
    FITTED,
    READINGS,
    SENSITIVITY,
    Reading,
)

_ANY_DEVICE = "tlc3d-1tb"


def paper_drive() -> Table:
    """Return what the paper says of its drive."""
    rows = [[name, value] for name, value in TABLE_1]
    rows += [[name, f"{us:,} µs"] for name, us in TABLE_2_US.items()]
    return Table("Tables 1 and 2 of the paper", ["parameter", "value"], rows, words=2)


def runs(outcome: Outcome, reading: Reading) -> Table:
    """Return every run of a reading that is judged, with the first seed."""
    rows = []
    for spot, result in outcome.runs.items():
        if spot.reading != reading.name or spot.seed != SEED:
            continue
        groups, flash = result.summary["requests"], result.summary["flash"]
        means = [f"{groups[op]['latency_ns']['mean'] / 1e3:,.0f}" for op in ("read", "write")]
        rows.append(
            [
                spot.mix,
                str(spot.queue_depth),
                str(spot.suspensions),
                *(f"{METRICS[name].of(result):,.1f}" for name in ("iops", "mean")),
                *means,
                *(f"{METRICS[name].of(result):,.0f}{_interval(result, name)}" for name in TAILS),
                *(f"{METRICS[name].of(result):,.1f}" for name in ("memory_power", "bus_power")),
                f"{write_amplification(result):.2f}",
                f"{100 * result.summary['device']['die_busy_share']:.0f}",
                f"{100 * flash['suspended_share']['program']:.0f}",
            ]
        )
    columns = ["load", "QD", "suspensions", "kIOPS", "mean, µs", "reads", "writes",
               "p99.99 of all, µs (95 %)", "p99.99 of reads, µs (95 %)", "memories, mW", "bus, mW",
               "WAF", "dies busy, %", "programs suspended, %"]  # fmt: skip
    return Table(f"Every run: {reading.title}", columns, rows)


def _interval(result: Result, metric: str) -> str:
    found = interval_us(result, metric)
    return "" if found is None else f" ({found[0]:,.0f}–{found[1]:,.0f})"


def readings(outcome: Outcome) -> Table:
    """Set the paper's numbers beside those of every reading, and name the nearest."""
    shown = _present(outcome, READINGS)
    return _claims(outcome, shown, "What each reading changes")


def sensitivity(outcome: Outcome) -> Table:
    """Set every claim beside the fitted reading with one free parameter changed at a time."""
    shown = _present(outcome, (FITTED, *SENSITIVITY))
    return _claims(outcome, shown, "What the free parameters of the fitted reading change")


def _present(outcome: Outcome, readings: Sequence[Reading]) -> list[Reading]:
    names = {spot.reading for spot in outcome.runs}
    return [reading for reading in readings if reading.name in names]


def _claims(outcome: Outcome, shown: Sequence[Reading], caption: str) -> Table:
    rows = []
    found = {reading.name: absolutes(outcome, reading.name) for reading in shown}
    for name, (unit, paper, _) in found[shown[0].name].items():
        ours = [found[reading.name][name][2] for reading in shown]
        rows.append(_row(f"{name}, {unit}", paper, ours, shown))
    for claim in CHANGES:
        ours = [changed(outcome.runs, reading.name, claim).mean for reading in shown]
        rows.append(_row(f"{claim.claim}, {claim.unit}", claim.paper, ours, shown))
    for order in ORDERS:
        cases = len(order.mixes) * len(order.queue_depths)
        cells = [
            f"{holding(outcome.runs, reading.name, order).mean:.3g} of {cases}" for reading in shown
        ]
        rows.append([order.claim, "all", *cells, ""])
    columns = ["claim", "paper", *(reading.title for reading in shown), "nearest"]
    return Table(f"{caption}, means over the seeds", columns, rows)


def _row(claim: str, paper: float, ours: list[float], shown: Sequence[Reading]) -> list[str]:
    nearest = min(range(len(ours)), key=lambda at: abs(ours[at] - paper))
    cells = [f"{value:,.0f}" for value in ours]
    return [claim, f"{paper:,.0f}", *cells, shown[nearest].title]


def front(outcome: Outcome) -> Table:
    """Return tail and lifetime of each suspension policy, and which of them are on the front."""
    points = wear.points(outcome.front)
    best = wear.on_the_front(points)
    rows = []
    for name, (tail_us, years) in points.items():
        result = outcome.front[name]
        both = wear.daily_writes(result, FITTED.shape.units_per_block) or (0.0, 0.0)
        iops = f"{METRICS['iops'].of(result):,.0f}"
        rows.append([name, f"{tail_us:,.0f}", iops, *(f"{value:.3f}" for value in both),
                     f"{years:.2f}", "yes" if name in best else "no"])  # fmt: skip
    columns = ["suspended", "p99.99 of reads, µs", "kIOPS", "DWPD, suspensions free",
               "DWPD", "years at 1 DWPD", "on the front"]  # fmt: skip
    return Table("Tail against lifetime", columns, rows)


def tails(outcome: Outcome) -> Table:
    """Say what the slowest reads of the fitted reading waited for, by suspensions allowed."""
    rows = []
    for allowed, one in tail.by_limit(outcome.tails).items():
        waits = (one.shares[name] for name in tail.WAITS)
        rows.append([str(allowed), f"{one.read_us.mean:,.0f}", f"{one.total_us.mean:,.0f}",
                     *(f"{100 * share:.0f}" for share in waits)])  # fmt: skip
    columns = ["suspensions", "p99.99 of reads, µs", "p99.99 of all, µs",
               *(f"{title}, %" for title in tail.WAITS.values())]  # fmt: skip
    caption = "What the slowest 0.01 % of the reads waited for, 25W-75R at QD 64"
    return Table(caption, columns, rows)


def work() -> Table:
    """Return the time of dies for a request, by hand."""
    rows = []
    for reading in (BASE, *(BY_NAME[name] for name in ("page-2", "wordline-1", "wordline-2"))):
        for mix, reads in MIXES.items():
            found = work_us(reading.shape, reads)
            parts = (found.host_reads, found.programs, found.moved_reads, found.erases, found.total)
            cells = [f"{part:,.1f}" for part in parts]
            most = most_kiops(reading.shape, reads)
            share = 100 * found.programs / found.total
            rows.append([reading.title, mix, *cells, f"{share:.0f}", f"{most:,.0f}"])
    columns = ["reading", "load", "reads", "programs", "reads of collection", "erases",
               "all, µs", "programs, %", "all dies always busy, kIOPS"]  # fmt: skip
    caption = "Time of a die for a request of 4 KiB, by hand, at a write amplification of 2.4"
    return Table(caption, columns, rows, words=2)


def rber() -> Table:
    """Return the rates of raw bit errors before and after the characterisation (Figure 9)."""
    found = characterised_rber(_ANY_DEVICE, CYCLES_BEFORE, CYCLES, 10, DAYS, part=PART)
    rows = [
        [name, f"{rates.before:.3e}", f"{rates.after:.3e}"]
        for name, rates in (("suspended", found.suspended), ("not programmed", found.untouched))
    ]
    caption = "Figure 9: raw bit errors of a block, as a share of its bits"
    return Table(caption, ["block", "before", "after"], rows)
