"""Does a sweep with workers that SLURM has started, and asks for what the same sweep gives here."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from dask_jobqueue import SLURMCluster

SCENARIO = """
device = "fast12-mlc"
[geometry]
channels = 2
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 16
[workload]
generator = "mixed"
requests = 20000
read_fraction = 0.7
request_bytes = 8192
arrivals = "poisson"
rate_iops = 1500
"""

SWEEP = """
scenario = "scenario.toml"
design = "grid"
seeds = 4
[axes]
policy = ["fifo", "rps", "pes-ipc"]
"workload.rate_iops" = [500, 1000, 1500]
"""


def sweep(folder: Path, out: str, *arguments: str) -> str:
    """Run the command and return what it printed."""
    code = "import sys; from reprieve.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "sweep", "sweep.toml", "--out", out, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def main(folder: Path) -> None:
    """Run the sweep on the cluster, with a job cancelled in the middle, and here."""
    (folder / "scenario.toml").write_text(SCENARIO)
    (folder / "sweep.toml").write_text(SWEEP)
    with SLURMCluster(
        queue="all",
        cores=1,
        processes=1,
        memory="1GB",
        walltime="00:30:00",
        interface="lo",
        log_directory=str(folder),
        scheduler_options={"dashboard_address": None},
    ) as cluster:
        cluster.scale(jobs=2)
        began_s = time.monotonic()
        with subprocess.Popen(
            [sys.executable, __file__, "--sweep", str(folder), cluster.scheduler_address]
        ) as process:
            while len(list(folder.glob("there/segments/*.parquet"))) < 1:
                assert process.poll() is None, "the sweep ended before its first runs"
                time.sleep(0.01)
            jobs = subprocess.run(
                ["squeue", "--noheader", "--format=%i"], capture_output=True, text=True, check=True
            ).stdout.split()
            assert len(jobs) == 2, jobs
            subprocess.run(["scancel", jobs[0]], check=True)
            assert process.wait() == 0
        sys.stdout.write(f"on SLURM: 36 runs in {time.monotonic() - began_s:.1f} s\n")
    sweep(folder, "here")
    for name in ("runs.parquet", "points.parquet"):
        there, here = folder / "there" / name, folder / "here" / name
        assert there.read_bytes() == here.read_bytes(), f"{name} differs"
    sys.stdout.write("the data sets of SLURM's workers and of this process are the same\n")


if __name__ == "__main__":
    if sys.argv[1] == "--sweep":
        printed = sweep(Path(sys.argv[2]), "there", "--scheduler", sys.argv[3])
        assert "36 runs, of which 36 were done now" in printed, printed
    else:
        main(Path(sys.argv[1]))
