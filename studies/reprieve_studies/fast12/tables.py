"""The report's tables: loads and their compression, latencies, readings, what lies beyond."""

from statistics import fmean

from reprieve import Result
from reprieve_studies.article import Table
from reprieve_studies.fast12 import alternatives, beyond
from reprieve_studies.fast12.experiment import Outcome
from reprieve_studies.fast12.figures import ratios_to_rps
from reprieve_studies.fast12.measures import (
    MEASURES,
    Group,
    Runs,
    Spot,
    mean_ns,
    suspended_increase_of_array,
)
from reprieve_studies.fast12.paper import DEVICES, SENTENCES, TABLE_1, TABLE_2_MS


def compression(outcome: Outcome) -> Table:
    """How each load was compressed, by both meanings of idle."""
    rows = []
    for (device, trace), found in outcome.compressions.items():
        load = next(one for one in outcome.plan.loads if one.trace == trace)
        other = outcome.compressions_of_dies.get((device, trace))
        rows.append(
            [
                device,
                load.label,
                "recorded" if load.genuine else "counterpart",
                f"{found.speed:,.3g}",
                f"{100 * found.drive_idle_share:.1f}",
                f"{100 * found.die_idle_share:.1f}",
                "–" if other is None else f"{other.speed:,.3g}",
                "–" if other is None else f"{100 * other.drive_idle_share:.1f}",
            ]
        )
    columns = ["device", "load", "", "faster", "drive idle, %", "dies idle, %",
               "faster for dies at 70 %", "drive idle then, %"]  # fmt: skip
    caption = "Compression until the drive under FIFO idles for 70 % of the time"
    return Table(caption, columns, rows, words=3)


def table_2(outcome: Outcome) -> Table:
    """Mean latencies under FIFO, the paper's in brackets."""
    rows = []
    for load in outcome.plan.loads:
        cells = []
        for index, (device, op) in enumerate((d, o) for d in DEVICES for o in ("read", "write")):
            ours = mean_ns(outcome.main[Spot(device, load.trace, "FIFO")], op) / 1e6
            theirs = TABLE_2_MS[load.trace][index] if load.trace in TABLE_2_MS else None
            cells.append(f"{ours:.2f}" + ("" if theirs is None else f" ({theirs:.2f})"))
        rows.append([load.label, *cells])
    columns = ["load", *(f"{device} {op}s" for device in DEVICES for op in ("read", "write"))]
    return Table(
        "Table 2: mean latency under FIFO in ms (the paper's, of its traces)", columns, rows
    )


def sentences(outcome: Outcome) -> Table:
    """Set the paper's averages beside ours under its loads, with each reading, and real ones."""
    papers = [load.trace for load in outcome.plan.papers]
    sets: dict[str, tuple[Runs, list[str]]] = {"as chosen": (outcome.main, papers)}
    if outcome.plan.real:
        sets["real loads"] = (outcome.main, [load.trace for load in outcome.plan.real])
    for each in alternatives.ALTERNATIVES:
        sets[each.title] = (outcome.alternatives[each.name], papers)
    rows = []
    for sentence in SENTENCES:
        for device in DEVICES:
            cells = [
                "–"
                if sentence.measure.endswith("_f1") and "F1" not in loads
                else f"{MEASURES[sentence.measure](Group(runs, device, loads)):.2f}"
                for runs, loads in sets.values()
            ]
            rows.append([sentence.claim, device, f"{sentence.of(device):g}", *cells])
    caption = "What each reading changes: the paper's numbers, in % where the claim is of a share"
    return Table(caption, ["claim", "device", "paper", *sets], rows, words=2)


