"""Run everything again and compare its hashes with the recorded ones: `make same`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reprieve import UserError
from reprieve.parallel import each
from reprieve.simulation import Watch

from . import record
from .cases import FAMILIES, ROOT, Case
from .values import digest

HASHES = ROOT / "tests/same/hashes.json"
Families = Mapping[str, Callable[[], list[Case]]]


def main(
    words: Sequence[str] | None = None, families: Families = FAMILIES, path: Path = HASHES
) -> int:
    """Return the exit status: 1 if a result differs, 2 for a mistake of the user."""
    parser = argparse.ArgumentParser(prog="make same", description=__doc__)
    parser.add_argument("--only", default="", metavar="CASE", help="how their names begin")
    parser.add_argument("--record", action="store_true", help="renew the recorded hashes")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the results too, as JSON")
    parser.add_argument("--jobs", type=int, metavar="N", help="at a time; one a core")
    asked = parser.parse_args(words)
    # Results of this build: no state that an earlier one has kept.
    os.environ["REPRIEVE_STATES"] = "off"
    try:
        return _same(asked, families, path)
    except UserError as error:
        print(f"make same: {error}", file=sys.stderr)
        return 2


def _same(asked: argparse.Namespace, families: Families, path: Path) -> int:
    recorded = {} if asked.record else record.read(path)
    cases = _meant(families, asked.only)
    found: dict[str, str] = {}
    for values in each(cases, asked.jobs, lambda case, watch: _run(case, watch, asked.out)):
        found |= values
    if asked.record:
        record.renew(path, found, asked.only)
        print(f"recorded {len(found)} results of {len(cases)} cases in {path}")
        return 0
    lines = record.differences(found, recorded, asked.only)
    for line in lines:
        print(line)
    if lines:
        print(
            f"{len(lines)} results are not as recorded, of {len(found)}. If that is meant: make "
            'same RECORD=1, and a line under "Results change" in CHANGELOG.md.'
        )
        return 1
    print(f"all {len(found)} results of {len(cases)} cases are as recorded")
    return 0


def _meant(families: Families, only: str) -> list[Case]:
    """Return the cases that are asked for; UserError if there are none."""
    some = [make for family, make in families.items() if record.is_family_meant(family, only)]
    cases = [case for make in some for case in make() if record.is_meant(case.name, only)]
    if not cases:
        known = ", ".join(f"{family}/…" for family in families)
        raise UserError(f'ONLY="{only}" is the beginning of no case; they are {known}')
    return cases


def _run(case: Case, watch: Watch, out: Path | None) -> dict[str, str]:
    """Run a case, and return the hashes of its results by their names."""
    try:
        values = case.run(watch)
    except UserError as error:
        raise UserError(f"{case.name}: {error}") from None
    except BaseException as error:
        error.add_note(f"in {case.name}: make same ONLY='{case.name}' repeats it")
        raise
    if out is not None:
        for kind, value in values.items():
            _write(out / case.name / f"{kind}.json", value)
    return {f"{case.name}/{kind}": digest(value) for kind, value in values.items()}


def _write(path: Path, value: Any) -> None:
    """Write a value a line, so that two programs' results can be laid side by side."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
