"""One run from scenario to result, in memory or into a directory."""

import errno
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from reprieve import _native
from reprieve._native import UserError
from reprieve.extras import need_plots
from reprieve.latency import KINDS, json_text, power_csv
from reprieve.named_policies import Split
from reprieve.notebook import run_bar
from reprieve.outputs import ResultDirectory, explained, for_native
from reprieve.policy import OwnPolicies, Scheduler, SuspensionPolicy
from reprieve.precision import Kept, decided
from reprieve.result import Result
from reprieve.scenario import ScenarioLike, Source
from reprieve.timeline import FILE_NAME, Drawing, Window, timeline_file

if TYPE_CHECKING:
    from reprieve.request_log import MemoryLog, ParquetLog

Watch = Callable[[float | None, int], None]
"""Called between steps with the share done (None if unknown) and the requests completed; the run
stops if it raises."""


class Glance(TypedDict):
    """A run while it goes on. Pairs: of reads and writes, or of programs and erases."""

    simulated_ns: int
    page_transactions: int
    """Page reads and programs, of anyone."""
    completed: tuple[int, int]
    percentiles_ns: tuple[list[int], list[int]]
    """p50, p99, p99.9."""
    suspensions: tuple[int, int]
    die_busy_ns: list[int]
    """Of each die, for how long its array or page buffer was in use."""
    suspended_dies: int
    """Dies on which an operation is suspended now."""


Look = Callable[[Callable[[], Glance | None]], None]
"""Called between steps with a function that returns the run's results so far; it takes about a
millisecond, so call it as seldom as somebody looks."""

When = Literal["start", "end"]
"""Of a run: before its first request, or after its last."""

__all__ = ["run", "stepwise"]


class EnoughError(Exception):
    """Raised by who watches a run, to end it early with the results that it has so far."""


# A step ends about this often, so that progress moves and an interrupt is heard.
_STEP_S = 0.05
_STEP_REQUESTS_FIRST = 256
_STEP_REQUESTS_MAX = 1 << 17

# Files that a run may write or not: those of an earlier run would contradict the rest.
_OPTIONAL = ("requests.parquet", "report.html", "series.parquet", "power.csv", FILE_NAME)


