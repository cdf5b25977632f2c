"""Calibrations of drives that are known: `python -m reprieve_studies.hidden_drives`.

Each drive is drawn by a seed, measured by the simulator, and written as fio's output; the
calibration sees that output alone. It says which parameters came back, what the intervals hold, how
near the predictions of other conditions are, and whether the drive suspends. No prediction comes
nearer than the drive itself does when it is measured again, which is measured as well. What a drive
gave is kept in a folder, and so is what was simulated for the one that is under way: a run that was
killed goes on, and a longer one only adds drives.
"""

import argparse
import json
import math
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from reprieve import UserError, __version__
from reprieve.calibration import (
    BUFFER,
    DIES,
    PROGRAM,
    QUICK_TASK,
    READS_PER_SUSPENSION,
    START,
    STEPS,
    Condition,
    Effort,
    Task,
    Term,
    Value,
    calibrate,
    expand,
    judge,
    measure,
    read_results,
    sentence,
)
from reprieve.cli.console import say
from reprieve.outputs import KeptRows
from reprieve.parallel import silent
from reprieve_studies.recorded import read_recorded

_EFFORT = Effort(300_000, 320 << 20, 60.0)
"""Of a measurement: seconds of a real drive. Shorter ones differ from each other by more than what
is asked of predictions."""
_PREDICTION = Effort(100_000, 120 << 20, 60.0)
_TASK = {**QUICK_TASK, "prediction": _PREDICTION}
"""The quick form, and predictions as long as it takes to judge them."""
_WORDLINE_BYTES = 3 * 16384
_MIB = 1 << 20
NEAR = 0.05
DRIVES = 20
WANTED = {"p50": 0.05, "p99": 0.05, "p99.9": 0.10}
"""How near predictions are to be, by percentile."""
Row = dict[str, Any]
"""What a drive gave, as it is kept."""
FITTED_READS = ((4, 1), (4, 8), (4, 64), (4, 256), (16, 1), (16, 16), (16, 256))
HELD_READS = ((4, 4), (4, 32), (16, 64))
FITTED_MIXES = tuple((share, depth) for share in (0.02, 0.2, 0.6) for depth in (1, 8, 64))
HELD_MIXES = ((0.2, 4), (0.2, 32), (0.6, 4), (0.6, 32))
"""Sizes in KiB and depths; shares of what the drive can write, and depths of reads beside that."""


@dataclass(frozen=True)
class Drive:
    """A drawn drive."""

    seed: int
    values: dict[str, Value]

    @property
    def suspends(self) -> bool:
        """Whether reads are served before a wordline is programmed."""
        return self.values["suspension.program"] != "none"

    def bytes_per_s(self) -> float:
        """Return about what it can write."""
        channels, _, each = str(self.values[DIES]).partition("x")
        planes, total_us = self.values["geometry.planes_per_die"], self.values[PROGRAM]
        assert isinstance(planes, int)
        assert isinstance(total_us, float)
        return int(channels) * int(each) * planes * _WORDLINE_BYTES / total_us * 1e6


def draw(seed: int, may_not_suspend: bool) -> Drive:
    """Draw a drive; if it may, every second one does not suspend."""
    stream = random.Random(seed)
    uniform = stream.uniform
    read_us = uniform(40, 90)
    planes = stream.choice((1, 2, 4))
    total_us = uniform(600, 1400) * math.sqrt(planes)
    values: dict[str, Value] = {
        DIES: stream.choice(("4x4", "8x2", "8x4", "4x8")),
        "geometry.planes_per_die": planes,
        "timing.t_read_us_by_type[0]": read_us,
        "timing.t_read_us_by_type[1]": read_us * uniform(1.02, 1.12),
        "timing.t_read_us_by_type[2]": read_us * uniform(1.2, 1.45),
        "timing.t_bus_us": uniform(15, 45),
        "host.link_bytes_per_s": round(uniform(1.5e9, 3.5e9)),
        "host.t_controller_us": uniform(4, 14),
        "host.t_controller_write_us": uniform(5, 25),
        "host.t_command_us": uniform(0.2, 0.8),
        "host.outstanding": stream.randrange(96, 200),
        "suspension.program": "iteration",
        "suspension.reads_per_suspension": stream.choice(READS_PER_SUSPENSION),
        PROGRAM: total_us,
        STEPS: stream.randrange(8, 20),
        "timing.t_suspend_overhead_us": uniform(4, 40),
        "timing.t_buffer_us": uniform(4, 40),
        BUFFER: round(uniform(2, 12) * (1 << 20)),
    }
    if may_not_suspend and seed % 2:
        values |= {"suspension.program": "none", "suspension.reads_per_suspension": None}
    return Drive(seed, values)


