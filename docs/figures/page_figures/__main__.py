"""Run studies, record their numbers, and write the pages: `make figures`."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from reprieve import UserError

from .pages import ROOT, SUFFIX, TEMPLATES, fill, names, recorded
from .studies import STUDIES, Wanted, record


def main() -> int:
    """Return the exit status: 1 if a page says what its numbers do not."""
    parser = argparse.ArgumentParser(prog="page_figures", description=__doc__)
    parser.add_argument(
        "studies", nargs="*", metavar="STUDY", help=f"{', '.join(STUDIES)}; all where none is named"
    )
    parser.add_argument("--pages", action="store_true", help="run nothing, write the pages")
    parser.add_argument(
        "--adopt", action="store_true", help="take what was written into pages into their templates"
    )
    parser.add_argument("--mqsim", type=Path, metavar="DIR", help="where MQSim's inputs are")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep results, and go on from them"
    )
    given = parser.parse_args()
    for name in given.studies:
        if name not in STUDIES:
            parser.error(f"{name}: must be one of {', '.join(STUDIES)}")
    if given.adopt:
        return 1 if [path for path in names() if adopt(path, recorded())] else 0
    wanted = Wanted(given.mqsim, given.keep)
    # What not everybody has, so that who has none can still run all the rest: inputs that are not
    # in the project.
    needs = {"mqsim": given.mqsim}
    every = [
        name
        for name, study in STUDIES.items()
        if not study.is_apart and (name not in needs or needs[name] is not None)
    ]
    for name in [] if given.pages else given.studies or every:
        print(f"{name}: {STUDIES[name].what}", flush=True)
        record(name, wanted)
    numbers = recorded()
    broken = [f"{path}: {words}" for path in names() for words in write(path, numbers)]
    for line in broken:
        print(f"no longer so, nothing written: {line}", file=sys.stderr)
    return 1 if broken else 0


def adopt(path: str, numbers: dict[str, object]) -> bool:
    """Take into a template what was changed on its page by hand; return whether they disagree.

    Lines with numbers that were changed on the page are left to whoever did so, as a merge leaves
    them.
    """
    template = TEMPLATES / f"{path}{SUFFIX}"
    with tempfile.TemporaryDirectory() as folder:
        filled = Path(folder, "filled")
        filled.write_text(fill(path, numbers).text, encoding="utf-8")
        command = ["git", "merge-file", "-L", "template", "-L", "filled", "-L", "page"]
        done = subprocess.run([*command, template, filled, ROOT / path], check=False)
    if done.returncode:
        print(f"{template}: look for <<<<<<<", file=sys.stderr)
    return done.returncode != 0


def write(path: str, numbers: dict[str, object]) -> tuple[str, ...]:
    """Write a page unless it says what its numbers do not; return what that is."""
    page = fill(path, numbers)
    if not page.broken:
        (ROOT / path).write_text(page.text, encoding="utf-8")
    return page.broken


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
