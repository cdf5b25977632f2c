"""Measurement plan: job files of fio that reveal most of a drive, and a script that runs them."""

from pathlib import Path
from typing import NamedTuple

_READ_BYTES = (4, 16)
_READ_DEPTHS = (1, 4, 16, 64, 256)
_RATES_MIB = (10, 50, 250, 1000)
_MIXED_DEPTHS = (1, 8, 32, 128)
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
    rate = f"rate=,{run.write_mib_per_s}m\n"
    fill = f"[fill]\nrw=write\nbs=128k\niodepth=1\n{rate}\n" if run.write_mib_per_s else ""
    template = Path(__file__).with_name("job.template").read_text(encoding="utf-8")
    return template.format(engine=engine, ramp_s=_RAMP_S, run_s=run_s, fill=fill, run=run)