def conditions(
    drive: Drive, folder: Path, reads: Sequence[tuple[int, int]], mixes: Sequence[tuple[float, int]]
) -> list[Condition]:
    """Measure a drive, and read what fio would have written."""
    paths = []
    base = Task((), start=START, **_TASK).base()
    for name, jobs, iops in _runs(drive, reads, mixes):
        content = measure(name, jobs, base, expand(drive.values), _EFFORT, iops)
        path = folder / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        paths.append(path)
    return read_results(paths)


def _runs(
    drive: Drive, reads: Sequence[tuple[int, int]], mixes: Sequence[tuple[float, int]]
) -> Iterator[tuple[str, list[tuple[str, dict[str, str]]], float]]:
    def read(size: int, depth: int) -> tuple[str, dict[str, str]]:
        return "read", {"rw": "randread", "bs": f"{size}k", "iodepth": str(depth)}

    def iops(depth: int) -> float:
        return min(depth / 90e-6, 250_000)

    for size, depth in reads:
        yield f"read-{size}k-depth{depth}", [read(size, depth)], iops(depth)
    for share, depth in mixes:
        rate = max(round(share * drive.bytes_per_s() / _MIB), 2)
        fill = {"rw": "write", "bs": "128k", "iodepth": "1", "rate": f",{rate}m"}
        name = f"mixed-depth{depth}-write{rate}"
        yield name, [("fill", fill), read(4, depth)], iops(depth)


def fit(drive: Drive, jobs: int | None, store: Path | None) -> Row:
    """Calibrate to a drive, and compare with what it is."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        folder = Path(name)
        fitted = conditions(drive, folder, FITTED_READS, FITTED_MIXES)
        held = conditions(drive, folder, HELD_READS, HELD_MIXES)
        task = Task(fitted, held, START, **_TASK)
        found = calibrate(task, store, jobs, silent, advises=False)
    chosen = {
        key: found.fit.values[key] == drive.values[key]
        for key in (DIES, "geometry.planes_per_die", "suspension.reads_per_suspension")
    }
    rows = []
    for each in found.known.intervals:
        truth = drive.values[each.key]
        assert isinstance(truth, (int, float))
        rows.append(
            {
                "key": each.key,
                "truth": truth,
                "fitted": each.value,
                "difference": each.value / truth - 1,
                "low": each.low,
                "high": each.high,
                "covered": each.low <= truth <= each.high,
                "is_determined": each.is_determined,
            }
        )
    return {
        "seed": drive.seed,
        "chosen": chosen,
        "parameters": rows,
        "not_shown": _of_reads(found.predicted),
        "simulated": found.simulated,
    }


def _of_reads(predicted: Sequence[Term]) -> dict[str, list[float]]:
    """Return the relative errors of reads, by percentile."""
    reads = [term for term in predicted if term.direction == "read"]
    return {what: [abs(term.difference) for term in reads if term.what == what] for what in WANTED}


def again(drive: Drive, jobs: int | None, store: Path | None) -> Row:
    """Measure the loads that are not shown once more, with another seed, as they are predicted."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        held = conditions(drive, Path(name), HELD_READS, HELD_MIXES)
        evaluator = Task(held, (), START, **_TASK).evaluator(store, jobs)
        try:
            other = replace(_PREDICTION, seed=_PREDICTION.seed + 1)
            compared = evaluator.compare([drive.values], held, other)[0]
        finally:
            evaluator.close()
    assert compared is not None, "the drive can be built under any seed"
    return {
        "seed": drive.seed,
        "not_shown": _of_reads(compared),
        "simulated": evaluator.simulated,
    }


