"""`reprieve run`: one simulation."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from reprieve._native import UserError
from reprieve.cli import options
from reprieve.cli.console import command_line, say, sentence, show, table, warn
from reprieve.cli.options import flag, given, out_dir
from reprieve.cli.signals import INTERRUPTED, interruptible
from reprieve.confidence import FIGURES, TOO_FEW, bounds_us, cell_us, known
from reprieve.latency import KINDS
from reprieve.named_policies import trust
from reprieve.overwriting import inputs_of, may_write
from reprieve.precision import Kept, decided
from reprieve.report.tables import measured, trace_changes, unknown, waf
from reprieve.result import Result
from reprieve.scenario import Source
from reprieve.simulation import (
    Drive,
    EnoughError,
    Files,
    Look,
    Watch,
    When,
    not_looking,
    run_into,
    unwatched,
)
from reprieve.timeline import Window, time_ns, told

# Shorter preparations are not mentioned.
_BLINK_S = 0.5


SaveState = Annotated[Path | None, given("Save the drive's state.")]
SaveStateAt = Annotated[
    When | None,
    typer.Option(help="When: before the first request, or after the last.", show_default="end"),
]


def run(
    scenario: options.ScenarioFile,
    sets: options.Sets = None,
    out: Annotated[Path | None, out_dir("out/SCENARIO")] = None,
    requests: Annotated[
        bool, flag("--requests", "Write requests.parquet, one row a request.")
    ] = False,
    report: Annotated[bool, flag("--report", "Write report.html, which needs no network.")] = False,
    from_state: options.FromState = None,
    save_state: SaveState = None,
    save_state_at: SaveStateAt = None,
    timeline: options.DrawTimeline = False,
    timeline_from: options.TimelineFrom = None,
    timeline_for: options.TimelineFor = None,
    timeline_phases: options.TimelinePhases = False,
    check: Annotated[
        bool, flag("--check", "Check all that must hold; stop where it does not.")
    ] = False,
    until_decided: options.UntilDecided = None,
    minutes: options.Minutes = None,
    print_only: Annotated[
        bool, flag("--print", "Print the resolved scenario and do not run it.")
    ] = False,
    allow_python: options.AllowPython = False,
    force: options.Force = False,
) -> None:
    """Run one simulation and write its results to DIR.

    Results that an earlier run left in DIR are replaced once this one is complete.
    """
    source = Source.read(scenario, sets or ())
    if print_only:
        say(source.resolve())
        return
    directory = Path("out", scenario.stem) if out is None else out
    read = [*inputs_of(source), *([] if from_state is None else [from_state])]
    trust(is_trusted=allow_python)
    may_write([save_state], directory, inputs=read, force=force)
    command = command_line()
    if save_state is None and save_state_at is not None:
        raise UserError("--save-state-at says when to save, and no --save-state FILE says where")
    drive = Drive(from_state, save_state, save_state_at or "end", command if check else None)
    window = _window(timeline, timeline_from, timeline_for, timeline_phases)
    files = Files(requests, report_command=command if report else None, timeline=window)
    if minutes is not None and until_decided is None:
        raise UserError("--minutes: ends a run that goes on; give --until-decided too")
    with _live(scenario.stem) as (watch, look), interruptible() as is_interrupted:

        def heard(share: float | None, requests: int) -> None:
            watch(share, requests)
            if is_interrupted():
                raise EnoughError

        def one(longer: Source) -> Kept:
            return run_into(longer, directory, files, heard, drive, look=look)

        try:
            (result, paths), known = decided(source, until_decided, minutes, one)
        except EnoughError:
            warn("interrupted before the first result")
            raise typer.Exit(INTERRUPTED) from None
    _show(result)
    if known:
        sentence(known)
    if "partial" in result.summary:
        sentence(_partial(result, directory, paths))
        raise typer.Exit(INTERRUPTED)
    if window is not None:
        say(told(result.summary))
    say("wrote " + ", ".join(str(path) for path in (*paths, save_state) if path is not None))


def _partial(result: Result, directory: Path, paths: Sequence[Path]) -> str:
    count = result.summary["requests"]["total"]["count"]
    where = f"in {directory}, marked partial" if paths else f"not kept: {directory} has results"
    return f"interrupted: these are the results of {count:,} requests, {where}"


def _live(label: str) -> AbstractContextManager[tuple[Watch, Look]]:
    """Show the run while it goes on; nothing at all if stderr is no terminal."""
    if not sys.stderr.isatty():
        return nullcontext((unwatched, not_looking))
    from reprieve.cli.live import live

    return live(label)


def _window(
    timeline: bool, timeline_from: str | None, timeline_for: str | None, phases: bool
) -> Window | None:
    asked = {
        "--timeline-from": timeline_from is not None,
        "--timeline-for": timeline_for is not None,
        "--timeline-phases": phases,
    }
    if not timeline:
        if given := [option for option, is_given in asked.items() if is_given]:
            raise UserError(
                f"{given[0]} says what a timeline shows, and no --timeline asks for one"
            )
        return None
    for_ns = None if timeline_for is None else time_ns("--timeline-for", timeline_for)
    if for_ns == 0:
        raise UserError(f'--timeline-for "{timeline_for}" shows nothing; must be longer than 0')
    from_ns = 0 if timeline_from is None else time_ns("--timeline-from", timeline_from)
    return Window(from_ns, for_ns, phases)


def _show(result: Result) -> None:
    requests, flash = result.summary["requests"], result.summary["flash"]
    shown = known(requests[kind]["count"] for kind in KINDS)
    columns = ["", "requests", *(FIGURES[figure] for figure in shown), "max"]
    rows = table("Latency in µs, and 95 % intervals", columns)
    for kind in KINDS:
        group = requests[kind]
        cells = (cell_us(group, figure) for figure in (*shown, "max"))
        rows.add_row(kind, f"{group['count']:,}", *cells)
        if group["count"]:
            ends = [bounds_us(group, key) or (TOO_FEW, "") for key in shown]
            for end, word in enumerate(("from", "to")):
                rows.add_row(word, "", *(each[end] for each in ends), style="dim")
    show(rows)
    runs = {result.device: result}
    for note in [*measured(runs), *unknown(runs)]:
        sentence(note)
    run_in = result.summary.get("precondition")
    if run_in is not None and not run_in["at_rest"]:
        sentence(
            f"the drive was still changing when the run began: after {run_in['requests']:,} "
            f"requests before it, {run_in['simulated_ns'] / 1e9:,.3f} s simulated, the free blocks "
            "of its planes had not come to rest; its results may depend on how long it runs"
        )
    if changes := trace_changes(result):
        sentence(
            f"of the {result.summary['workload']['rows']:,} rows of the trace: {', '.join(changes)}"
        )
    if decoded := result.summary.get("reliability", {}).get("decoded"):
        sentence(
            f"pages read: {decoded['hard']:,} by hard decoding, {decoded['soft']:,} by soft, "
            f"{decoded['uncorrectable']:,} lost"
        )
    device, machine = result.summary["device"], result.machine
    suspensions, prepare_s = flash["suspensions"], machine["prepare_s"]
    after = f" after {prepare_s:.1f} s to prepare the drive" if prepare_s >= _BLINK_S else ""
    sentence(
        f"suspensions: {suspensions['program']:,} of programs, {suspensions['erase']:,} of erases; "
        f"WAF {waf(result)}; {device['iops']:,.0f} IOPS over "
        f"{device['simulated_ns'] / 1e9:,.3f} s simulated, in {machine['wall_s']:.2f} s{after}"
    )
