"""Policies that a scenario names by where they are: `FILE.py:NAME` or `MODULE:NAME`."""

import ast
import importlib
import inspect
import itertools
import json
import re
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar, get_type_hints

from reprieve import words
from reprieve._native import UserError
from reprieve.frames import flat
from reprieve.policy import OwnPolicies
from reprieve.sections import all_keys, schema

METHODS = {"suspension.policy": "decide", "scheduling.policy": "choose"}
"""Keys of a scenario that may name a policy of Python, and what the policy has to have."""
KEYS = tuple(METHODS)

_is_trusted = True
"""Whether Python policies are loaded: always in the Python API, with a flag in a command."""

_REFERENCE = re.compile(r"(?P<place>.+):(?P<name>\w+(\.\w+)*)", re.DOTALL)
_numbers = itertools.count()

P = ParamSpec("P")
T = TypeVar("T")


def refers(value: object) -> bool:
    """Return whether a key's value names a Python policy: no built-in one has a colon."""
    return isinstance(value, str) and ":" in value


def trust(*, is_trusted: bool) -> None:
    """Let policies of Python be loaded from now on in this process, or not."""
    global _is_trusted  # noqa: PLW0603 # a property of the process, as its command line is
    _is_trusted = is_trusted


def short(key: str, value: Any) -> Any:
    """Return the name alone of a policy of Python, and every other value as it is."""
    found = _REFERENCE.fullmatch(value) if key in KEYS and isinstance(value, str) else None
    return value if found is None else found["name"]


def reference(value: Any) -> Any:
    """Return `MODULE:NAME` for a class or function, and every other value as it is.

    Raises UserError if the class could not be found by the text.
    """
    if not isinstance(value, type | FunctionType):
        return value
    module, name = value.__module__, value.__qualname__
    try:
        found = reduce(getattr, name.split("."), sys.modules[module])
    except (AttributeError, KeyError):
        found = None
    if found is not value:
        raise UserError(
            f"{name}: module {module} has no such name; must be a class or function at the top of "
            "a module or file, where other threads and machines find it"
        )
    return f"{module}:{name}"


