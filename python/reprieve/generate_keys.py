"""Writes the modules of `reprieve.keys` from the schema: `python -m reprieve.generate_keys`."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from reprieve import _native
from reprieve.sections import only_while

FOLDER = Path(__file__).with_name("keys")

_COLUMNS = 100

_PLAIN = {
    "integer": "int",
    "number": "float",
    "duration_us": "float",
    "duration_s": "float",
    "boolean": "bool",
    "string": "str",
    "preset": "str",
    "path": "str",
    "operations": 'Sequence[Literal["program", "gc_program", "erase"]]',
    "sizes": "int | Sequence[tuple[int, float]]",
    "durations_us": "Sequence[float]",
    "durations_s": "Sequence[float]",
    "devices": 'Literal["concatenate", "merge"] | Sequence[int]',
    "integers": "Sequence[int]",
    "weights": "Sequence[tuple[int, int]]",
    "numbers": "Sequence[float]",
    "steps": "Sequence[str]",
}


def modules() -> dict[str, str]:
    """Return every generated file of the package by its name."""
    sections = json.loads(_native.schema())["sections"]
    named = [section for section in sections if section["name"]]
    files = {f"{section['name']}.py": _section(section) for section in named}
    return {
        "__init__.py": _package(named),
        "top.py": _top(sections[0], named),
        **files,
    }


def main() -> None:
    """Write the files, and remove those of sections that are no more."""
    files = modules()
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.py"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def class_name(section: str) -> str:
    """Name of the class of a section: `read_cache` is `ReadCache`."""
    return "".join(word.capitalize() for word in section.split("_"))


def _section(section: dict[str, Any]) -> str:
    name = section["name"]
    body = [
        f"class {class_name(name)}(Keys):",
        *_docstring(f"Keys of `[{name}]`.", section["doc"]),
        "",
        f'    _section = "{name}"',
        "",
        *_attributes(section["keys"]),
    ]
    return _module(f"Keys of `[{name}]`", body, ["from reprieve.sections import Keys"])


def _top(top: dict[str, Any], sections: list[dict[str, Any]]) -> str:
    names = [section["name"] for section in sections]
    imports = [f"from reprieve.keys.{name} import {class_name(name)}" for name in names]
    parameters = [
        *(f"        {key['name']}: {_absent(_type(key))} = None," for key in top["keys"]),
        *(f"        {name}: Mapping[str, Any] | None = None," for name in names),
        "        flow: Mapping[str, Mapping[str, Any]] | None = None,",
    ]
    taken = [*(key["name"] for key in top["keys"]), *names, "flow"]
    body = [
        "class Top(Keys):",
        *_docstring("Keys before every section, and the sections.", ""),
        "",
        *_attributes(top["keys"]),
        *(
            line
            for section in sections
            for line in (f"    {section['name']}: {class_name(section['name'])}",)
        ),
        "    flow: Flows[Workload]",
        "",
        "    def __init__(",
        "        self,",
        "        *,",
        *(line for parameter in parameters for line in _wrapped_type(parameter)),
        "    ) -> None:",
        "        self._take(",
        "            {",
        *(f'                "{name}": {name},' for name in taken),
        "            }",
        "        )",
        "",
        "    def _take(self, tables: Mapping[str, Any]) -> None:",
        "        raise NotImplementedError",
    ]
    imports = sorted([*imports, "from reprieve.sections import Flows, Keys"])
    return _module("Keys before every section", body, imports)


def _package(sections: list[dict[str, Any]]) -> str:
    names = [section["name"] for section in sections]
    lines = [
        '"""The keys of a scenario, written from its schema by `make docs`: not to be edited."""',
        "",
        *(f"from reprieve.keys.{name} import {class_name(name)}" for name in sorted(names)),
        "from reprieve.keys.top import Top",
        "from reprieve.sections import Keys",
        "",
        "SECTIONS: dict[str, type[Keys]] = {",
        *(f'    "{name}": {class_name(name)},' for name in names),
        "}",
        '"""The class of each section."""',
        "",
        "__all__ = [",
        '    "SECTIONS",',
        *(f'    "{name}",' for name in sorted([*map(class_name, names), "Top"])),
        "]",
    ]
    return "\n".join(sorted_imports(lines)) + "\n"


def sorted_imports(lines: list[str]) -> list[str]:
    """Put the import lines in order, all else where it is."""
    places = [place for place, line in enumerate(lines) if line.startswith("from ")]
    for place, line in zip(places, sorted(lines[place] for place in places), strict=True):
        lines[place] = line
    return lines


def _module(what: str, body: list[str], imports: list[str]) -> str:
    text = "\n".join(body)
    typing = [word for word in ("Any", "Literal") if f"{word}[" in text or f"{word}]" in text]
    collections = [word for word in ("Mapping", "Sequence") if f"{word}[" in text]
    head = [
        f'"""{what}, written from the schema by `make docs`: not to be edited."""',
        "",
        "from __future__ import annotations",
        "",
    ]
    if collections:
        head.append(f"from collections.abc import {', '.join(collections)}")
    if typing:
        head.append(f"from typing import {', '.join(typing)}")
    if collections or typing:
        head.append("")
    return "\n".join([*head, *imports, "", "", text]) + "\n"


def _attributes(keys: list[dict[str, Any]]) -> list[str]:
    lines = []
    for key in keys:
        kind = _absent(_type(key)) if key["optional"] else _type(key)
        lines += _wrapped_type(f"    {key['name']}: {kind}")
        lines += _docstring(key["doc"], _details(key))
    return lines


def _type(key: dict[str, Any]) -> str:
    names = ", ".join(f'"{choice["name"]}"' for choice in key["choices"])
    if key["kind"] == "choice":
        return f"Literal[{names}]"
    if key["kind"] == "choices":
        return f"Sequence[Literal[{names}]]"
    return _PLAIN[key["kind"]]


def _absent(kind: str) -> str:
    return f"{kind} | None"


def _details(key: dict[str, Any]) -> str:
    parts = [] if key["choices"] else [_sentence(f"Value: {key['value']}")]
    if key["required"]:
        parts.append("It must be given.")
    elif key["default_toml"] is not None:
        parts.append(f"Default: `{key['default_toml']}`.")
    elif key["default_key"] is not None:
        parts.append(f"Default: that of `{key['default_key']}`.")
    else:
        parts.append("Default: absent.")
    if key["when"]:
        parts.append(f"Only while {only_while(key['when'])}.")
    if key["source"]:
        parts.append(_sentence(f"Source: {key['source']}"))
    parts += [f"`{choice['name']}`: {_sentence(choice['doc'])}" for choice in key["choices"]]
    return " ".join(parts)


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _docstring(first: str, rest: str) -> list[str]:
    """Return a docstring at the depth of a class's body."""
    # A backslash would begin an escape.
    first, rest = first.replace("\\", "\\\\"), rest.replace("\\", "\\\\")
    wrap = textwrap.TextWrapper(
        width=_COLUMNS,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = wrap.wrap(f'"""{first}')
    if not rest:
        return [*lines[:-1], f'{lines[-1]}"""']
    return [*lines, "", *wrap.wrap(rest), '    """']


def _wrapped_type(line: str) -> list[str]:
    """Break an annotation that is too long as the formatter does: a choice a line."""
    if len(line) <= _COLUMNS:
        return [line]
    before, _, inside = line.partition("[")
    inside, _, after = inside.rpartition("]")
    indent = " " * (len(line) - len(line.lstrip()))
    return [
        f"{before}[",
        *(f"{indent}    {choice.strip()}," for choice in inside.split(",")),
        f"{indent}]{after}",
    ]


if __name__ == "__main__":
    main()