def run(
    scenario: ScenarioLike,
    *,
    requests: bool = False,
    series: bool = False,
    out: str | os.PathLike[str] | None = None,
    from_state: str | os.PathLike[str] | None = None,
    save_state: str | os.PathLike[str] | None = None,
    save_state_at: When = "end",
    check: bool = False,
    suspension_policy: SuspensionPolicy | None = None,
    scheduler: Scheduler | None = None,
    timeline: bool | str | os.PathLike[str] = False,
    timeline_from_ns: int = 0,
    timeline_for_ns: int | None = None,
    timeline_phases: bool = False,
    watch: Watch | None = None,
    until_decided: str | None = None,
    minutes: float | None = None,
    **overrides: Any,
) -> Result:
    """Simulate a scenario and return what it gave; the GIL is released meanwhile.

    `scenario`: a `Scenario`, the path of a scenario file, or a dictionary of the same form.
    `requests`: keep one row a request for `Result.requests`, in memory or, with `out`, on disk.
    `series`: keep how the run goes over time for `Result.series` and for the report.
    `out`: a directory for `summary.json`, `run.json`, `scenario.toml` and, with `requests`,
    `requests.parquet`, with `series`, `series.parquet`, with `power.series_us`, `power.csv`; what
    a run left there before is replaced.
    `from_state`: the drive starts in the state of this file, and is not preconditioned.
    `save_state`: the drive's state goes to this file: at its `"end"`, after the last request, or
    at its `"start"`, before the first.
    `check`: check all that must hold while the run goes on; a violation ends it.
    `suspension_policy`, `scheduler`: policies of your own, asked in place of those that the
    scenario names. A decision costs a call; `summary["run"]["python_policies"]` names them. What
    they raise ends the run, with a note that says when in simulated time. A policy in a file is
    also a value of `suspension.policy` or `scheduling.policy`: `"FILE.py:NAME"`.
    `timeline`: draw what dies, channels and requests do, for the Perfetto UI: into this file, or,
    if True, into `timeline.perfetto-trace` in `out`; `timeline_from_ns` and `timeline_for_ns` say
    which part of the run, `timeline_phases` whether pulses and verifies are drawn, too.
    `watch`: called between steps with the share done (None if unknown) and the requests completed;
    the run stops if it raises. Without it a run in a notebook shows a bar.
    `until_decided`: run again with more requests until half of an interval is as narrow, such as
    `"read.p99 2%"`, or until a longer run would begin after `minutes`.
    `overrides`: any key of the scenario, two underscores for the dot (`timing__t_read_us=50`), or
    dotted as it is written in a file (`**{"timing.t_read_us": 50}`).

    Raises UserError, one sentence, if the scenario or a value is wrong or `out` cannot be written.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> rp.run({"device": "fast12-mlc", "workload": load}, policy="PES-IPC").latency().requests
    2000
    """
    source = Source.of(scenario, overrides)
    repeat = f"rp.run({source.path!r}, check=True) with {list(source.sets)}" if check else None
    own = OwnPolicies(suspension_policy, scheduler)
    drive = Drive(from_state, save_state, save_state_at, repeat, own)
    window = Window(timeline_from_ns, timeline_for_ns, timeline_phases)
    files = Files(requests, series, timeline=window if timeline is True else None)
    with ExitStack() as at_end:
        drawing = _drawing(timeline, window, out is not None, at_end)
        seen = watch or at_end.enter_context(run_bar("run"))

        def one(longer: Source) -> Kept:
            if out is not None:
                return run_into(longer, Path(out), files, seen, drive, drawing=drawing)
            kept = {"keep_requests": requests, "keep_series": series}
            return simulate(longer, **kept, watch=seen, drive=drive, drawing=drawing), []

        return decided(source, until_decided, minutes, one)[0][0]


def _drawing(
    timeline: bool | str | os.PathLike[str], window: Window, has_out: bool, at_end: ExitStack
) -> Drawing | None:
    """Return what is drawn into a file of its own, which `at_end` completes."""
    if timeline is True and not has_out:
        raise UserError("timeline = True: must be the path of a file where there is no out")
    if isinstance(timeline, bool):
        return None
    return Drawing(window, at_end.enter_context(timeline_file(Path(timeline))))


def stepwise(
    scenario: ScenarioLike, *, requests: bool = False, **overrides: Any
) -> _native.Simulation:
    """Return a run that the caller takes through its steps; arguments as of `run`.

    `step` advances it, `take_log` has the requests completed since the last call if they are kept,
    as a table, and `summary` is what it has come to so far, as JSON. What a policy in Python
    raises, `step` raises.
    """
    return opened(Source.of(scenario, overrides), requests=requests)[2]


@dataclass(frozen=True)
class Drive:
    """The state that a run starts from and the one that it leaves, and whether it is checked."""

    from_state: str | os.PathLike[str] | None = None
    save_state: str | os.PathLike[str] | None = None
    save_state_at: When = "end"
    check: str | None = None
    """The command that repeats the run, which is checked; None: it is not."""
    own: OwnPolicies = field(default_factory=OwnPolicies)
    """Policies used in place of those that the scenario names."""
    results: ResultDirectory | None = None
    """Results with which the state gets its name."""

    def __post_init__(self) -> None:
        """Refuse what is neither the start nor the end."""
        if self.save_state_at not in get_args(When):
            raise UserError(
                f'save_state_at = "{self.save_state_at}" is no time to save a state; '
                'use "start" or "end"'
            )

    def note(self) -> str:
        """Return the comment for a scenario file on other dependencies of the run."""
        if self.from_state is None:
            return ""
        return f"# The run did not precondition: --from-state {json.dumps(str(self.from_state))}\n"

    def check_place(self) -> None:
        """Raise UserError before the run if no state can be written to its file after it."""
        if self.save_state is not None:
            place = Path(self.save_state)
            with explained(place):
                if place.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                os.scandir(place.parent).close()

    def save(self, simulation: _native.Simulation, when: When) -> None:
        """Write the state to its file, if this is the time for it."""
        if self.save_state is not None and self.save_state_at == when:
            with for_native(Path(self.save_state), self.results) as temporary:
                simulation.save_state(temporary)


