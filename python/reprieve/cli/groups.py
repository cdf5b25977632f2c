"""The commands of the program, in groups by their use, with an example of each."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""Module and name of each command, and the arguments of an example with the files of `init`."""
