"""`reprieve array`: the load of a scenario on an array of its drives."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from reprieve import tables
from reprieve.array import Array, Reads
from reprieve.cli.console import progress, say, show, table
from reprieve.cli.options import Force, ScenarioFile, Sets, flag, given, option, out_dir
from reprieve.confidence import FIGURES, cell_us, known
from reprieve.outputs import ResultDirectory
from reprieve.overwriting import inputs_of, may_write
from reprieve.scenario import Source


def array(
    scenario: ScenarioFile,
    drives: Annotated[int, typer.Option(min=1, metavar="N", help="Drives.")],
    sets: Sets = None,
    parity: Annotated[int, option("Chunks of parity in a stripe.", "N")] = 0,
    mirrors: Annotated[int, option("Copies of each chunk.", "N")] = 1,
    chunk_bytes: Annotated[int, option("Bytes of a stripe on one drive.", "BYTES")] = 65536,
    read: Annotated[Reads, typer.Option(help="How reads are served.")] = "direct",
    hedge_after_us: Annotated[float | None, given("When a read is hedged.", "US")] = None,
    busy_window_us: Annotated[
        float | None, given("Length of the windows in which drives collect by turns.", "US")
    ] = None,
    collecting_drives: Annotated[
        int | None, given("Drives of a stripe that collect at a time.", "N")
    ] = None,
    collection_poll_us: Annotated[float, option("When they are chosen anew.", "US")] = 1000,
    parity_log: Annotated[
        bool, flag("--parity-log", "Log the parity of a partial write first.")
    ] = False,
    failed: Annotated[list[int] | None, given("A drive that has failed, from 0.", "N")] = None,
    rebuild: Annotated[int | None, given("A failed drive that a new one replaces.", "N")] = None,
    rebuild_stripes: Annotated[int, option("Stripes that are rebuilt together.", "N")] = 16,
    rebuild_bytes_per_s: Annotated[
        float | None, given("Limit of the rate of the rebuild.", "BYTES")
    ] = None,
    until_rebuilt: Annotated[
        bool, flag("--until-rebuilt", "Go on until the replaced drive has all its data.")
    ] = False,
    requests: Annotated[
        bool, flag("--requests", "Write requests.parquet, one row a request.")
    ] = False,
    out: Annotated[Path | None, out_dir("out/SCENARIO-array")] = None,
    force: Force = False,
) -> None:
    """Run the load of a scenario on an array of its drives, and write the results to DIR.

    The addresses of the load are the array's.
    """
    directory = Path("out", f"{scenario.stem}-array") if out is None else out
    source = Source.read(scenario, sets or ())
    may_write([], directory, inputs=inputs_of(source), force=force)
    options: dict[str, Any] = {"drives": drives, "parity": parity, "mirrors": mirrors}
    options |= {"chunk_bytes": chunk_bytes, "read": read, "hedge_after_us": hedge_after_us}
    options |= {"busy_window_us": busy_window_us, "parity_log": parity_log}
    options |= {"collecting_drives": collecting_drives}
    options |= {"collection_poll_us": collection_poll_us}
    options |= {"failed": failed or [], "rebuild": rebuild, "rebuild_stripes": rebuild_stripes}
    options |= {"rebuild_bytes_per_s": rebuild_bytes_per_s}
    with ResultDirectory(directory) as results, progress() as bars:
        made = Array(source, **options, load=True)
        rows = made.run(
            until_rebuilt=until_rebuilt, watch=lambda share: bars(scenario.stem, share, 0)
        )
        summary = {"options": options, **made.summary()}
        results.write("scenario.toml", source.resolve())
        results.write("array.json", json.dumps(summary, indent=2) + "\n")
        if requests:
            with results.open("requests.parquet") as file:
                tables.write(rows, file)
        paths = results.commit(() if requests else ("requests.parquet",))
    _show(summary)
    say("wrote " + ", ".join(str(path) for path in paths))


def _show(summary: dict[str, Any]) -> None:
    requests = summary["requests"]
    shown = known(group["count"] for group in requests.values())
    rows = table("Latency in µs", ["", "requests", *(FIGURES[key] for key in shown), "max"])
    for kind, group in requests.items():
        cells = (cell_us(group, figure) for figure in (*shown, "max"))
        rows.add_row(kind, f"{group['count']:,}", *cells)
    show(rows)
    reads, writes = summary["drive_reads"], summary["drive_writes"]
    say(
        f"{reads:,} reads and {writes:,} writes of drives; {summary['reconstructed_reads']:,} "
        f"chunks reconstructed, {summary['hedged_reads']:,} hedged"
    )
    if rebuild := summary.get("rebuild"):
        end_ns = rebuild["end_ns"]
        end = "not done" if end_ns is None else f"done at {end_ns / 1e9:,.3f} s"
        share = rebuild["rebuilt_bytes"] / rebuild["bytes"]
        say(f"drive {rebuild['drive']}: {100 * share:.1f} % rebuilt, {end}")
    if hole := summary.get("write_hole"):
        say(f"stripes that a loss of power would tear: {hole['torn_stripes_mean']:.3g} on average")
