"""Print where the instructions of the fixed loads go, and how far rivals get with fewer.

Counts do not depend on what else the machine does. The drive is small, so that preconditioning is
short, and two runs of different length are subtracted, so that it does not count at all. One is
twice as long as the other: then both have equally many batches of latencies, whose evaluation at
the end would count else.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

BENCH = os.environ.get("REPRIEVE_BENCH", "target/release/reprieve-bench")
SHORT, LONG = 100_000, 200_000
SMALL = ["geometry.blocks_per_plane=64"]
TIMED, RUNS = 1_000_000, 5
RIVALS: dict[str, list[str]] = {"equal": [], "main": SMALL, "tlc": SMALL, "open": SMALL}
LINE = re.compile(r"\s*([\d,]+) \([ \d.]+%\)\s+(\S+?):(.+?)(?: \[.*\])?$")

# The part of the program that a source file or function belongs to, first match wins.
PARTS = [
    ("what requests waited for", "blame|in_the_way|observe/(accounts|clocks)"),
    ("event queue", "base/src/event"),
    ("host interface", "ssd/src/drive/interface"),
    ("dispatcher", "policy/src/dispatch|flash/src/(dispatch|occupancy)"),
    ("account of power", "observe/src/power|flash/src/observe/power"),
    ("bit errors", "nand/src/(worst|reliability)|flash/src/(media|decode)|libm"),
    ("die", "nand/src"),
    ("dies and channels", "flash/src"),
    ("scheduling and suspension policy", "policy/src/s(ched|uspend)"),
    ("garbage collection", "ftl/src/collect"),
    ("mapping and placement", "ftl/src"),
    ("host, buffer, loop", "ssd/src|base/src/slab"),
    ("statistics", "observe/src/stats"),
    ("workload generator", "trace/src|rand_|base/src/rng"),
    ("time arithmetic", "base/src"),
]


def count(requests: int, sets: list[str], load: str) -> tuple[int, Counter[str]]:
    """Run under callgrind; return page transactions and instructions by part."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", BENCH]
        run = subprocess.run(
            [*command, *load.split(), str(requests), *sets],
            capture_output=True,
            text=True,
            check=True,
        )
        annotate = subprocess.run(
            ["callgrind_annotate", "--threshold=100", "--auto=no", str(out)],
            capture_output=True,
            text=True,
            check=True,
        )
    parts: Counter[str] = Counter()
    for line in annotate.stdout.splitlines():
        found = LINE.match(line)
        if found:
            where = found[2] if "crates/" in found[2] else found[3]
            where = where.replace("reprieve_", "").replace("::", "/src/", 1).replace("::", "/")
            part = next((name for name, key in PARTS if re.search(key, where)), "other")
            parts[part] += int(found[1].replace(",", ""))
    return int(run.stdout.split(maxsplit=1)[0]), parts


