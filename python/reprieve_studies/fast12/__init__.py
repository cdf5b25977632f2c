"""Wu and He, FAST 2012: program and erase suspension, measured under six loads on two drives."""

from collections.abc import Mapping, Sequence
from functools import partial

from reprieve_studies.article import Article, Section, Table
from reprieve_studies.compress import cells
from reprieve_studies.fast12 import figures
from reprieve_studies.fast12.claims import (
    SENTENCES,
    compression,
    fifo_ms,
    measured,
    numbers,
    verdicts,
)
from reprieve_studies.fast12.runs import (
    BASE,
    CHOSEN,
    DATA,
    DEVICES,
    MAIN,
    Plan,
    Results,
    counterparts,
    run,
    simulate,
)
from reprieve_studies.frame import by_reading, questions
from reprieve_studies.joint import Candidate, search
from reprieve_studies.runs import Bench
from reprieve_studies.study import Settings, Study
from reprieve_studies.verdicts import Verdict


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    results = run(settings)
    return Article(
        title="FAST 2012 reproduced: program and erase suspension",
        command=settings.command,
        facts=_facts(results.plan),
        sections=_sections(results),
        verdicts=verdicts(results),
        numbers=numbers(results),
    )


def judge(
    bench: Bench, candidate: Candidate, seeds: Sequence[int], *, quick: bool
) -> list[Verdict]:
    """Judge every claim under a candidate for the joint reading."""
    loads = {MAIN: counterparts({}, candidate.loads)}
    requests = DATA["requests"]["search" if quick else "full"]
    return verdicts(simulate(Plan(loads, seeds, requests, True, candidate.reading), bench))


STUDY = Study(
    "Wu and He, Reducing SSD Read Latency via NAND Flash Program and Erase Suspension, 2012",
    frozenset({"requests", "traces"}),
    article,
    joint=partial(search, DATA, judge, title="Wu and He, FAST 2012"),
)

_COUNTERPARTS = (
    "The paper's traces may not be redistributed. In their place stand synthetic counterparts, in "
    "two sets that are never mixed. Those of the set “characterised”, with which all claims are "
    "judged, are made from published characteristics, with nothing fitted to the paper's results. "
    "Those of the set “calibrated” are the same with two parameters of each load's bursts fitted "
    "to the mean latencies of that load's reads and writes on SLC under FIFO (Table 2). Give a "
    "genuine trace with --trace NAME=FILE; it stands in both."
)
_IDLE = (
    "As in the paper, each load is compressed by one factor for all times between arrivals, found "
    "by bisection under FIFO. The paper has a system idle for around 70 % of the time, and does "
    "not say of what; the joint reading is fitted: the mean over the dies, for 80 %."
)


def _facts(plan: Plan) -> dict[str, str]:
    genuine = [load.trace for load in plan.sets[MAIN] if load.genuine]
    seeds = ", ".join(str(seed) for seed in plan.seeds)
    return {
        "Paper": f"{DATA['paper']}, USENIX FAST",
        "Reading": DATA.readings[BASE].title,
        "Loads": f"6 of the paper, {MAIN}",
        "Genuine traces": ", ".join(genuine) or "none: counterparts",
        "Requests of a load": f"{plan.requests:,} at most",
        "Seeds": f"{seeds}; intervals are of 95 % over them",
    }


def _sections(results: Results) -> list[Section]:
    plan = results.plan
    sets = {f"{of}, {one.title}": (of, one.name) for of in plan.sets for one in plan.of_set(of)
            if one.name in (BASE, CHOSEN)}  # fmt: skip
    readings = {one.title: (MAIN, one.name) for one in plan.of_set(MAIN)}
    return [
        Section("The paper's figures", figures=figures.papers(results),
                tables=[_sentences(results, "The paper's numbers", sets)]),
        Section("Loads", [_COUNTERPARTS, _IDLE],
                tables=[_table_2(results), _compression(results)]),
        Section("Readings of the paper", questions(plan.of_set(MAIN)), tables=[_sentences(
            results, "The sentences under every reading, characterised loads", readings)]),
    ]  # fmt: skip


def _sentences(results: Results, caption: str, columns: Mapping[str, tuple[str, str]]) -> Table:
    """Set the paper's averages beside ours; columns are sets of loads under readings."""
    return by_reading(
        caption,
        [(claim, device) for claim in SENTENCES for device in DEVICES],
        list(columns),
        lambda claim, device, name: measured(results, claim, *columns[name], device),
        {name: name for name in columns},
    )


def _table_2(results: Results) -> Table:
    """Return mean latencies under FIFO, the paper's in brackets."""
    claims = [claim for claim in DATA.claims if claim.measure == "fifo_ms"]
    rows = []
    for of, loads in results.plan.sets.items():
        for load in loads:
            pairs = [(fifo_ms(results, claim, of, load).mean, claim.value.get(load.trace))
                     for claim in claims]  # fmt: skip
            rows.append([load.label, *(f"{ours:.2f}" if theirs is None
                         else f"{ours:.2f} ({theirs:.2f})" for ours, theirs in pairs)])  # fmt: skip
    columns = ["load", *(f"{one.options['device']} {one.options['op']}s" for one in claims)]
    caption = "Table 2: mean latency under FIFO in ms (the paper's, of its traces)"
    return Table(caption, columns, rows)


def _compression(results: Results) -> Table:
    """Return how each load was compressed."""
    rows = []
    for of, loads in results.plan.sets.items():
        for device in DEVICES:
            for load in loads:
                found = compression(results, of, device, load)
                rows.append([device, load.label, of, *cells(found)])
    columns = ["device", "load", "", "faster", "drive idle, %", "dies idle, %"]
    caption = "Compression under FIFO, mean of the seeds"
    return Table(caption, columns, rows, words=3, folded=True)
