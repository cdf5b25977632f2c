"""Names: no two types of a crate share one, and the tables of the rules name what exists."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..rust import code_of
from ..tree import Problem, Tree

_TYPE = re.compile(r"^(?:pub(?:\([^)]*\))? )?(?:struct|enum|union|trait|type) (\w+)", re.MULTILINE)


def types_of_a_crate_have_names_of_their_own(tree: Tree) -> Iterator[Problem]:
    """Find types of a crate that share their name with another one of it, tests left out."""
    for crate in tree.crates():
        places: dict[str, list[str]] = defaultdict(list)
        for path in tree.files(f"crates/{crate}/src/*.rs"):
            if "/tests/" not in path and PurePosixPath(path).stem != "tests":
                for name in _TYPE.findall(code_of(tree.text(path))):
                    places[name].append(path)
        for name, paths in sorted(places.items()):
            if len(paths) > 1:
                yield Problem(paths[0], 0, f"type {name} is also one of {', '.join(paths[1:])}")


def tables_name_what_exists(tree: Tree) -> Iterator[Problem]:
    """Find folders in the tables of the rules that do not exist."""
    for folder in tables.POLICY_FOLDERS:
        if not tree.exists(f"{tables.POLICY_SOURCE}{folder}/mod.rs"):
            yield Problem("tests/house/tables.py", 0, f"there are no policies in {folder}")
    for folder in sorted({*tables.REGISTRIES, *tables.PRESETS}):
        if not tree.exists(folder):
            yield Problem("tests/house/tables.py", 0, f"{folder} does not exist")
