"""Versions with hashes for development, in requirements/: `make pins` renews them with uv."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "requirements"

PROJECT = "reprieve"
BASE = ""
"""Packages that it needs without any extra."""
EVERY = "*"

FILES = {
    "build": ("build",),
    "demo": (BASE, "plots", "sweep"),
    "dev": (EVERY,),
}
"""Name of each file, and the extras that it has the packages of, and of what these need."""
WHAT_FOR = {
    "build": "builds the package",
    "demo": "`make demo` needs",
    "dev": "development needs",
}


class Pin(NamedTuple):
    """A version of a package, on some Pythons and systems."""

    name: str
    version: str
    marker: Marker | None
    hashes: int

    def applies(self, environment: dict[str, str]) -> bool:
        """Whether it is installed in an environment; what that leaves out is the present one's."""
        return self.marker is None or self.marker.evaluate(environment)


def read(text: str) -> list[Pin]:
    """Return the pins of a file."""
    pins = []
    for block in re.findall(r"^[A-Za-z0-9].*?(?=^\S|\Z)", text, re.M | re.S):
        requirement = Requirement(block.partition("\\")[0].strip())
        (version,) = requirement.specifier
        assert version.operator == "==", f"{requirement} is no exact version"
        name = canonicalize_name(requirement.name)
        hashes = len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", block))
        pins.append(Pin(name, version.version, requirement.marker, hashes))
    return pins


def wanted(name: str) -> list[Requirement]:
    """Return the requirements that a file is made from; extras of our own are followed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {BASE: project["dependencies"]} | project["optional-dependencies"]
    chosen = list(extras) if FILES[name] == (EVERY,) else list(FILES[name])
    found: dict[str, Requirement] = {}
    for extra in chosen:
        for text in extras[extra]:
            requirement = Requirement(text)
            if requirement.name == PROJECT:
                chosen += sorted(requirement.extras - {*chosen})
            else:
                found[str(requirement)] = requirement
    return list(found.values())


def compiled(uv: str, requirements: Iterable[Requirement], constraint: Path | None) -> str:
    """Return the pins of requirements, and of all that they need, for every Python from 3.11 on."""
    command = [uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url", "-"]
    if constraint is not None:
        command += ["--constraint", str(constraint)]
    text = "\n".join(map(str, requirements))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def main(uv: str) -> None:
    """Write all files; the versions of the smaller ones are those of the largest."""
    FOLDER.mkdir(exist_ok=True)
    whole = FOLDER / "dev.txt"
    for name in sorted(FILES, key=lambda name: FILES[name] != (EVERY,)):
        pins = compiled(uv, wanted(name), None if name == "dev" else whole)
        head = f"# What {WHAT_FOR[name]}, each version with its hashes; `make pins` writes it.\n"
        (FOLDER / f"{name}.txt").write_text(head + pins)


if __name__ == "__main__":
    main(sys.argv[1])
