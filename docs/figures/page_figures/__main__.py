"""Run studies and record the numbers that pages quote: `make figures`."""

import argparse
import sys
from pathlib import Path

from reprieve import UserError

from .pages import fill, names, recorded
from .studies import STUDIES, Wanted, record


def main() -> int:
    """Return the exit status: 1 if a page says what its numbers do not."""
    parser = argparse.ArgumentParser(prog="page_figures", description=__doc__)
    parser.add_argument(
        "studies", nargs="*", metavar="STUDY", help=f"{', '.join(STUDIES)}; all where none is named"
    )
    parser.add_argument("--mqsim", type=Path, metavar="DIR", help="where MQSim's inputs are")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep results, and go on from them"
    )
    given = parser.parse_args()
    for name in given.studies:
        if name not in STUDIES:
            parser.error(f"{name}: must be one of {', '.join(STUDIES)}")
    wanted = Wanted(given.mqsim, given.keep)
    # What not everybody has, so that who has none can still run all the rest: inputs that are not
    # in the project.
    needs = {"mqsim": given.mqsim}
    every = [
        name
        for name, study in STUDIES.items()
        if not study.is_apart and (name not in needs or needs[name] is not None)
    ]
    for name in given.studies or every:
        print(f"{name}: {STUDIES[name].what}", flush=True)
        record(name, wanted)
    numbers = recorded()
    broken = [f"{path}: {words}" for path in names() for words in fill(path, numbers).broken]
    for line in broken:
        print(f"no longer so: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
