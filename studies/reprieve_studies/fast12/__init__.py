"""Wu and He, FAST 2012: program and erase suspension, measured under six loads on two drives."""

from collections.abc import Mapping, Sequence

from reprieve_studies.article import Article, Section, Table
from reprieve_studies.compress import cells
from reprieve_studies.fast12 import figures
from reprieve_studies.fast12.claims import (
    SENTENCES,
    compression,
    fifo_ms,
    held,
    measured,
    numbers,
    verdicts,
)
from reprieve_studies.fast12.runs import CALIBRATED, DATA, DEVICES, REAL, Plan, Results, run
from reprieve_studies.frame import by_reading, questions
from reprieve_studies.study import Settings, Study
from reprieve_studies.verdicts import Verdict


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    results = run(settings)
    found = verdicts(results)
    return Article(
        title="FAST 2012 reproduced: program and erase suspension",
        command=settings.command,
        facts=_facts(results.plan),
        sections=_sections(results, found),
        verdicts=found,
        numbers=numbers(results, found),
    )


STUDY = Study(
    "Wu and He, Reducing SSD Read Latency via NAND Flash Program and Erase Suspension, 2012",
    frozenset({"requests", "traces"}),
    article,
)

_COUNTERPARTS = (
    "The paper's traces may not be redistributed. In their place stand synthetic counterparts, in "
    "sets that are never mixed. Those of the set “characterised” are made from published "
    "characteristics, with nothing fitted to the paper's results. Those of the set “calibrated” "
    "are the same with two parameters of each load's bursts fitted to the mean latencies of that "
    "load's reads and writes on SLC under FIFO (Table 2), in the nearer of two forms: reads in "
    "trains of their own, or in the trains of the writes. The set “coupled” is fitted to the same "
    "numbers, all loads in the second form. Everything else is then predicted. Give a genuine "
    "trace with --trace NAME=FILE; it stands in every set."
)
_IDLE = (
    "As in the paper, each load is compressed by one factor for all times between arrivals, found "
    "by bisection so that the drive under FIFO idles for 70 % of the time. Idle is read as the "
    "paper words it, of the system: no request is open. The other reading is the mean over the "
    "dies; Figure 7 speaks against it, because dies that work for 30 % of the time cannot work for "
    "the 210 % that a load seven times as fast asks for."
)


def _facts(plan: Plan) -> dict[str, str]:
    genuine = [load.trace for load in plan.sets[CALIBRATED] if load.genuine]
    seeds = ", ".join(str(seed) for seed in plan.seeds)
    return {
        "Paper": f"{DATA['paper']}, USENIX FAST",
        "Loads": f"6 of the paper in {len(plan.sets.keys() - {REAL})} sets each, "
        f"{len(plan.sets.get(REAL, ()))} recorded on 1&1 servers",
        "Genuine traces": ", ".join(genuine) or "none: counterparts",
        "Requests of a load": f"{plan.requests:,} at most",
        "Seeds": f"{seeds}; intervals are of 95 % over them",
    }


def _sections(results: Results, found: Sequence[Verdict]) -> list[Section]:
    plan = results.plan
    first, *others = figures.papers(results)
    sets = {f"{of}, {one.title}": (of, one.name) for of in plan.sets for one in plan.readings(of)}
    readings = {one.title: (CALIBRATED, one.name) for one in DATA.readings.values()
                if one in plan.of_set(CALIBRATED)}  # fmt: skip
    return [
        Section("What holds", figures=[first],
                tables=[_held(found), _sentences(results, "The paper's numbers", sets)]),
        Section("Loads", [_COUNTERPARTS, _IDLE],
                tables=[_table_2(results), _compression(results)]),
        Section("The paper's figures", figures=others),
        *(Section(f"The same with {of} loads", figures=figures.papers(results, of))
          for of in plan.sets if of != CALIBRATED),
        Section("Readings of the paper", questions(DATA.readings.values()), tables=[_sentences(
            results, "The sentences under every reading, calibrated loads", readings)]),
    ]  # fmt: skip


def _held(found: Sequence[Verdict]) -> Table:
    """Return how many of the paper's sentences hold, by set of loads and reading."""
    counts = held(found)
    rows = []
    for of in DATA["sets"]:
        pairs = (counts[of, reading.name] for reading in DATA.judged)
        rows.append([of, *(f"{yes} of {judged}" if judged else "not run"
                           for yes, judged in pairs)])  # fmt: skip
    columns = ["loads", *(reading.title for reading in DATA.judged)]
    return Table("Sentences of the paper about results that hold", columns, rows)


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
    caption = "Compression until the drive under FIFO idles for 70 % of the time, mean of the seeds"
    return Table(caption, columns, rows, words=3, folded=True)
