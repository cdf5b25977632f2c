"""Limits of use that no linter can state: for policies, and for names that studies import."""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..rust import used_paths
from ..tree import Problem, Tree


def policies_use_no_component(tree: Tree) -> Iterator[Problem]:
    """Find policies that name more of the crate than their own folder."""
    for folder in tables.POLICY_FOLDERS:
        for path in _sources(tree, folder):
            for used in sorted(used_paths(tree.text(path), _module(path))):
                is_foreign = used[0] == "crate" and len(used) > 1 and used[1] != folder
                if is_foreign and not _is_allowed(folder, used):
                    yield Problem(path, 0, f"a policy of {folder} uses {'::'.join(used)}")


def studies_use_public_names(tree: Tree) -> Iterator[Problem]:
    """Find what studies import of a module of the package that is not in its `__all__`."""
    for path in tree.files("python/reprieve_studies/*.py"):
        for line, module, name in _imports(tree.text(path)):
            is_ours = module.partition(".")[0] == "reprieve"
            if is_ours and name is not None and name not in _all_of(tree, module):
                yield Problem(path, line, f"{name} is not in the __all__ of {module}")


def _imports(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Yield line, module and name of each import; what is taken of `import a as b` counts too."""
    tree = ast.parse(text)
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                aliases[alias.asname or alias.name] = alias.name
                yield node.lineno, alias.name, None
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in aliases:
                yield node.lineno, aliases[name], attribute


def _all_of(tree: Tree, module: str) -> list[str]:
    """Return the `__all__` of a module of the package."""
    stem = "python/" + module.replace(".", "/")
    path = f"{stem}.py" if tree.exists(f"{stem}.py") else f"{stem}/__init__.py"
    for node in ast.parse(tree.text(path)).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found: list[str] = ast.literal_eval(node.value)
            return found
    return []


def _sources(tree: Tree, folder: str) -> Iterator[str]:
    """Yield the files of a folder of policies; its tests may put together whatever they like."""
    for path in tree.files(f"{tables.POLICY_SOURCE}{folder}/*.rs"):
        if PurePosixPath(path).stem != "tests":
            yield path


def _module(path: str) -> tuple[str, ...]:
    """Return the module path of a file below the crate's root."""
    parts = PurePosixPath(path.removeprefix(tables.POLICY_SOURCE)).with_suffix("").parts
    return parts[:-1] if parts[-1] == "mod" else parts


def _is_allowed(user: str, used: tuple[str, ...]) -> bool:
    named = "::".join(used[1:])
    return any(
        use.user == user and (named == use.used or named.startswith(use.used + "::"))
        for use in tables.POLICY_USES_ALLOWED
    )