def explained(outcome: Outcome) -> Table:
    """Which reading comes nearest to each of the paper's numbers."""
    papers = [load.trace for load in outcome.plan.papers]
    readings: dict[str, Runs] = {"as chosen": outcome.main}
    readings |= {each.title: outcome.alternatives[each.name] for each in alternatives.ALTERNATIVES}
    rows = []
    for sentence in SENTENCES:
        for device in DEVICES:
            found = {
                title: MEASURES[sentence.measure](Group(runs, device, papers))
                for title, runs in readings.items()
            }
            paper = sentence.of(device)
            best = min(found, key=lambda title: abs(found[title] - paper))
            chosen = found["as chosen"]
            rows.append([sentence.claim, device, best, f"{paper:g}", f"{found[best]:.2f}",
                         f"{chosen:.2f}"])  # fmt: skip
    columns = ["claim", "device", "nearest reading", "paper", "with it", "as chosen"]
    return Table("Which reading comes nearest to each number", columns, rows, words=3)


def increases(outcome: Outcome) -> dict[str, dict[str, dict[str, float]]]:
    """Return Figure 5 by device, instant of resumption and denominator, in per cent."""
    loads = [load.trace for load in outcome.plan.papers]
    sets = {"data out": outcome.main, "array read": outcome.alternatives["array-read"]}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for device in DEVICES:
        bus_ns = round(TABLE_1[device].bus * 1000)
        found[device] = {}
        for title, runs in sets.items():
            results = Group(runs, device, loads).results("PES_IPC")
            found[device][title] = {
                "whole": MEASURES["suspended_increase"](Group(runs, device, loads)),
                "array": 100
                * fmean(suspended_increase_of_array(result, bus_ns) for result in results),
            }
    return found


def increase(outcome: Outcome) -> Table:
    """Figure 5 by both denominators and both instants of resumption."""
    rows = [
        [device, title, f"{one['whole']:.1f}", f"{one['array']:.1f}"]
        for device, of_device in increases(outcome).items()
        for title, one in of_device.items()
    ]
    columns = ["device", "resumes after", "of transfer in and array, %", "of the array alone, %"]
    return Table("Figure 5: increase of a suspended operation, average of the loads", columns, rows,
                 words=2)  # fmt: skip


def background(outcome: Outcome) -> Table:
    """Show what suspending erases and garbage collection adds, by load."""
    rows = []
    for device in DEVICES:
        for load in outcome.plan.loads:
            runs = {
                name: outcome.beyond[Spot(device, load.trace, name)]
                for name in ("rps", "host-programs", "no-background", "all", "writes")
            }
            flash = runs["all"].summary["flash"]
            share = flash["gc_programs"] / flash["programs"] if flash["programs"] else 0.0
            reads = [_of_rps(runs, name, "read", "mean") for name in list(runs)[1:4]]
            tails = [_of_rps(runs, name, "read", "p99_99") for name in list(runs)[1:4]]
            writes = [_of_rps(runs, name, "write", "mean") for name in ("all", "writes")]
            cells = [f"{value:.3f}" for value in (*reads, *tails, *writes)]
            rows.append([device, load.label, f"{100 * share:.1f}", f"{flash['erases']:,}", *cells])
    columns = ["device", "load", "programs of GC, %", "erases",
               "read mean: host programs", "and erases", "and GC programs",
               "read p99.99: host programs", "and erases", "and GC programs",
               "write mean: all", "and writes before erases"]  # fmt: skip
    caption = "Suspending more and more, on a full drive; multiples of RPS"
    return Table(caption, columns, rows, words=2)


def variants(outcome: Outcome) -> Table:
    """Show every variant: read latency, its tail, and write latency."""
    rows = []
    for device in DEVICES:
        for variant in beyond.VARIANTS:
            found = ratios_to_rps(outcome, device, variant.name)
            rows.append([device, variant.title, *(f"{ratio:.3f}" for ratio in found)])
    columns = ["device", "variant", "read mean", "read p99.99", "write mean"]
    caption = "Every variant, as multiples of RPS; geometric means over the loads"
    return Table(caption, columns, rows, words=2)


def _of_rps(runs: dict[str, Result], name: str, op: str, metric: str) -> float:
    of, base = (
        float(runs[one].summary["requests"][op]["latency_ns"][metric]) for one in (name, "rps")
    )
    return of / base if base else float("nan")
