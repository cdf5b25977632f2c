"""The report's tables: loads and their compression, latencies, readings, what lies beyond."""

from collections.abc import Sequence
from statistics import fmean

from reprieve_studies.article import Table
from reprieve_studies.fast12 import beyond
from reprieve_studies.fast12.alternatives import BASE, READINGS
from reprieve_studies.fast12.claims import held, measured, names
from reprieve_studies.fast12.experiment import OF_DIES, REAL, Outcome, Place
from reprieve_studies.fast12.figures import ratios_to_rps
from reprieve_studies.fast12.loads import CALIBRATED, SETS
from reprieve_studies.fast12.measures import (
    MEASURES,
    Group,
    Runs,
    Spot,
    mean_ns,
    over_seeds,
    suspended_increase_of_array,
)
from reprieve_studies.fast12.paper import DEVICES, SENTENCES, TABLE_1, TABLE_2_MS
from reprieve_studies.seeds import Estimate, estimate
from reprieve_studies.verdicts import Verdict

_SHIFT = 1.0
"""A reading's row is shown only where it moves a claim by more than this, in its unit."""


def headline(verdicts: Sequence[Verdict]) -> Table:
    """How many of the paper's sentences hold, by set of loads and reading."""
    counts = held(list(verdicts))
    rows = [
        [of, *(f"{yes} of {judged}" if judged else "not run" for yes, judged in
               (counts[of, reading.name] for reading in READINGS))]
        for of in SETS
    ]  # fmt: skip
    columns = ["loads", *(reading.title for reading in READINGS)]
    return Table("Sentences of the paper about results that hold", columns, rows)


def compression(outcome: Outcome) -> Table:
    """How each load was compressed, by both meanings of idle."""
    rows = []
    for of in outcome.plan.sets:
        for device in DEVICES:
            for load in outcome.plan.loads(of):
                places = [
                    Place(of, device, load.trace, seed) for seed in outcome.plan.seeds_of(load)
                ]
                found = [outcome.compressions[BASE.name, place] for place in places]
                other = [outcome.compressions.get((OF_DIES, place)) for place in places]
                of_dies = [one for one in other if one is not None]
                rows.append(
                    [
                        device,
                        load.label,
                        "recorded" if load.genuine else of,
                        f"{fmean(one.speed for one in found):,.3g}",
                        f"{100 * fmean(one.drive_idle_share for one in found):.1f}",
                        f"{100 * fmean(one.die_idle_share for one in found):.1f}",
                        f"{fmean(one.speed for one in of_dies):,.3g}" if of_dies else "–",
                    ]
                )
    columns = ["device", "load", "", "faster", "drive idle, %", "dies idle, %",
               "faster for dies at 70 %"]  # fmt: skip
    caption = "Compression until the drive under FIFO idles for 70 % of the time, mean of the seeds"
    return Table(caption, columns, rows, words=3, folded=True)


def table_2(outcome: Outcome) -> Table:
    """Mean latencies under FIFO, the paper's in brackets."""
    columns = [(device, op) for device in DEVICES for op in ("read", "write")]
    rows = []
    for of in outcome.plan.sets:
        for load in outcome.plan.loads(of):
            theirs = TABLE_2_MS.get(load.trace)
            cells = []
            for index, (device, op) in enumerate(columns):
                ours = fmean(
                    mean_ns(runs[Spot(device, load.trace, "FIFO")], op) / 1e6
                    for runs in outcome.runs(of)
                )
                cells.append(f"{ours:.2f}" + ("" if theirs is None else f" ({theirs[index]:.2f})"))
            rows.append([load.label, *cells])
    return Table(
        "Table 2: mean latency under FIFO in ms (the paper's, of its traces)",
        ["load", *(f"{device} {op}s" for device, op in columns)],
        rows,
    )


def sentences(outcome: Outcome) -> Table:
    """Set the paper's averages beside ours, by set of loads and reading."""
    plan = outcome.plan
    sets = [(of, one) for of in SETS if plan.loads(of) for one in plan.readings(of)]
    if outcome.plan.loads(REAL):
        sets.append((REAL, BASE))
    rows = []
    for sentence in SENTENCES:
        for device in DEVICES:
            cells = [
                "–"
                if sentence.measure.endswith("_f1") and "F1" not in names(outcome, of)
                else _short(measured(outcome, of, reading.name, device, MEASURES[sentence.measure]))
                for of, reading in sets
            ]
            rows.append([sentence.claim, device, f"{sentence.of(device):g}", *cells])
    columns = ["claim", "device", "paper", *(f"{of}, {one.title}" for of, one in sets)]
    caption = "The paper's numbers, in % where the claim is of a share, and half of the interval"
    return Table(caption, columns, rows, words=2)


def shifts(outcome: Outcome) -> dict[str, dict[str, dict[str, Estimate]]]:
    """Return by alternative, device and measure what it moves, pair by pair over the seeds."""
    loads = names(outcome, CALIBRATED)
    base = outcome.runs(CALIBRATED)
    found: dict[str, dict[str, dict[str, Estimate]]] = {}
    for each in outcome.plan.alternatives:
        runs = outcome.runs(CALIBRATED, each.name)
        found[each.name] = {
            device: {
                sentence.measure: _moved(runs, base, device, loads, sentence.measure)
                for sentence in SENTENCES
            }
            for device in DEVICES
        }
    return found


