"""Print what a base installation of a wheel takes; fails if that is more than is promised."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

# Of all, most of which is numpy.
LIMIT_MB = 130
# Of the part that is ours: with debugging information it is over 60.
LIMIT_OWN_MIB = 20
MIB = 1 << 20


def sizes(place: Path) -> Counter[str]:
    """Return the bytes of the files below each entry of a folder, in whole pages as on a disk."""
    found: Counter[str] = Counter()
    for path in place.rglob("*"):
        if path.is_file() and not path.is_symlink():
            found[path.relative_to(place).parts[0]] += -(-path.stat().st_size // 4096) * 4096
    return found


def main(wheel: str) -> int:
    """Install the wheel where there is nothing, print the table, and judge it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--ignore-installed", "--target", folder, wheel],
            check=True,
        )  # fmt: skip
        found = sizes(Path(folder))
    total = sum(found.values())
    for name, size in found.most_common(8):
        print(f"{size / MIB:7.1f} MiB  {name}")
    print(f"{total / MIB:7.1f} MiB  in all: {total / 1e6:.0f} MB of the {LIMIT_MB} MB allowed")
    if total > LIMIT_MB * 1e6:
        print(f"the base installation takes more than {LIMIT_MB} MB", file=sys.stderr)
    if found["reprieve"] > LIMIT_OWN_MIB * MIB:
        print(f"reprieve itself takes more than {LIMIT_OWN_MIB} MiB", file=sys.stderr)
    return int(total > LIMIT_MB * 1e6 or found["reprieve"] > LIMIT_OWN_MIB * MIB)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