def ask(drive: Drive, jobs: int | None, store: Path | None) -> Row:
    """Ask whether a drive suspends."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as name:
        reads, mixes = ((4, 1), (4, 64), (16, 1)), ((0.05, 1), (0.3, 1), (0.3, 16))
        measured = conditions(drive, Path(name), reads, mixes)
        task = Task(measured, (), START, **_TASK)
        evaluator = task.evaluator(store, jobs)
        try:
            answer = judge(
                *(measured, task.parameters(), {}, evaluator, task.depth, silent), stops=True
            )
        finally:
            evaluator.close()
    return {
        "seed": drive.seed,
        "truth": drive.suspends,
        "answer": answer.suspends,
        "sentence": sentence(answer),
        "difference": answer.difference,
        "low": answer.low,
        "high": answer.high,
        "is_least": answer.is_least,
        "criteria": {one.assumption.name: fmean(one.criterion) for one in answer.judged},
        "values": {one.assumption.name: one.fit.values for one in answer.judged},
        "simulated": evaluator.simulated,
    }


KINDS: dict[str, Callable[[Drive, int | None, Path | None], Row]] = {
    "fit": fit,
    "question": ask,
    "again": again,
}
"""What is tried with a drive, by the name of the file that keeps it."""


def each_drive(seeds: Sequence[int], kind: str, jobs: int | None, folder: Path) -> Iterator[Row]:
    """Return what each drive gave; one that this version has tried before is not tried again."""
    folder.mkdir(parents=True, exist_ok=True)
    kept, known = _kept(kind, folder)
    for seed in seeds:
        if seed not in known:
            store = folder / f"{kind}-{seed}-evaluations.jsonl"
            done = KINDS[kind](draw(seed, kind == "question"), jobs, store)
            known[seed] = {"version": __version__, **done}
            kept.append(known[seed])
            store.unlink(missing_ok=True)
        yield known[seed]


def _kept(kind: str, folder: Path) -> tuple[KeptRows, dict[int, Row]]:
    """Return the rows of a folder, and those of this version by their seeds."""
    kept = KeptRows(folder / f"{kind}.jsonl")
    return kept, {row["seed"]: row for row in kept.read() if row["version"] == __version__}


def take(record: Path, folder: Path) -> None:
    """Keep in a folder what a record has of this version: its drives are not tried again.

    UserError if it is none of hidden drives.
    """
    content = read_recorded(record, "--known", list(KINDS), "a record of hidden drives")
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        kept, known = _kept(kind, folder)
        for row in content[kind]:
            if row["version"] == __version__ and row["seed"] not in known:
                kept.append(row)


def tried(folder: Path) -> dict[str, Any]:
    """Count what a folder has kept, however many drives that are, and return their rows, too.

    UserError if it has none.
    """
    rows = {}
    for kind in KINDS:
        known = _kept(kind, folder)[1]
        rows[kind] = [known[seed] for seed in range(1, DRIVES + 1) if seed in known]
    if not any(rows.values()):
        raise UserError(f"{folder}: has nothing of drives; run make hidden-drives first")
    return {
        "drives": DRIVES,
        "requests": _EFFORT.requests,
        "answers": answers(rows["question"]) if rows["question"] else None,
        "fits": sums(rows["fit"]) if rows["fit"] else None,
        "measured_again": near(rows["again"]) if rows["again"] else None,
        **rows,
    }


def sums(rows: Sequence[Row]) -> dict[str, object]:
    """Count over drives what came back, what intervals hold, and how near predictions are."""
    by_key: dict[str, list[Row]] = {}
    for row in rows:
        for each in row["parameters"]:
            by_key.setdefault(each["key"], []).append(each)
    parameters = {}
    for key, found in by_key.items():
        parameters[key] = {
            "covered": sum(each["covered"] for each in found),
            "determined": sum(each["is_determined"] for each in found),
            **_identified(found),
        }
    chosen = {key: sum(row["chosen"][key] for row in rows) for key in rows[0]["chosen"]}
    return {
        "drives": len(rows),
        "parameters": parameters,
        "chosen": chosen,
        "not_shown": near(rows),
    }


def near(rows: Sequence[Row]) -> dict[str, Row]:
    """Count the numbers of loads that were not shown which are as near as is wanted."""
    counts: dict[str, Row] = {}
    for what, limit in WANTED.items():
        errors = [error for row in rows for error in row["not_shown"][what]]
        counts[what] = {
            "numbers": len(errors),
            "within": sum(error <= limit for error in errors),
            "limit": limit,
            "median": statistics.median(errors),
            "worst": max(errors),
        }
    return counts


def _identified(found: Sequence[Row]) -> dict[str, int]:
    """Count the values that their interval says are known so well, and those that are near.

    Determined says less: an interval that takes up no more than a part of the range.
    """
    known = [
        each
        for each in found
        if max(each["high"] / each["fitted"], each["fitted"] / each["low"]) <= 1 + NEAR
    ]
    return {
        "identified": len(known),
        "near": sum(abs(each["difference"]) <= NEAR for each in known),
    }


def answers(rows: Sequence[Row]) -> dict[str, Any]:
    """Count over drives for how many the answer is right or none; name the seeds of the others."""
    right = [row["seed"] for row in rows if row["answer"] == row["truth"]]
    open_ = [row["seed"] for row in rows if row["answer"] is None]
    return {
        "drives": len(rows),
        "suspend": sum(row["truth"] for row in rows),
        "right": len(right),
        "open": open_,
        "wrong": [row["seed"] for row in rows if row["seed"] not in {*right, *open_}],
    }


def main() -> None:
    """Print a line of JSON for each drive, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drives", type=int, default=DRIVES, help="how many are drawn")
    parser.add_argument("--first-seed", type=int, default=1)
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--question", action="store_true", help="ask whether each suspends")
    other.add_argument("--again", action="store_true", help="measure each again, and fit nothing")
    parser.add_argument("--jobs", type=int, help="simulations at a time")
    parser.add_argument("--out", type=Path, default=Path("out/hidden-drives"), metavar="DIR")
    parser.add_argument("--known", type=Path, metavar="FILE", help="take drives of this record")
    given = parser.parse_args()
    if given.drives < 1:
        parser.error(f"--drives {given.drives}: must be at least 1")
    if given.known is not None:
        try:
            take(given.known, given.out)
        except UserError as error:
            parser.error(str(error))
    seeds = range(given.first_seed, given.first_seed + given.drives)
    kind = "question" if given.question else "again" if given.again else "fit"
    rows = []
    for row in each_drive(seeds, kind, given.jobs, given.out):
        rows.append(row)
        say(json.dumps(row))
    if kind == "question":
        counts = answers(rows)
        open_ = len(counts["open"])
        say(f"right in {counts['right']} of {counts['drives']}, without an answer {open_}")
    elif kind == "again":
        _show_near("measured again", near(rows))
    else:
        _show(sums(rows))


def _show(counts: dict[str, Any]) -> None:
    of = counts["drives"]
    for key, found in counts["parameters"].items():
        near, known = found["near"], found["identified"]
        say(f"{key}: covered {found['covered']} of {of}; known to 5 % {known}, {near} within it")
    for key, right in counts["chosen"].items():
        say(f"{key}: right in {right} of {of}")
    _show_near("not shown", counts["not_shown"])


def _show_near(name: str, counts: dict[str, Row]) -> None:
    for what, found in counts.items():
        say(
            f"{what} {name}: {found['within']} of {found['numbers']} within "
            f"{found['limit']:.0%}; median {found['median']:.1%}, worst {found['worst']:.1%}"
        )


if __name__ == "__main__":
    main()
