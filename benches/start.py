"""Print the CPU time of a small `reprieve run` as a user starts it, imports and files included."""

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 9
SCENARIO = """
seed = 7
device = "fast12-mlc"

[geometry]
channels = 2
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 16

[workload]
generator = "mixed"
requests = 3000
read_fraction = 0.7
request_bytes = 8192
arrivals = "poisson"
rate_iops = 1500
"""


def cpu_s(command: list[str]) -> float:
    """Run a command and return what it took of all cores, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Run it some times and print the median and the least."""
    program = str(Path(sys.executable).with_name("reprieve"))
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, "small.toml")
        scenario.write_text(SCENARIO)
        run = [program, "run", str(scenario), "--out", str(Path(folder, "out"))]
        for what, command in (
            ("reprieve run, 3000 requests", run),
            ("import reprieve", [sys.executable, "-c", "import reprieve"]),
        ):
            took_s = [cpu_s(command) for _ in range(RUNS)]
            print(
                f"  {statistics.median(took_s):.3f} s of CPU ({min(took_s):.3f} at least, of "
                f"{RUNS} runs)  {what}"
            )


if __name__ == "__main__":
    main()
