"""Runs of a real fio whose results are test data: `python -m tests.fio_runs` records them anew.

Of each result `fio_runs.json` keeps the fields that Reprieve reads, with the command.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("fio_runs.json")

_ONE = "--direct=1 --filename=FILE --size=8m --norandommap=1 --lat_percentiles=1"
_SECOND = f"{_ONE} --time_based=1 --runtime=1"

COMMANDS = {
    "null-read": f"--name=r --ioengine=null {_ONE} --rw=randread --number_ios=2000",
    "sync-read": f"--name=r --ioengine=sync {_ONE} --rw=randread --number_ios=600",
    "psync-write": f"--name=w --ioengine=psync {_ONE} --rw=randwrite --bs=8k --number_ios=600",
    "psync-mix": f"--name=m --ioengine=psync {_ONE} --rw=randrw --rwmixread=70 --bs=4k,16k",
    "libaio-read": f"--name=r --ioengine=libaio {_ONE} --rw=randread --iodepth=8 --number_ios=2000",
    "libaio-write": f"--name=w --ioengine=libaio {_ONE} --rw=write --bs=64k --iodepth=4",
    "libaio-mix": f"--name=m --ioengine=libaio {_ONE} --rw=randrw --iodepth=16",
    "uring-read": f"--name=r --ioengine=io_uring {_ONE} --rw=randread --bs=16k --iodepth=32",
    "uring-split": f"--name=s --ioengine=io_uring {_ONE} --rw=randread --bssplit=4k/60:16k/40 "
    "--iodepth=4",
    "uring-rate": f"--name=w --ioengine=io_uring {_SECOND} --rw=write --bs=64k --rate=8m",
    "psync-deep": f"--name=r --ioengine=psync {_ONE} --rw=randread --iodepth=8",
    "default-deep": f"--name=r {_ONE} --rw=randread --iodepth=8",
    "null-deep": f"--name=r --ioengine=null {_ONE} --rw=randread --iodepth=8",
    "clones-apart": f"--name=r --ioengine=psync {_SECOND} --rw=randread --numjobs=3",
    "clones-grouped": f"--name=r --ioengine=psync {_SECOND} --rw=randread --numjobs=3 "
    "--group_reporting=1",
    "clones-grouped-deep": f"--name=r --ioengine=libaio {_SECOND} --rw=randread --numjobs=2 "
    "--iodepth=4 --group_reporting=1",
    "two-apart": f"--name=r --ioengine=libaio {_SECOND} --rw=randread --iodepth=4 "
    f"--name=w --ioengine=libaio {_SECOND} --rw=write --bs=64k --rate=4m",
}
"""Of one job or more on the command line; FILE is a file of 8 MiB."""

_SHORT = "[global]\nfilename=FILE\nsize=8m\ndirect=1\nlat_percentiles=1\nioengine=libaio\n"
_GLOBAL = f"{_SHORT}time_based\nruntime=1\n"
_READER = "[reader]\nrw=randread\niodepth=2\n"
_WRITER = "[writer]\nrw=write\nbs=64k\nrate=4m\n"

FILES = {
    "file-apart": f"{_GLOBAL}{_READER}{_WRITER}",
    "grouped-directions": f"{_GLOBAL}group_reporting\n{_READER}{_WRITER}",
    "grouped-sizes": f"{_GLOBAL}group_reporting\n[small]\nrw=randread\n"
    "[large]\nrw=randread\nbs=16k\n",
    "grouped-depths": f"{_GLOBAL}group_reporting\n[one]\nrw=randread\n"
    "[deep]\nrw=randread\niodepth=16\n",
    "grouped-alike": f"{_GLOBAL}group_reporting\n[one]\nrw=randread\n[two]\nrw=randread\n",
    "unified-apart": f"{_GLOBAL}unified_rw_reporting=1\n{_READER}{_WRITER}",
    "unified-mix": f"{_GLOBAL}unified_rw_reporting=mixed\n[m]\nrw=randrw\niodepth=4\n",
    "unified-both": f"{_GLOBAL}unified_rw_reporting=both\n[m]\nrw=randrw\niodepth=4\n",
    "unified-grouped": f"{_GLOBAL}unified_rw_reporting=1\ngroup_reporting\n{_READER}{_WRITER}",
    "one-by-one": f"{_GLOBAL}[first]\nrw=randread\n[second]\nstonewall\nrw=write\nbs=64k\n",
    "late": f"{_GLOBAL}[first]\nrw=randread\n[second]\nstartdelay=1\nrw=write\nbs=64k\n",
    "uneven": f"{_SHORT}time_based\n[long]\nrw=randread\nruntime=4\n[short]\nrw=write\nruntime=1\n",
    "trims": "[t]\nioengine=null\nsize=8m\nlat_percentiles=1\nrw=randtrim\nnumber_ios=2000\n",
    "variables": f"{_GLOBAL}[v]\nrw=randread\niodepth=${{DEPTH}}\n",
    "range": f"{_SHORT}[b]\nrw=randread\nbsrange=4k-16k\niodepth=2\n",
    "zones": f"{_SHORT}norandommap\n[z]\nrw=randread\nrandom_distribution=zoned:60/10:40/90\n",
}
"""Job files; DEPTH is 4."""

CLIENTS = {
    "client-one": f"{_GLOBAL}{_READER}",
    "client-two": f"{_GLOBAL}{_READER}{_WRITER}",
    "client-grouped": f"{_GLOBAL}group_reporting\n{_READER}{_WRITER}",
    "client-unified": f"{_GLOBAL}unified_rw_reporting=1\n{_READER}",
}
"""Job files that a server of fio runs."""

_FIGURES = ("total_ios", "io_bytes", "iops", "runtime")
_LATENCY = ("min", "max", "mean")
_PERCENTS = ("1.000000", "50.000000", "99.000000", "99.900000")
_ENTRY = ("jobname", "groupid", "error", "elapsed", "hostname", "job options", "job_runtime")


def trimmed(output: dict[str, Any]) -> dict[str, Any]:
    """Return what is read of a result."""
    heads = ("fio version", "global options")
    found: dict[str, Any] = {key: output[key] for key in heads if key in output}
    for key in ("jobs", "client_stats"):
        if key in output:
            found[key] = [_entry(each) for each in output[key]]
    return found


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    found = {key: entry[key] for key in _ENTRY if key in entry}
    found["iodepth_level"] = {key: share for key, share in entry["iodepth_level"].items() if share}
    for direction in ("read", "write", "trim", "mixed"):
        if direction in entry:
            figures = entry[direction]
            latency = figures["lat_ns"]
            kept = {key: latency[key] for key in _LATENCY}
            percentiles = latency.get("percentile", {})
            kept["percentile"] = {key: percentiles[key] for key in _PERCENTS if key in percentiles}
            found[direction] = {"total_ios": 0}
            if figures["total_ios"]:
                found[direction] = {key: figures[key] for key in _FIGURES} | {"lat_ns": kept}
    return found


def _run(arguments: list[str], folder: Path) -> dict[str, Any]:
    environment = {"DEPTH": "4", "PATH": "/usr/bin:/bin"}
    out = subprocess.run(
        ["fio", "--output-format=json", *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    ).stdout
    found: dict[str, Any] = json.loads(out[out.index("{\n") :])
    return found


def _record() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill = "--name=fill --filename=FILE --size=8m --rw=write --bs=1m"
        _run(fill.split(), folder)
        results = {}
        for run, command in COMMANDS.items():
            results[run] = _run(command.split(), folder)
        for run, text in FILES.items():
            (folder / f"{run}.fio").write_text(text)
            results[run] = _run([f"{run}.fio"], folder)
        socket = folder / "socket"
        with subprocess.Popen(["fio", f"--server=sock:{socket}"], cwd=folder) as server:
            while not socket.exists():
                time.sleep(0.05)
            for run, text in CLIENTS.items():
                (folder / f"{run}.fio").write_text(text)
                results[run] = _run([f"--client=sock:{socket}", f"{run}.fio"], folder)
            server.terminate()
    lines = []
    for run, output in results.items():
        told = COMMANDS.get(run) or FILES.get(run) or CLIENTS[run]
        kept = {"name": run, "command": told, "output": trimmed(output)}
        lines.append(json.dumps(kept).replace(str(folder), ""))
    RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    _record()
