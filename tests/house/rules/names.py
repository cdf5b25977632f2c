"""Names: types and modules share none, a word has one meaning, the tables name what exists."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..rust import code_of
from ..tree import Problem, Tree

_DEFINED = re.compile(r"\b(?:struct|enum|union|trait|type|class|fn|def) (\w+)")
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


def modules_have_names_of_their_own(tree: Tree) -> Iterator[Problem]:
    """Find modules of two crates, or two of the Python package, that share a name.

    A file of a registry is named like its entry, and a crate may have a name on several levels.
    """
    owners: dict[str, dict[str, str]] = defaultdict(dict)
    for path in [*tree.files("crates/*/src/*.rs"), *tree.files("python/reprieve/*.py")]:
        name = _module_name(path)
        is_entry = str(PurePosixPath(path).parent) in tables.REGISTRIES
        if name and not is_entry and "tests" not in PurePosixPath(path).with_suffix("").parts:
            owner = path if path.endswith(".py") else path.split("/")[1]
            owners[f"{name}{PurePosixPath(path).suffix}"].setdefault(owner, path)
    shared = {name: [*paths.values()] for name, paths in owners.items() if len(paths) > 1}
    allowed = {*tables.SHARED_MODULE_NAMES.split()}
    for name in sorted(shared.keys() - allowed):
        yield Problem(shared[name][0], 0, f"{name} is also {', '.join(shared[name][1:])}")
    for name in sorted(allowed - shared.keys()):
        yield Problem("tests/house/tables.py", 0, f"{name} is no longer a name of two modules")


def words_have_one_meaning(tree: Tree) -> Iterator[Problem]:
    """Find words that name modules, types or functions in more places than the one they are for."""
    others: dict[str, list[str]] = defaultdict(list)
    for path in [*tree.files("crates/*.rs"), *tree.files("*.py")]:
        if "tests" not in PurePosixPath(path).with_suffix("").parts:
            defined = {_module_name(path), *_DEFINED.findall(code_of(tree.text(path)))}
            for word in {_in_small(name) for name in defined} & tables.WORDS.keys():
                if not path.startswith(tables.WORDS[word].place):
                    others[word].append(path)
    for word, paths in sorted(others.items()):
        if len(paths) > (limit := tables.WORDS[word]).others:
            what = f"`{word}`, {limit.meaning}, is also a name in {', '.join(sorted(paths))}"
            yield Problem(limit.place, 0, f"{what}; at most {limit.others} of these")


def _module_name(path: str) -> str:
    """Return the name of a module; empty for the root of a crate, or of a package."""
    parts = PurePosixPath(path).with_suffix("").parts
    name = parts[-2] if parts[-1] == "mod" else parts[-1]
    return "" if name in ("lib", "main", "__init__", "__main__") else name


def _in_small(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def tables_name_what_exists(tree: Tree) -> Iterator[Problem]:
    """Find folders in the tables of the rules that do not exist."""
    for folder in tables.POLICY_FOLDERS:
        if not tree.exists(f"{tables.POLICY_SOURCE}{folder}/mod.rs"):
            yield Problem("tests/house/tables.py", 0, f"there are no policies in {folder}")
    for folder in sorted({*tables.REGISTRIES, *tables.PRESETS}):
        if not tree.exists(folder):
            yield Problem("tests/house/tables.py", 0, f"{folder} does not exist")