@dataclass(frozen=True)
class Named:
    """A policy of Python that a key of a scenario names."""

    key: str
    place: str
    """The path of a file, or the name of a module."""
    name: str
    """Of a class, or of a function without parameters, there."""

    @classmethod
    def of(cls, key: str, text: str, base: Path) -> "Named":
        """Take it from a scenario in folder `base`; a path is tried from there first."""
        found = _REFERENCE.fullmatch(text)
        place = "" if found is None else found["place"]
        is_module = all(part.isidentifier() for part in place.split("."))
        if found is None or not (place.endswith(".py") or is_module):
            raise UserError(
                f'{key} = "{text}": must be FILE.py:NAME or MODULE:NAME, where NAME is a class or '
                "a function, or a policy that `reprieve policies` lists"
            )
        if place.endswith(".py"):
            there = base / place
            # What a run leaves names it, too, from wherever that is run again.
            place = str((there if there.exists() else Path(place)).absolute())
        return cls(key, place, found["name"])

    @property
    def text(self) -> str:
        """Value of the key in a scenario."""
        return f"{self.place}:{self.name}"

    @property
    def label(self) -> str:
        """Name in results, which leaves out the folder of the file."""
        place = Path(self.place).name if self._is_file else self.place
        return f"{place}:{self.name}"

    @property
    def _is_file(self) -> bool:
        return self.place.endswith(".py")

    def wrong(self, sentence: str) -> UserError:
        """Return an error about it."""
        return UserError(f'{self.key} = "{self.text}": {sentence}')

    def look(self) -> None:
        """Raise UserError if its file has no such name; nothing of the file is executed."""
        if not self._is_file:
            return
        try:
            body = ast.parse(self._read(), self.place).body
        except (SyntaxError, ValueError) as error:
            raise self.wrong(_said(error)) from None
        if not {"*", self.name.partition(".")[0]} & {*_bound(body)}:
            raise self._missing([one.name for one in body if isinstance(one, ast.ClassDef)])

    def _check(self, found: Any) -> None:
        """Raise UserError for what is no policy; nothing of it is called."""
        method, made = METHODS[self.key], found
        if isinstance(found, FunctionType):
            try:
                made = get_type_hints(found).get("return")
            except Exception as error:
                raise self.wrong(f"{_said(error)}, in what it says it returns") from error
        if not isinstance(made, type) or not callable(getattr(made, method, None)):
            what = "a class" if isinstance(found, type) else f"of {type(found).__qualname__}"
            raise self.wrong(
                f"is {what} and has no method {method}; must be a class with {method}(view), or a "
                "function that says by `->` that it returns one"
            )
        try:
            inspect.signature(found).bind()
        except (TypeError, ValueError) as error:
            raise self.wrong(
                f"cannot be called without arguments: {error}; must be a class or a function "
                "that takes none"
            ) from None

    def make(self) -> Any:
        """Return a new object: what one run leaves in it, or in its file, is not in the next."""
        self.need_trust()
        module = _run_file(self, self._read()) if self._is_file else self._module()
        found = self._in(module)
        self._check(found)
        try:
            made = found()
        except (Exception, SystemExit) as error:
            raise self.wrong(f"{_said(error)}, as it was made") from error
        if not callable(getattr(made, METHODS[self.key], None)):
            raise self.wrong(
                f"{made!r} has no method {METHODS[self.key]}; must make an object with "
                f"{METHODS[self.key]}(view)"
            )
        return made

    def source(self) -> bytes:
        """Return the text of the file that has it; raises UserError if there is none."""
        if self._is_file:
            return self._read()
        found = self._in(self._module())
        try:
            module = sys.modules[found.__module__]
            path = getattr(module, "__file__", None)
            return inspect.getsource(found).encode() if path is None else Path(path).read_bytes()
        except (OSError, TypeError):
            raise self.wrong(
                "its source cannot be read, so that a changed policy would not be noticed; put it "
                "into a file and name that"
            ) from None

    def _in(self, module: ModuleType) -> Any:
        try:
            return reduce(getattr, self.name.split("."), module)
        except AttributeError:
            classes = {name: one for name, one in vars(module).items() if inspect.isclass(one)}
            own = [name for name, one in classes.items() if one.__module__ == module.__name__]
            raise self._missing(own) from None

    def _missing(self, own: Sequence[str]) -> UserError:
        has = f"has {', '.join(own)}" if own else "has no class"
        return self.wrong(f"{self.place} has no {self.name}; it {has}")

    def need_trust(self) -> None:
        """Raise UserError if policies of Python are not to be loaded."""
        if not _is_trusted:
            raise self.wrong(
                f"is a program, and only --allow-python has {self.place} executed; give it to run, "
                "compare, sweep, tune, rig or power-loss if you trust the file"
            )

    def _module(self) -> ModuleType:
        self.need_trust()
        try:
            return importlib.import_module(self.place)
        except ImportError as error:
            raise self.wrong(
                f"cannot be imported: {error}; must be FILE.py:NAME, or a module that is installed"
            ) from None

    def _read(self) -> bytes:
        try:
            return Path(self.place).read_bytes()
        except OSError as error:
            raise self.wrong(f"cannot read the file: {error.strerror}") from None


