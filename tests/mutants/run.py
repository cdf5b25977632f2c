"""Plants faults in a copy of the sources, one at a time, and demands that a test finds each.

`python tests/mutants/run.py TABLE [WORD]`: the table has the arguments of `cargo test` and, for
each fault, a file, a text that is in it once, and the text in its place; WORD selects by what it
breaks.
"""

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPY = ROOT / "target/mutants"
SOURCES = ("Cargo.toml", "Cargo.lock", "benches", "crates", "devices", "loads", "parts")


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def copy_sources() -> None:
    """Bring the copy up to date; files that are right keep their times, so that little is built."""
    for path in [file for name in SOURCES for file in (ROOT / name, *(ROOT / name).rglob("*"))]:
        there = COPY / path.relative_to(ROOT)
        if path.is_file() and (not there.exists() or there.read_bytes() != path.read_bytes()):
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, there)


def cargo_test(arguments: list[str]) -> tuple[bool, str]:
    """Run the tests in the copy; whether they pass, and what they print."""
    command = ["cargo", "test", "--quiet", *arguments]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(COPY / "target"), "RUST_BACKTRACE": "0"}
    done = subprocess.run(
        command, cwd=COPY, env=environment, capture_output=True, text=True, check=False
    )
    output = done.stdout + done.stderr
    if done.returncode != 0 and "test result: FAILED" not in output:
        sys.exit(f"the tests could not be built:\n{output}")
    return done.returncode == 0, output


def main(table: Path, word: str = "") -> None:
    """Plant each fault; exit status 1 if one is not found."""
    known = tomllib.loads(table.read_text())
    copy_sources()
    passes, output = cargo_test(known["test"])
    if not passes:
        sys.exit(f"the tests fail without a fault:\n{output}")
    mutants = [mutant for mutant in known["mutant"] if word in mutant["breaks"]]
    survivors = 0
    for mutant in mutants:
        place = COPY / mutant["file"]
        right = place.read_text()
        if right.count(mutant["old"]) != 1:
            sys.exit(f"{mutant['breaks']}: {mutant['file']} does not have its text once")
        place.write_text(right.replace(mutant["old"], mutant["new"]))
        start = time.monotonic()
        try:
            passes, output = cargo_test(known["test"])
        finally:
            place.write_text(right)
        survivors += passes
        found = re.search(r"(\d+ steps); again: \w+=(\d+)", output)
        how = "NOT FOUND" if passes else f"{found[1]}, history {found[2]}" if found else "found"
        say(f"{time.monotonic() - start:5.0f} s  {how:26} {mutant['breaks']}")
    say(f"{len(mutants) - survivors} of {len(mutants)} found")
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
