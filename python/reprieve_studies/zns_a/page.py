"""The study: the fit, the predictions, the question whether the drive suspends."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from reprieve.calibration import (
    QUICK_TASK,
    START,
    Answer,
    Calibration,
    Condition,
    Effort,
    Task,
    Term,
    calibrate,
    depth_of,
    device_file,
    errors,
    judge,
    load_of,
    percentile_chart,
    sentence,
)
from reprieve.drives import load
from reprieve.plot import Theme
from reprieve_studies.article import Article, Figure, Section, Table
from reprieve_studies.frame import stated
from reprieve_studies.seeds import Estimate
from reprieve_studies.study import Settings
from reprieve_studies.verdicts import AT_MOST, Verdict

_BODY = ("p50", "p90", "p99")
_WANTED = (
    ("median error of p50, p90 and p99 of reads", "median", _BODY, 0.05),
    ("nine tenths of the errors of p50, p90 and p99", "ninth_tenth", _BODY, 0.15),
    ("nine tenths of the errors of p99.9", "ninth_tenth", ("p99.9",), 0.25),
)
"""Claims with their statistic, percentiles and limit.

The limits, and what is fitted, were written down before the first fit. When the mechanisms of the
model were chosen, all the measurements had been looked at.
"""
_LAST_STEPS = Effort(12_000, 16 << 20, 10.0)
"""Effort of the quick form in the steps of all parameters, which take half of its time."""
_SHOWN = ("p50", "p90", "p99", "p99.9", "p99.99", "iops")
_SOURCE = "NVMeBenchmarks, commit 01f40f1 (MIT licence)"


def article(settings: Settings) -> Article:
    """Fit, predict, ask, and write it up.

    What is simulated is kept in the directory of the results, line by line, and a run that was
    killed goes on from there when it is started again.
    """
    store = settings.directory
    drive = load("zns-a")
    fitted, held = (sorted(some, key=lambda each: each.name)
                    for some in (drive.fitted_conditions, drive.predicted_conditions))  # fmt: skip
    quick = {**QUICK_TASK, "depth": replace(QUICK_TASK["depth"], final=_LAST_STEPS)}
    task = Task(fitted, held, START, **(quick if settings.quick else {}))
    found = calibrate(task, store, settings.jobs, settings.step, not settings.quick)
    answer = _answer(task, store, settings)
    return Article(
        title="A real drive, zns-a",
        command=settings.command,
        facts=_facts(found),
        sections=[_predictions(found), _parameters(found), _suspension(answer)],
        verdicts=_verdicts(found),
        verdicts_title="What was wanted",
        paper_word="limit",
        files={"zns-a.toml": device_file(found, "zns-a")},
        numbers=_numbers(found, answer),
    )


def _answer(task: Task, store: Path | None, settings: Settings) -> Answer:
    # The answer takes only conditions that are fitted. The quick search suffices, as assumptions
    # differ by far more than its error.
    with closing(task.evaluator(store, settings.jobs)) as evaluator:
        return judge(
            task.conditions, task.parameters(), {}, evaluator, QUICK_TASK["depth"], settings.step,
            stops=settings.quick,
        )  # fmt: skip


def _facts(found: Calibration) -> dict[str, str]:
    return {
        "Measurements": f"fio 3.32 under SPDK, 2022 to 2023: {_SOURCE}",
        "Fitted": f"{len(found.task.conditions)} runs of fio, up to p99.9",
        "Predicted": f"{len(found.task.held_out)} runs of fio",
        "Unknown": "temperature, wear, how full the drive was, and the work of its firmware",
    }


def _reads(terms: Sequence[Term]) -> list[Term]:
    return [term for term in terms if term.direction == "read"]


def _verdicts(found: Calibration) -> list[Verdict]:
    verdicts = []
    for words, statistic, whats, limit in _WANTED:
        claim = stated(
            f"{words}, in runs that were not fitted", "set before the first fit",
            100 * limit, AT_MOST, unit="%",
        )  # fmt: skip
        summed = errors(_reads(found.predicted), whats)
        assert summed is not None, "percentiles are predicted"
        ours = Estimate(100 * getattr(summed, statistic))
        verdicts.append(claim.verdict(ours, kind="predicted"))
    return verdicts


def _predictions(found: Calibration) -> Section:
    task = found.task
    every = [*task.conditions, *task.held_out]
    names = [condition.name for condition in task.conditions]
    terms = [*found.fitted, *found.predicted]

    def chart(conditions: Sequence[Condition]) -> Callable[[Theme], Any]:
        return lambda theme: percentile_chart(conditions, terms, names, theme)

    return Section(
        "Measured and predicted",
        ["Lines are simulated, points measured. Filled points were fitted, hollow ones were not."],
        [
            Figure(
                "conventional",
                "Reads of the conventional namespace",
                "Latency of 4 KiB random reads by percentile and queue depth, beside sequential "
                "writes of 0, 10, 250 and 1,000 MiB/s.",
                chart([each for each in every if _is_conventional(each)]),
            ),
            Figure(
                "zoned",
                "Reads of the zoned namespace",
                "Latency of random reads of 4 and 16 KiB by percentile and queue depth, beside "
                "sequential writes of 0 and 250 MiB/s.",
                chart([each for each in every if not _is_conventional(each)]),
            ),
        ],
        [
            _sums(found),
            _errors("fitted", task.conditions, terms),
            _errors("predicted", task.held_out, terms),
        ],
    )


def _is_conventional(condition: Condition) -> bool:
    """Return whether a run is of the conventional namespace; the others are of the zoned one."""
    return condition.name.startswith("mixed-nvme")


def _summed(found: Calibration) -> dict[tuple[str, str], Any]:
    """Return the errors of the reads in both parts: of the body, and of each figure."""
    parts = {"fitted": found.fitted, "predicted": found.predicted}
    figures = {"body": _BODY, **{each: (each,) for each in _SHOWN}}
    sums = {(part, what): errors(_reads(terms), whats)
            for part, terms in parts.items() for what, whats in figures.items()}  # fmt: skip
    return {key: each for key, each in sums.items() if each is not None}


def _sums(found: Calibration) -> Table:
    rows = [
        [part, "p50, p90, p99" if what == "body" else what,
         *(f"{100 * value:.1f}" for value in (each.median, each.ninth_tenth, each.worst))]
        for (part, what), each in _summed(found).items()
        if what not in _BODY
    ]  # fmt: skip
    columns = ["runs", "of", "median, %", "nine tenths, %", "worst, %"]
    return Table("Relative errors of reads", columns, rows, words=2)


def _errors(part: str, conditions: Sequence[Condition], terms: Sequence[Term]) -> Table:
    by_name: dict[str, dict[str, float]] = {}
    for term in _reads(terms):
        by_name.setdefault(term.condition, {})[term.what] = 100 * term.difference
    rows = []
    for condition in sorted(conditions, key=lambda each: (load_of(each), depth_of(each))):
        mine = by_name[condition.name]
        namespace = "conventional" if _is_conventional(condition) else "zoned"
        cells = [f"{mine[what]:+.0f}" if what in mine else "" for what in _SHOWN]
        rows.append([load_of(condition), namespace, str(depth_of(condition)), *cells])
    columns = ["load", "namespace", "depth", *_SHOWN]
    title = f"Relative error of the reads, {part} runs, in %"
    return Table(title, columns, rows, words=2, folded=True)


def _parameters(found: Calibration) -> Section:
    rows = [
        [
            *(each.key, f"{each.value:.5g}", f"{each.low:.4g}", f"{each.high:.4g}"),
            "" if each.is_determined else "not determined",
        ]
        for each in found.known.intervals
    ]
    known = {each.key for each in found.known.intervals}
    rows += [
        [key, "none" if value is None else str(value), "", "", "chosen"]
        for key, value in found.fit.values.items()
        if key not in known
    ]
    said = [
        f"The differences that are left are {found.known.inflation:.0f} times what noise alone "
        "would leave, in squares. The intervals are wider by the root of that."
    ]
    for pair in found.known.pairs:
        said.append(f"{pair.first} and {pair.second} trade against each other.")
    said += [
        f"Measuring {each.condition} would leave {100 * each.narrower:.0f} % of the interval of "
        f"{each.key}."
        for each in found.advice
    ]
    columns = ["parameter", "value", "95 % from", "to", "note"]
    return Section("Parameters", said, (), [Table("Fitted values", columns, rows)])


def _suspension(answer: Answer) -> Section:
    best = min(fmean(each.criterion) for each in answer.judged)
    rows = [
        [
            each.assumption.sentence,
            "yes" if each.assumption.suspends else "no",
            f"{fmean(each.criterion) - best:.0f}",
        ]
        for each in answer.judged
    ]
    columns = ["assumption", "programs make way", "BIC above the best"]
    table = Table("The same fit under each assumption", columns, rows, words=2)
    answered = sentence(answer)
    said = [f"{answered[0].upper()}{answered[1:]}."]
    if answer.unfinished:
        said.append(
            f"{answer.unfinished} more were not fitted to their end: one may be nearer, and none "
            "can change whether programs make way."
        )
    return Section("Does it suspend?", said, (), [table])


def _numbers(found: Calibration, answer: Answer) -> dict[str, object]:
    known = {each.key for each in found.known.intervals}
    return {
        "fitted_runs": len(found.task.conditions),
        "predicted_runs": len(found.task.held_out),
        "inflation": found.known.inflation,
        "intervals": [vars(each) for each in found.known.intervals],
        "chosen": {key: value for key, value in found.fit.values.items() if key not in known},
        "answer": sentence(answer),
        "assumptions": {
            each.assumption.name: round(fmean(each.criterion), 1) for each in answer.judged
        },
        **{f"{part}_{what}": vars(each) for (part, what), each in _summed(found).items()},
    }