def _run_file(policy: Named, text: bytes) -> ModuleType:
    """Return the module that a file makes, a new one each time."""
    name = f"reprieve_policy_{next(_numbers)}_{Path(policy.place).stem}"
    module = ModuleType(name)
    module.__file__ = policy.place
    # Dataclasses look their module up.
    sys.modules[name] = module
    try:
        exec(compile(text, policy.place, "exec"), vars(module))
    except (Exception, SystemExit) as error:
        raise policy.wrong(f"{_said(error)}, as the file was loaded") from error
    finally:
        del sys.modules[name]
    return module


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that the top of a file binds, also those within `if` and `try`."""
    for node in (node for one in body for node in ast.walk(one)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.alias():
                yield node.asname or node.name.partition(".")[0]


@dataclass(frozen=True)
class Split:
    """A scenario as the simulator takes it, and the policies of Python that it names beside."""

    sets: tuple[str, ...]
    """Overrides, without those that name a policy of Python."""
    named: Mapping[str, Named] = field(default_factory=dict)

    def written(self, resolved: str) -> str:
        """Return a resolved scenario that names the policies again."""
        for key, policy in self.named.items():
            section = re.escape(f"[{key.partition('.')[0]}]\n")
            line = re.compile(rf'^({section}(?:(?!\[).*\n)*?policy = )".*"$', re.MULTILINE)
            place = line.search(resolved)
            assert place is not None, f"a resolved scenario has {key}"
            text = json.dumps(policy.text, ensure_ascii=False)
            resolved = resolved[: place.end(1)] + text + resolved[place.end() :]
        return resolved

    def look(self) -> None:
        """Raise UserError if a file has no such policy; nothing of it is executed."""
        for policy in self.named.values():
            policy.look()

    def check_travels(self) -> None:
        """Raise UserError if another process may not load or could not find one of the policies."""
        for policy in self.named.values():
            policy.need_trust()
            if policy.place == "__main__":
                raise policy.wrong(
                    "belongs to the program that was started, which workers of a cluster cannot "
                    f"import; must be in a file, as FILE.py:{policy.name}"
                )

    def refuse(self, why: str) -> None:
        """Raise UserError where a policy of Python is named and cannot be called."""
        for policy in self.named.values():
            raise policy.wrong(f"{why}; must be one that `reprieve policies` lists")

    def with_objects(self, own: OwnPolicies) -> OwnPolicies:
        """Return what decides in a run: a new object of each, and those that the program gave."""
        made = {"suspension": own.suspension, "scheduler": own.scheduler}
        for policy in self.named.values():
            part = "suspension" if policy.key == "suspension.policy" else "scheduler"
            if made[part] is not None:
                raise policy.wrong("an object is given for it, too; give one of them")
            made[part] = policy.make()
        labels = {key: policy.label for key, policy in self.named.items()}
        return OwnPolicies(**made, labels=labels)

    def ask(self, run: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """Have a run go on; what a named policy raises becomes a sentence."""
        try:
            return run(*given, **named)
        except UserError:
            raise
        except Exception as error:
            if not self.named:
                raise
            policies = " and ".join(f'{key} = "{one.text}"' for key, one in self.named.items())
            notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
            raise UserError(f"{policies}: {_said(error)}{notes}") from error


def split(text: str, path: str, sets: Sequence[str]) -> Split:
    """Take the policies of Python out of a scenario.

    Each takes the place of the policy that the scenario names otherwise, whose keys it may have.
    An unclaimed key belongs to the policy whose other keys are given.
    """
    in_file, given = _in_text(text)
    last, kept, in_sets = dict(in_file), [], set[str]()
    for one in sets:
        key, _, value = one.partition("=")
        key = key.strip()
        if key in KEYS:
            last[key] = words.toml_or_word(value.strip())
            if refers(last[key]):
                continue
            in_sets.add(key)
        kept.append(one)
    base = Path(path).parent
    named = {key: Named.of(key, last[key], base) for key in KEYS if refers(last.get(key))}
    if not named and not any(map(refers, in_file.values())):
        return Split(tuple(kept))
    owners = _owners([*given, *(one.partition("=")[0].strip() for one in kept)])
    stand_ins = []
    for key in KEYS:
        is_open = key not in in_sets and (key in named or key in in_file)
        if is_open and refers(in_file.get(key)):
            default = json.loads(all_keys()[key]["default_toml"])
            stand_ins.append(f"{key}={owners.get(key) or default}")
        elif is_open and key not in in_file and key in owners:
            stand_ins.append(f"{key}={owners[key]}")
    return Split((*stand_ins, *kept), named)


@lru_cache(maxsize=64)
def _in_text(text: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Return the policies that a scenario file names, and the names of all keys that it has."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}, ()  # the simulator says what is wrong
    leaves = flat(document)
    return {key: leaves[key] for key in KEYS if key in leaves}, list(leaves)


def _owners(given: Sequence[str]) -> dict[str, str]:
    """Return the policies to which some keys belong."""
    found = {}
    for key in given:
        section, _, name = key.rpartition(".")
        # A flow has the keys of the workload.
        section = "workload" if section.startswith("flow.") else section
        for need in schema().get(section, {}).get(name, {}).get("when", ()):
            if need["key"] in KEYS and len(need["values"]) == 1:
                found[need["key"]] = need["values"][0]
    return found


def _said(error: BaseException) -> str:
    """Return an exception in words, with the line that raised it."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} at {error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    text = words.said(error)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{said} at {frames[-1].filename}:{frames[-1].lineno}" if frames else said
