"""The report: the paper's figures in its form, its numbers beside ours, and how loads were made."""

from collections.abc import Mapping
from typing import Any

from reprieve_studies import frame
from reprieve_studies.article import Figure, Section, Table, numbered
from reprieve_studies.charts import bars_over_seeds
from reprieve_studies.compress import cells
from reprieve_studies.fast12.claims import (
    METRICS,
    SENTENCES,
    TABLE_2,
    compression,
    measured,
    of_fifo_percent,
    ratio,
)
from reprieve_studies.fast12.runs import BASE, CHOSEN, DATA, DEVICES, MAIN, Results
from reprieve_studies.frame import Claim, by_reading, listed, multiple, questions
from reprieve_studies.loads import Load

_AVERAGE = "average"
_TEXT: Mapping[str, str] = DATA["text"]


def facts(results: Results) -> dict[str, str]:
    """Return what was run."""
    genuine = [load.trace for load in results.loads if load.genuine] or "none: counterparts"
    reading = DATA.readings[BASE].title
    return frame.facts(DATA, results.plan, reading=reading, loads=MAIN, genuine=genuine)


def sections(results: Results) -> list[Section]:
    """Return the report below its verdicts."""
    plan = results.plan
    sets = {f"{of}, {one.title}": (of, one.name) for of in plan.sets for one in plan.of_set(of)
            if one.name in (BASE, CHOSEN)}  # fmt: skip
    readings = {one.title: (MAIN, one.name) for one in plan.of_set(MAIN)}
    figures = [*(_bars(results, row) for row in listed(DATA["figure"])), _figure_7(results)]
    return [
        Section("The paper's figures", figures=figures,
                tables=[_sentences(results, "The paper's numbers", sets)]),
        Section("Loads", [_TEXT["counterparts"], _TEXT["idle"]],
                tables=[_table_2(results), _compression(results)]),
        Section("Readings of the paper", questions(plan.of_set(MAIN)), tables=[_sentences(
            results, "The sentences under every reading, characterised loads", readings)]),
    ]  # fmt: skip


def _sentences(results: Results, caption: str, columns: Mapping[str, tuple[str, str]]) -> Table:
    """Set the paper's averages beside ours; columns are sets of loads under readings."""

    def found(claim: Claim, device: str, name: str) -> Any:
        of, reading = columns[name]
        return measured(results, claim, of=of, reading=reading, device=device)

    rows = [(claim, device) for claim in SENTENCES for device in DEVICES]
    return by_reading(caption, rows, {name: name for name in columns}, found)


def _table_2(results: Results) -> Table:
    """Return mean latencies under FIFO, the paper's in brackets."""

    def pair(claim: Claim, of: str, load: Load) -> str:
        ours = measured(results, claim, of=of, load=load.trace)
        theirs = claim.value.get(load.trace)
        return (f"{ours.mean:.2f}" if ours else "–") + (f" ({theirs:.2f})" if theirs else "")

    rows = [[load.label, *(pair(claim, of, load) for claim in TABLE_2)]
            for of, loads in results.plan.sets.items() for load in loads]  # fmt: skip
    columns = ["load", *(f"{one.options['device']} {one.options['op']}s" for one in TABLE_2)]
    caption = "Table 2: mean latency under FIFO in ms (the paper's, of its traces)"
    return Table(caption, columns, rows)


def _compression(results: Results) -> Table:
    """Return how each load was compressed."""
    rows = [
        [device, load.label, of, *cells(compression(results, of, device, load))]
        for of, loads in results.plan.sets.items() for device in DEVICES for load in loads
    ]  # fmt: skip
    columns = ["device", "load", "", "faster", "drive idle, %", "dies idle, %"]
    caption = "Compression under FIFO, mean of the seeds"
    return Table(caption, columns, rows, words=3, folded=True)


def _bars(results: Results, row: Mapping[str, Any]) -> Figure:
    """Draw every load and their average."""
    number, measure, policies = row["number"], row["measure"], row["policies"]
    is_relative = measure in ("read", "write")

    def bar(one: Results, load: Load, policy: str) -> float:
        if is_relative:
            return ratio(one, load, policy, policies[0], measure)
        value = METRICS[measure](one.result(load, policy))
        return 1 + value if measure == "increase" else value

    values = {
        (device, load.label, policy): [bar(one, load, policy) for one in seeds]
        for device, seeds in ((device, results.seeds(device=device)) for device in DEVICES)
        for load in results.loads
        for policy in policies
    }
    marks = {
        (device, _AVERAGE, claim.options["of"]): multiple(claim, device)
        for device in DEVICES for claim in SENTENCES if claim.options.get("figure") == number
    }  # fmt: skip
    chart = bars_over_seeds(
        values, row["axis"], average=_AVERAGE, marks=marks, domain=row.get("domain")
    )
    under = f"Normalised to {policies[0]}" if is_relative else f"Under {policies[0]}"
    notes = {"cut": chart.domain, "spread": chart.errors, "paper": marks}
    caption = [
        f"{under}; SLC left, MLC right; after Figure {number} of the paper.",
        *(_TEXT[name] for name, there_are in notes.items() if there_are),
    ]
    return numbered(number, row["title"], " ".join(caption), chart.draw)


def _figure_7(results: Results) -> Figure:
    values = {
        (device, str(limit), policy): [of_fifo_percent(one, policy, limit) / 100 for one in seeds]
        for device in DEVICES for seeds in (results.seeds(device=device),)
        for limit in DATA["queue"]["limits"] for policy in ("RPS", "PES_IPC")
    }  # fmt: skip
    draw = bars_over_seeds(values, "mean write latency, multiple of FIFO").draw
    caption = f"{_TEXT['figure_7']} {_TEXT['spread']}"
    return numbered(7, "writes by the size of the write queue", caption, draw)
