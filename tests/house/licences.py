"""Licences of what users install with us, by `cargo tree` and pip-licenses: `make licences`."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires
from operator import and_, or_
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

ALLOWED = frozenset([
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0",
    "PSF-2.0", "Unicode-3.0", "Unlicense", "Zlib",
])  # fmt: skip
"""SPDX names of what may be passed on under Apache-2.0 OR MIT with no more than a notice."""
NAMED_OTHERWISE = {
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Classifiers and free text of Python packages, and the SPDX names that they mean."""
UNCHANGED = frozenset(["certifi", "tqdm"])
"""Under MPL-2.0: used as they are by pip's own means, and no file of theirs is ours."""
DEVELOPMENT = frozenset(["dev", "build", "site"])
"""Extras that nobody installs who only uses the program."""
_WORDS = re.compile(r"\(|\)|[^\s()]+")


class Package(NamedTuple):
    """A package of others, and its licence as its author writes it."""

    language: str
    name: str
    licence: str


def allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met by the licences that we allow.

    A licence with an exception grants no less than the licence.
    """
    words = _WORDS.findall(expression.replace("/", " OR "))
    words = [word for at, word in enumerate(words) if "WITH" not in (word, words[at - 1])]
    return bool(words) and _any(words) and not words


def _any(words: list[str]) -> bool:
    return _chain(words, "OR", _all, or_)


def _all(words: list[str]) -> bool:
    return _chain(words, "AND", _one, and_)


def _chain(
    words: list[str],
    word: str,
    part: Callable[[list[str]], bool],
    joined: Callable[[bool, bool], bool],
) -> bool:
    """Take parts from the words as long as this word stands between them."""
    found = part(words)
    while words and words[0] == word:
        words.pop(0)
        found = joined(found, part(words))
    return found


def _one(words: list[str]) -> bool:
    word = words.pop(0) if words else ""
    if word != "(":
        return word in ALLOWED
    found = _any(words)
    return bool(words) and words.pop(0) == ")" and found


def crates() -> Iterator[Package]:
    """Everything that is linked into what we ship, or builds it."""
    command = ["cargo", "tree", "--workspace", "--edges", "normal,build", "--prefix", "none",
               "--no-dedupe", "--locked", "--format", "{p}\t{l}"]  # fmt: skip
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for line in sorted(set(told.splitlines())):
        if line:
            name, _, licence = line.partition("\t")
            yield Package("Rust", name.partition(" ")[0], licence)


def distributions() -> Iterator[Package]:
    """Everything that our package and its extras for users need, as far as it is installed."""
    names = sorted(needed("reprieve"))
    command = [sys.executable, "-m", "piplicenses", "--format=json", "--from=mixed", "--packages"]
    told = subprocess.run([*command, *names], capture_output=True, text=True, check=True).stdout
    for found in json.loads(told):
        licence = found["License"]
        words = [NAMED_OTHERWISE.get(part.strip(), part.strip()) for part in licence.split(";")]
        yield Package("Python", found["Name"], " AND ".join(words))


def needed(name: str) -> set[str]:
    """Names of what a distribution needs, and of what that does."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        try:
            rules = requires(one) or []
        except PackageNotFoundError:
            # Of another system, or an extra that is not installed.
            continue
        for rule in rules:
            extra = re.search(r"extra == ['\"]([\w-]+)['\"]", rule)
            # Of the extras those of ours for users; of others none.
            if extra and (one != name or extra[1] in DEVELOPMENT):
                continue
            new = set(re.findall(r"^[\w.-]+", rule)) - found - {name}
            found |= new
            waiting += new
    return found


def packages() -> list[Package]:
    """Return all of them."""
    return [*crates(), *distributions()]


def main() -> int:
    """Print them; the exit status is 1 if one may not be passed on."""
    found = packages()
    for package in found:
        sys.stdout.write(f"{package.language:8}{package.name:32}{package.licence}\n")
    refused = [each for each in found if not may_ship(each)]
    for each in refused:
        sys.stderr.write(f"not allowed: {each.name}: {each.licence}\n")
    return 1 if refused else 0


def may_ship(package: Package) -> bool:
    """Whether we may pass a package on, or have users install it."""
    return package.name in UNCHANGED or allowed(package.licence)


if __name__ == "__main__":
    sys.exit(main())