_AS_EVER = Drive()


def unwatched(share: float | None, requests: int) -> None:
    """Nobody watches."""


def not_looking(glance: Callable[[], Glance | None]) -> None:
    """Nobody looks."""


def opened(
    source: Source,
    drive: Drive = _AS_EVER,
    *,
    requests: bool = False,
    series: bool = False,
    drawing: Drawing | None = None,
) -> tuple[Split, OwnPolicies, _native.Simulation]:
    """Return the policies of a run and the run itself, which has not started."""
    split = source.split()
    own = split.with_objects(drive.own)

    def again() -> dict[str, object] | None:
        return split.with_objects(drive.own).methods()

    given = own.methods()
    simulation = _native.Simulation(
        source.text,
        source.path,
        list(split.sets),
        (requests, series, None if drawing is None else drawing.window.drawn()),
        drive.from_state,
        drive.check,
        given and {"given": given, "again": None if drive.own.names() else again},
    )
    return split, own, simulation


def simulate(
    source: Source,
    *,
    keep_requests: bool = False,
    keep_series: bool = False,
    watch: Watch = unwatched,
    drive: Drive = _AS_EVER,
    drawing: Drawing | None = None,
) -> Result:
    """Run a scenario and keep everything in memory; the log of requests only if asked."""
    log = None
    if keep_requests:
        from reprieve.request_log import MemoryLog

        log = MemoryLog()
    return _simulate(source, watch, drive, log, drawing, keep_series=keep_series)


@dataclass(frozen=True)
class Files:
    """Files that a run writes beside `summary.json` and `scenario.toml`."""

    requests: bool = False
    """`requests.parquet`."""
    series: bool = False
    """`series.parquet`."""
    report_command: str | None = None
    """`report.html`, which shows this command as the one to repeat it, and `series.parquet`."""
    timeline: Window | None = None
    """`timeline.perfetto-trace`, of this part of the run."""


def run_into(
    source: Source,
    directory: Path,
    files: Files,
    watch: Watch = unwatched,
    drive: Drive = _AS_EVER,
    *,
    look: Look = not_looking,
    drawing: Drawing | None = None,
    outer: ResultDirectory | None = None,
) -> tuple[Result, list[Path]]:
    """Run a scenario and write its results, all of them at the end; return the paths too.

    With `outer`, they get their names at its commit. Of a run that was ended early there is no
    report, and nothing where a whole one has results.
    """
    if files.report_command is not None:
        need_plots("a report")  # before the run, not after it
    with ResultDirectory(directory, outer) as out:
        drive, log = replace(drive, results=out), None
        if files.requests:
            from reprieve.request_log import ParquetLog

            path = directory / "requests.parquet"
            log = ParquetLog(out.open(path.name), path)
        if files.timeline is not None:
            drawing = Drawing(files.timeline, out.open(FILE_NAME))
        keep_series = files.series or files.report_command is not None
        result = _simulate(source, watch, drive, log, drawing, look, keep_series=keep_series)
        is_partial = "partial" in result.summary
        if is_partial and (directory / "summary.json").exists():
            return result, []
        out.write("scenario.toml", drive.note() + result.scenario)
        if files.report_command is not None and not is_partial:
            from reprieve.report.page import render

            out.write("report.html", render({result.device: result}, files.report_command))
        if result.series is not None:
            from reprieve import tables

            tables.write(result.series.columns(), out.open("series.parquet"))
        if result.power is not None:
            out.write("power.csv", power_csv(result.power))
        out.write("summary.json", json_text(result.summary))
        out.write("run.json", json_text(result.machine))
        return result, out.commit(stale=_OPTIONAL)