def _moved(
    runs: Sequence[Runs], base: Sequence[Runs], device: str, loads: Sequence[str], name: str
) -> Estimate:
    measure = MEASURES[name]
    return estimate(
        [
            measure(Group(one, device, loads)) - measure(Group(of, device, loads))
            for one, of in zip(runs, base, strict=True)
        ]
    )


def moved(outcome: Outcome, verdicts: Sequence[Verdict]) -> Table:
    """Which claims each reading moves, and whether it turns them."""
    moves = shifts(outcome)
    rows = []
    for each in outcome.plan.alternatives:
        for sentence in SENTENCES:
            for device in DEVICES:
                shift = moves[each.name][device][sentence.measure]
                if not _matters(shift, 0.1 if sentence.unit == "1" else _SHIFT):
                    continue
                of = f"{device}, {CALIBRATED} loads, {BASE.title}: {sentence.claim}"
                base = next(one for one in verdicts if one.claim == of)
                ours = (base.ours or 0.0) + shift.mean
                cells = [f"{base.ours:.2f}", _short(shift, sign=True), f"{ours:.2f}"]
                paper = f"{sentence.of(device):g}"
                rows.append([each.title, device, sentence.claim, paper, *cells])
    columns = ["reading", "device", "claim", "paper", BASE.title, "moves it by", "to"]
    caption = "What each reading moves by more than a point, calibrated loads, pairs of equal seeds"
    return Table(caption, columns, rows, words=3)


def _matters(shift: Estimate, least: float) -> bool:
    if shift.low is None or shift.high is None:
        return abs(shift.mean) > least
    return abs(shift.mean) > least and not shift.low < 0 < shift.high


def _short(found: Estimate, *, sign: bool = False) -> str:
    mean = f"{found.mean:+.2f}" if sign else f"{found.mean:.2f}"
    return mean if found.high is None else f"{mean} ± {found.high - found.mean:.2f}"


def increases(outcome: Outcome) -> dict[str, dict[str, dict[str, float]]]:
    """Return Figure 5 by device, instant of resumption and denominator, in per cent."""
    loads = names(outcome, CALIBRATED)
    sets = {"data out": BASE.name, "array read": "array-read"}
    if outcome.plan.quick:
        del sets["array read"]
    found: dict[str, dict[str, dict[str, float]]] = {}
    for device in DEVICES:
        bus_ns = round(TABLE_1[device].bus * 1000)

        def of_array(group: Group, bus_ns: int = bus_ns) -> float:
            results = group.results("PES_IPC")
            return 100 * fmean(suspended_increase_of_array(result, bus_ns) for result in results)

        found[device] = {
            title: {
                "whole": over_seeds(runs, device, loads, MEASURES["suspended_increase"]).mean,
                "array": over_seeds(runs, device, loads, of_array).mean,
            }
            for title, runs in (
                (title, outcome.runs(CALIBRATED, reading)) for title, reading in sets.items()
            )
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


def variants(outcome: Outcome) -> Table:
    """Show every variant beyond the paper: read latency, its tail, and write latency."""
    rows = []
    for device in DEVICES:
        for variant in beyond.VARIANTS:
            found = ratios_to_rps(outcome, device, variant.name)
            rows.append([device, variant.title, *(_short(ratio) for ratio in found)])
    columns = ["device", "variant", "read mean", "read p99.99", "write mean"]
    caption = (
        "Every variant, as multiples of RPS, calibrated loads; geometric means over the loads, "
        "and half of the interval over the seeds"
    )
    return Table(caption, columns, rows, words=2)


def background(outcome: Outcome) -> Table:
    """Show what suspending erases and garbage collection adds, by load."""
    rows = []
    for of in beyond.SETS:
        for device in DEVICES:
            for load in outcome.plan.loads(of):
                runs = outcome.runs(of, beyond.READING)
                flash = [one[Spot(device, load.trace, "all")].summary["flash"] for one in runs]
                share = fmean(
                    one["gc_programs"] / one["programs"] if one["programs"] else 0.0
                    for one in flash
                )
                shown = [("read", "mean"), ("read", "p99_99")]
                cells = [
                    _ratio(runs, device, load.trace, name, op, metric)
                    for op, metric in shown
                    for name in ("host-programs", "no-background", "all")
                ]
                cells += [
                    _ratio(runs, device, load.trace, name, "write", "mean")
                    for name in ("all", "writes")
                ]
                erases = fmean(one["erases"] for one in flash)
                rows.append([device, load.label, f"{100 * share:.1f}", f"{erases:,.0f}", *cells])
    columns = ["device", "load", "programs of GC, %", "erases",
               "read mean: host programs", "and erases", "and GC programs",
               "read p99.99: host programs", "and erases", "and GC programs",
               "write mean: all", "and writes before erases"]  # fmt: skip
    caption = "Suspending more and more, on a full drive; multiples of RPS"
    return Table(caption, columns, rows, words=2, folded=True)


def _ratio(
    runs: Sequence[Runs],
    device: str,
    load: str,
    name: str,
    op: str,
    metric: str,
) -> str:
    def of(one: Runs, variant: str) -> float:
        summary = one[Spot(device, load, variant)].summary
        return float(summary["requests"][op]["latency_ns"][metric])

    ratios = [of(one, name) / of(one, "rps") for one in runs if of(one, "rps")]
    return f"{fmean(ratios):.3f}" if ratios else "–"
