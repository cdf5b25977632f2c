"""Applies each mutant to a copy of the sources, and fails if a search does not catch it."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mutants import ROOT, TABLES, Mutant, mutants

# Parts of the tree that the searches need to compile.
COPIED = (
    "Cargo.toml",
    "Cargo.lock",
    "ARCHITECTURE.md",
    "crates",
    "benches",
    "fuzz",
    "devices",
    "parts",
    "loads",
)


def searches(
    copy: Path, search: tuple[str, ...], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run a search, or only compile it."""
    target = {"CARGO_TARGET_DIR": str(ROOT / "target" / "mutants")}
    # One that goes on for ever is caught, too.
    return subprocess.run(
        ["timeout", "600", "cargo", "test", "--quiet", *search, *arguments],
        cwd=copy,
        env=os.environ | target,
        capture_output=True,
        text=True,
        check=False,
    )


def survives(copy: Path, mutant: Mutant) -> str | None:
    """Return why a mutant is not caught, or nothing."""
    path = copy / mutant.file
    whole = path.read_text()
    path.write_text(mutant.apply(whole))
    try:
        compiled = searches(copy, mutant.search, "--no-run")
        if compiled.returncode:
            return f"does not compile:\n{compiled.stderr}"
        return None if searches(copy, mutant.search).returncode else "survives"
    finally:
        path.write_text(whole)


def main() -> int:
    """Run the searches on the copy as it is, then on each mutant of it."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", default=[""], help="mutants whose file or law has one of these in it"
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}")
    options = parser.parse_args()
    if unknown := set(options.tables) - set(TABLES):
        parser.error(f"no table is called {', '.join(sorted(unknown))}")
    all_of = mutants(*options.tables)
    chosen = [one for one in all_of if any(part in one.file + one.breaks for part in options.only)]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            # As new files: what was built of an earlier copy is out of date.
            if source.is_dir():
                shutil.copytree(source, copy / name, copy_function=shutil.copy)
            else:
                shutil.copy(source, copy / name)
        for search in sorted({mutant.search for mutant in chosen}):
            unchanged = searches(copy, search)
            if unchanged.returncode:
                sys.exit(f"{' '.join(search)} fails without a mutant:\n{unchanged.stdout}")
        for mutant in chosen:
            why = survives(copy, mutant)
            print(f"{why or 'caught'}: {mutant.breaks} ({mutant.file})", flush=True)
            missed += [mutant] if why else []
    print(f"{len(chosen) - len(missed)} of {len(chosen)} mutants are caught")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
