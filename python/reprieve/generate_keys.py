"""Writes `keys.pyi`, types and texts of all keys: `python -m reprieve.generate_keys`."""

import json
import textwrap
from pathlib import Path
from typing import Any

from reprieve import _native
from reprieve.keys import class_name
from reprieve.sections import only_while

FILE = Path(__file__).with_name("keys.pyi")

_COLUMNS = 96

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
    "weights_by_integer": "Sequence[tuple[int, Sequence[tuple[int, int]]]]",
    "numbers": "Sequence[float]",
    "number_or_numbers": "float | Sequence[float]",
    "steps": "Sequence[str]",
}


def stub() -> str:
    """Return the text of the file."""
    top, *sections = json.loads(_native.schema())["sections"]
    lines = [
        '"""The keys of a scenario, written from its schema by `make docs`: not to be edited."""',
        "",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal",
        "",
        "from reprieve.sections import Flows, Keys",
        "",
    ]
    # A table inside another comes first, as that one names it.
    for section in sorted(sections, key=lambda section: -section["name"].count(".")):
        name = section["name"]
        lines += _class(class_name(name), f"Keys of `[{name}]`.", section, _inside(sections, name))
        lines.append("")
    outer = _inside(sections, "")
    lines += _class("Top", "Keys before every section, and the sections.", top | {"doc": ""}, outer)
    lines += [
        "    flow: Flows[Workload]",
        "",
        "    def __init__(",
        "        self,",
        "        *,",
        *(f"        {key['name']}: {_type(key)} | None = None," for key in top["keys"]),
        *(f"        {name}: Mapping[str, Any] | None = None," for name in outer),
        "        flow: Mapping[str, Mapping[str, Any]] | None = None,",
        "    ) -> None: ...",
        "    def _take(self, tables: Mapping[str, Any]) -> None: ...",
        "",
        "SECTIONS: dict[str, type[Keys]]",
        '"""The class of each section."""',
        "",
        "def class_name(section: str) -> str: ...",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file."""
    FILE.write_text(stub(), encoding="utf-8")


def _inside(sections: list[dict[str, Any]], outer: str) -> dict[str, str]:
    """Return the class of each table that is in a section, or in none, by its name there."""
    names = [section["name"].rpartition(".") for section in sections]
    return {own: class_name(f"{of}.{own}" if of else own) for of, _, own in names if of == outer}


def _class(name: str, text: str, section: dict[str, Any], inside: dict[str, str]) -> list[str]:
    """Return the class of a section, with its keys and the tables inside it."""
    lines = [f"class {name}(Keys):", *_docstring(text, section["doc"]), ""]
    for key in section["keys"]:
        absent = " | None" if key["optional"] else ""
        lines.append(f"    {key['name']}: {_type(key)}{absent}")
        lines += _docstring(f"{key['doc']} {_details(key)}")
    return lines + [f"    {own}: {kind}" for own, kind in inside.items()]


def _type(key: dict[str, Any]) -> str:
    names = ", ".join(f'"{choice["name"]}"' for choice in key["choices"])
    if key["kind"] == "choice":
        return f"Literal[{names}]"
    if key["kind"] == "choices":
        return f"Sequence[Literal[{names}]]"
    return _PLAIN[key["kind"]]


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


def _docstring(text: str, rest: str = "") -> list[str]:
    """Return a docstring at the depth of a class's body; the rest stands apart."""
    # A backslash would begin an escape.
    paragraphs = [f'"""{text}', rest] if rest else [f'"""{text}']
    wrapped = [textwrap.fill(each.replace("\\", "\\\\"), _COLUMNS) for each in paragraphs]
    return textwrap.indent("\n\n".join(wrapped) + '"""', "    ").splitlines()


if __name__ == "__main__":
    main()
