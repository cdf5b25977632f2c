"""Print what the C interface costs: instructions a request, counted by callgrind.

The same requests go through a run and through the interface, in three ways; two runs of different
length are subtracted, so that preconditioning does not count.
"""

import re
import shutil
import subprocess

PROGRAM = "target/release/examples/instructions"
SHORT, LONG = 20_000, 40_000
WAYS = {
    "run": "reprieve run",
    "batches": "a trace: submitted ahead, reprieve_run to 64 completions",
    "stops": "reprieve_run to each arrival and completion",
    "steps": "reprieve_next and reprieve_advance to each instant",
}


def count(way: str, requests: int) -> tuple[int, str]:
    """Return the instructions of a program, and what it says of the latencies."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, way]
    run = subprocess.run([*command, str(requests)], capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if found is None:
        raise SystemExit(run.stderr)
    return int(found[1]), run.stdout


def main() -> None:
    """Print the table; end with an error if the ways differ in what they simulate."""
    if not shutil.which("valgrind"):
        print("Instructions are not counted: valgrind was not found (apt-get install valgrind).")
        return
    build = ["cargo", "build", "--release", "-p", "reprieve-capi", "--example", "instructions"]
    subprocess.run(build, check=True)
    of_run, told = 0, ""
    for way, what in WAYS.items():
        (few, _), (many, says) = count(way, SHORT), count(way, LONG)
        each = (many - few) // (LONG - SHORT)
        of_run, told = of_run or each, told or says
        if says != told:
            raise SystemExit(f"{what}: {says}, and {told} in a run")
        print(f"  {each:6}  {100 * (each - of_run) / of_run:+5.1f} %  {what}")


if __name__ == "__main__":
    main()