def _simulate(
    source: Source,
    watch: Watch,
    drive: Drive,
    log: "MemoryLog | ParquetLog | None",
    drawing: Drawing | None,
    look: Look = not_looking,
    *,
    keep_series: bool,
) -> Result:
    """Run a scenario."""
    kept = {"requests": log is not None, "series": keep_series}
    split, own, simulation = opened(source, drive, **kept, drawing=drawing)
    drive.check_place()
    step_requests = _STEP_REQUESTS_FIRST
    more = True
    watch(*simulation.progress())
    began_s, cpu_began_s = time.perf_counter(), time.process_time()
    while more and not simulation.is_preconditioned():
        more = split.ask(simulation.step, 1)
        watch(*simulation.progress())
    drive.save(simulation, "start")
    prepared_s = time.perf_counter()
    with suppress(EnoughError):
        while more:
            step_began_s = time.perf_counter()
            more = split.ask(simulation.step, step_requests)
            step_s = time.perf_counter() - step_began_s
            if log is not None:
                log.add(simulation.take_log())
            if drawing is not None:
                drawing.file.write(simulation.take_timeline())
            watch(*simulation.progress())
            look(simulation.glance)
            # By a factor of two at most, whatever one step was hit by.
            factor = min(2.0, max(0.5, _STEP_S / max(step_s, 1e-9)))
            step_requests = min(_STEP_REQUESTS_MAX, max(1, int(step_requests * factor)))
    requests = None if log is None else log.close()
    summary = _summary(simulation, is_partial=more)
    if log is not None:
        from reprieve import blame

        counts = {kind: summary["requests"][kind]["count"] for kind in blame.KINDS}
        summary["blame"] = blame.section(log.parts(blame.COLUMNS), counts)
    machine = {"wall_s": time.perf_counter() - prepared_s, "prepare_s": prepared_s - began_s}
    machine |= _machine(summary["run"], machine["wall_s"], time.process_time() - cpu_began_s)
    if names := own.names():
        summary["run"]["python_policies"] = names
    buckets = {what: simulation.histogram(what) for what in KINDS}
    if not more:
        drive.save(simulation, "end")
    series = None
    if (course := simulation.course()) is not None:
        from reprieve.series import Series

        series = Series.of(course)
    scenario = own.note() + split.written(simulation.scenario)
    rest = (simulation.power_series(), series, json.loads(simulation.batches()), machine)
    return Result(scenario, summary, buckets, requests, *rest)


def _machine(run: dict[str, Any], wall_s: float, cpu_s: float) -> dict[str, Any]:
    """Return the rest of what `run.json` holds; `run` is that section of the summary."""
    # Linux counts in KiB, macOS in bytes; of the whole process, so runs side by side share it.
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return {
        "cpu_s": cpu_s,
        "page_transactions_per_s": run["page_transactions"] / wall_s,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes,
        "version": run["version"],
    }


def _summary(simulation: _native.Simulation, *, is_partial: bool) -> dict[str, Any]:
    """Return the summary of a run; raises EnoughError if a partial one has no result yet."""
    try:
        summary: dict[str, Any] = json.loads(simulation.summary())
    except UserError:
        # A run that looks for its transient has not begun to count.
        if is_partial:
            raise EnoughError from None
        raise
    if not is_partial:
        return summary
    if summary["requests"]["total"]["count"] == 0:
        raise EnoughError
    return {"schema": summary.pop("schema"), "partial": True, **summary}