def per_transaction(sets: list[str], load: str = "main") -> Counter[str]:
    """Return instructions a page transaction by part, in thousandths."""
    (few, start), (many, end) = count(SHORT, sets, load), count(LONG, sets, load)
    return Counter({part: 1000 * (end[part] - start[part]) // (many - few) for part in end})


def main() -> None:
    """Print the table for the fixed load, and the totals of other loads, small and large drives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, help="the file of results to add the numbers to")
    parser.add_argument("--rivals", action="store_true", help="compare with the rivals, no more")
    arguments = parser.parse_args()
    if not (counts_them := bool(shutil.which("valgrind"))):
        print("Instructions are not counted: valgrind was not found (apt-get install valgrind).")
    if arguments.rivals:
        record(arguments.record, "rivals", rivals(counts_them))
    elif counts_them:
        loads = {"main": by_part("main", SMALL), **with_log(), **others()}
        counts = {**loads, "dies": by_dies(), "capacity_gib": by_capacity()}
        record(arguments.record, "instructions_a_transaction", counts)


def record(path: Path | None, name: str, numbers: Mapping[str, object]) -> None:
    """Add numbers to the file of results, if there is one."""
    if path:
        results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        results[name] = numbers
        path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def rivals(counts_them: bool) -> dict[str, dict[str, list[float]]]:
    """Print and return instructions and time of the product and of its rivals."""
    print("Product and rival, a page transaction: instructions (callgrind), ns (median of runs)")
    print("  load   instructions            ratio    ns            ratio")
    results = {}
    for load, sets in RIVALS.items():
        words = [f"product {load}", f"rival {load}"]
        counts = [float(per_transaction(sets, word).total()) for word in words if counts_them]
        row = {"instructions": [count / 1000 for count in counts], "ns": by_turns(words)}
        results[load] = row
        numbers = [
            f"{values[0]:9,.0f} {values[1]:9,.0f} {values[0] / values[1]:7.2f}" if values else ""
            for values in row.values()
        ]
        print(f"  {load:5}" + "  ".join(f"{number:27}" for number in numbers).rstrip(), flush=True)
    return results


def by_turns(loads: list[str]) -> list[float]:
    """Return the median time of a page transaction of each load, run by turns."""
    times: dict[str, list[float]] = {load: [] for load in loads}
    for _ in range(RUNS):
        for load in loads:
            command = [BENCH, *load.split(), str(TIMED)]
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            times[load].append(float(run.stdout.split(", ")[2].split()[0]))
    return [statistics.median(times[load]) for load in loads]


def by_part(load: str, sets: list[str]) -> float:
    """Print the table of a load by part of the program; return the total."""
    parts = per_transaction(sets, load)
    total = sum(parts.values())
    print(f"Instructions of the load {load} on a small drive (callgrind):")
    for part, thousandths in parts.most_common():
        print(f"  {thousandths / 1000:8.1f}  {100 * thousandths / total:5.1f} %  {part}")
    print(f"  {total / 1000:8.1f}  in all")
    return total / 1000


def with_log() -> dict[str, float]:
    """Print and return the totals with the log of requests, and without what they waited for.

    Most of that is part of functions that do something else too, so two runs are compared.
    """
    log = sum(per_transaction([*SMALL, "--log", "--leave-out-causes"]).values()) / 1000
    blame = sum(per_transaction([*SMALL, "--log"]).values()) / 1000 - log
    print(f"  {log:8.1f}  with the log of requests")
    print(f"  {blame:8.1f}  more for what they waited for, {blame / log:.1%}")
    return {"log": log, "blame": blame}


def others() -> dict[str, float]:
    """Print and return the totals of the other loads, each as it is ready in a minute."""
    totals = {"equal": by_part("equal", [])}
    print("Other loads, on small drives:")
    # Random writes come before the steady state of `everything` as requests, two million of them.
    own = {"tlc": SMALL, "everything": [*SMALL, "ftl.precondition=sequential"]}
    for load, sets in own.items():
        totals[load] = sum(per_transaction(sets, load).values()) / 1000
        print(f"  {totals[load]:8.1f}  {load}")
    return totals


def by_dies() -> dict[str, float]:
    """Print and return the totals by dies, with 4 requests a die."""
    print("The same by dies (4 requests a die) and by capacity:")
    totals = {}
    for dies in (1, 1024):
        sets = [
            f"geometry.channels={dies}",
            f"geometry.blocks_per_plane={16384 // dies}",
            f"workload.queue_depth={4 * dies}",
            f"host.link_bytes_per_s={125_000_000 * dies}",
            f"ftl.over_provisioning={0.3 + 2.5 / (16384 // dies)}",
        ]
        totals[str(dies)] = sum(per_transaction(sets).values()) / 1000
        print(f"  {totals[str(dies)]:8.1f}  {dies} dies")
    return totals


def by_capacity() -> dict[str, float]:
    """Print and return the totals by capacity."""
    totals = {}
    for gib in (1, 16):
        sets = [f"geometry.blocks_per_plane={32 * gib}"]
        totals[str(gib)] = sum(per_transaction(sets).values()) / 1000
        print(f"  {totals[str(gib)]:8.1f}  {gib} GiB")
    return totals


if __name__ == "__main__":
    main()
