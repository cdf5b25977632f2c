"""Folder = registry: each policy, format and preset is one file and one line."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..rust import code_of, declared_modules
from ..tree import Problem, Tree

_CONSTANT = rf"(?:{'|'.join(tables.ENTRY_CONSTANTS)})"
_IS_ENTRY = re.compile(rf"\bconst\s+{_CONSTANT}\b")
_ENTRY_NAME = re.compile(rf'\bconst\s+{_CONSTANT}\b[^;]*?\bname:\s*"([^"]*)"')
_PRESETS = re.compile(r'presets!\s*\{\s*"(\w+)":((?:\s*"[^"]+")*)\s*\}')


def policies_are_listed(tree: Tree) -> Iterator[Problem]:
    """Find entries that mod.rs does not list exactly once, or under another name."""
    for folder in tables.REGISTRIES:
        registry = f"{folder}/mod.rs"
        if not tree.exists(folder):
            continue
        if not tree.exists(registry):
            yield Problem(folder, 0, "a registry folder needs a mod.rs that lists its entries")
            continue
        listing = code_of(tree.text(registry))
        for path in tree.files(f"{folder}/*.rs"):
            if path == registry or not _IS_ENTRY.search(code_of(tree.text(path))):
                continue
            name = PurePosixPath(path).stem
            # A comparison with the entry's name does not list the entry.
            count = len(re.findall(rf"\b{name}::{_CONSTANT}\b(?!\.name\b)", listing))
            if count != 1:
                yield Problem(path, 0, f"listed {count} times in {registry}, not once")
            for written in _ENTRY_NAME.findall(tree.text(path)):
                if written.replace("-", "_") != name:
                    yield Problem(path, 0, f"its entry is called {written}, unlike the file")


def presets_are_listed(tree: Tree) -> Iterator[Problem]:
    """Find presets that the program does not take in exactly once, or that are not there."""
    included = Counter(
        f"{folder}/{name}.toml"
        for source in tree.files(tables.PRESET_LIST)
        for folder, names in _PRESETS.findall(tree.text(source))
        for name in re.findall(r'"([^"]+)"', names)
    )
    for folder in tables.PRESETS:
        of_folder = {
            PurePosixPath(path).name: count
            for path, count in included.items()
            if PurePosixPath(path).parent.name == folder
        }
        for path in tree.files(f"{folder}/*.toml"):
            count = of_folder.pop(PurePosixPath(path).name, 0)
            if count != 1:
                yield Problem(path, 0, f"registered {count} times in crates/config, not once")
        for name in sorted(of_folder):
            yield Problem(f"{folder}/{name}", 0, "registered in crates/config, but not there")


def rust_files_are_reachable(tree: Tree) -> Iterator[Problem]:
    """Find Rust files that are neither a root of their crate nor a module of a file in use."""
    reached: set[str] = set()
    for manifest in tree.files("*Cargo.toml"):
        reached.update(_reached(tree, str(PurePosixPath(manifest).parent)))
    for path in tree.files("*.rs"):
        if path not in reached:
            yield Problem(path, 0, "dead file: no `mod` of its crate leads to it")


def _reached(tree: Tree, crate: str) -> set[str]:
    reached: set[str] = set()
    waiting = list(_roots(tree, crate))
    while waiting:
        path, is_root = waiting.pop()
        if path in reached or not tree.exists(path):
            continue
        reached.add(path)
        parent = PurePosixPath(path).parent
        own = parent if is_root or path.endswith("/mod.rs") else parent / PurePosixPath(path).stem
        for name, placed in declared_modules(tree.text(path)):
            if placed:
                waiting.append((_normal(parent / placed), False))
            else:
                waiting.append((str(own / f"{name}.rs"), False))
                waiting.append((str(own / name / "mod.rs"), False))
    return reached


def _roots(tree: Tree, crate: str) -> Iterator[tuple[str, bool]]:
    base = PurePosixPath(crate)
    yield str(base / "build.rs"), True
    for name in ("src/lib.rs", "src/main.rs"):
        yield str(base / name), True
    for folder in ("src/bin", "tests", "benches", "examples"):
        for path in tree.files(f"{base / folder}/*.rs"):
            relative = PurePosixPath(path).relative_to(base / folder).parts
            if len(relative) == 1 or (len(relative) == 2 and relative[1] == "main.rs"):
                yield path, True
    manifest = tomllib.loads(tree.text(str(base / "Cargo.toml")))
    targets = [manifest.get("lib", {})]
    for kind in ("bin", "test", "bench", "example"):
        targets.extend(manifest.get(kind, []))
    for target in targets:
        if "path" in target:
            yield _normal(base / target["path"]), True


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
