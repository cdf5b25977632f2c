"""Measurement plan: job files of fio that reveal most of a drive, and a script that runs them."""

from pathlib import Path
from typing import NamedTuple

_READ_BYTES = (4, 16)
_READ_DEPTHS = (1, 4, 16, 64, 256)
_RATES_MIB = (10, 50, 250, 1000)
_MIXED_DEPTHS = (1, 8, 32, 128)
_PERCENTILES = "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"
RUN_S = 60
"""At depth 1 some 600,000 reads: 600 above p99.9."""
_RAMP_S = 5


class Planned(NamedTuple):
    """A run of fio."""

    name: str
    read_kib: int
    depth: int
    write_mib_per_s: int
    """0: nothing is written."""


def runs() -> list[Planned]:
    """List the runs: reads alone, which tell of reads, then reads beside writes."""
    alone = [
        Planned(f"read-{size}k-depth{depth}", size, depth, 0)
        for size in _READ_BYTES
        for depth in _READ_DEPTHS
    ]
    mixed = [
        Planned(f"read-4k-depth{depth}-write{rate}", 4, depth, rate)
        for rate in _RATES_MIB
        for depth in _MIXED_DEPTHS
    ]
    return alone + mixed


def job_files(engine: str = "libaio", run_s: int = RUN_S) -> dict[str, str]:
    """Return the files by their names: a job file for each run, and `run.sh`."""
    planned = runs()
    files = {f"{run.name}.fio": job_file(run, engine, run_s) for run in planned}
    minutes = round(len(planned) * (run_s + _RAMP_S) / 60)
    script = Path(__file__).with_name("run.template").read_text(encoding="utf-8")
    files["run.sh"] = script.format(minutes=minutes)
    return files


def job_file(run: Planned, engine: str, run_s: int) -> str:
    """Write the job file of a run."""
    lines = [
        "[global]",
        "filename=${DEVICE}",
        f"ioengine={engine}",
        "direct=1",
        "thread=1",
        "size=100%",
        "time_based",
        f"ramp_time={_RAMP_S}s",
        f"runtime={run_s}s",
        "lat_percentiles=1",
        f"percentile_list={_PERCENTILES}",
    ]
    if run.write_mib_per_s:
        rate = f"rate=,{run.write_mib_per_s}m"
        lines += ["", "[fill]", "rw=write", "bs=128k", "iodepth=1", rate]
    size = f"bs={run.read_kib}k"
    lines += ["", "[read]", "rw=randread", size, f"iodepth={run.depth}", "norandommap=1"]
    return "\n".join(lines) + "\n"
