"""Compare two folders of results to the last bit; exit status 1 if they differ."""

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq


def summary(folder: Path) -> dict[str, object]:
    """Return the summary as text, so that no number is rounded."""
    read = json.loads(
        (folder / "summary.json").read_text(encoding="utf-8"), parse_float=str, parse_int=str
    )
    return dict(read)


def main(arm: Path, here: Path) -> int:
    """Compare, and say in a line what was found."""
    if sorted(path.name for path in arm.iterdir()) != sorted(path.name for path in here.iterdir()):
        print(f"{arm} and {here} do not hold the same files", file=sys.stderr)
        return 1
    ours, theirs = summary(here), summary(arm)
    differing = [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)]
    rows = pq.read_table(here / "requests.parquet")
    if not rows.equals(pq.read_table(arm / "requests.parquet")):
        differing.append("requests.parquet")
    scenario = (path / "scenario.toml" for path in (here, arm))
    if len({path.read_bytes() for path in scenario}) > 1:
        differing.append("scenario.toml")
    if differing:
        print(f"{arm} and {here} differ in {', '.join(sorted(differing))}", file=sys.stderr)
        return 1
    print(f"{arm.name}: {rows.num_rows:,} requests and the summary are the same on ARM")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
