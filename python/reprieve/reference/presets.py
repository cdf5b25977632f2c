"""The page of devices, parts and loads: every number that is built in, beside its source."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reprieve import registries
from reprieve.reference.markdown import plain, table
from reprieve.registries import Entry

_HEAD = """# Devices, parts and loads

Every built-in drive, NAND part and load, each number with its source. `reprieve devices NAME`,
`parts NAME` and `loads NAME` print one. A file of your own has the same form
([how to write one](../guide/parts.md#describe-a-part-of-your-own)). Numbers have the unit that ends
their key. "The same" is the source of the row above; a note beside a section holds for all of its
rows that name no other.
"""
_HEADS = {
    "devices": "A device names its [part](#parts) and adds everything but the load. What it does "
    "not say comes from the part, or is the [default](scenario.md).",
    "parts": "A part is the flash of a device: geometry, times, suspension, reliability and power.",
    "loads": "Synthetic counterparts of traces; [how near they are](../model/loads.md).",
}


@dataclass
class Row:
    """A key of a preset, or a section if `value` is None, with what its comment says."""

    name: str
    value: str | None
    source: str = ""


@dataclass
class Preset:
    """A preset's file, taken apart."""

    head: list[str] = field(default_factory=list)
    """Paragraphs of the comment that it opens with."""
    rows: list[Row] = field(default_factory=list)


def page() -> str:
    """Return the page."""
    kinds = {
        "devices": (registries.devices(), registries.device),
        "parts": (registries.parts(), registries.part),
        "loads": (registries.loads(), registries.load),
    }
    return "\n".join([_HEAD, *(section(kind, *kinds[kind]) for kind in kinds)])


def section(kind: str, presets: list[Entry], text_of: Callable[[str], str]) -> str:
    """Return the section of one kind of preset."""
    parts = [f"## {kind.capitalize()}\n", _HEADS[kind] + "\n"]
    for entry in presets:
        preset = taken_apart(text_of(entry.name))
        parts.append(f"### `{entry.name}`\n")
        parts += [plain(paragraph) + "\n" for paragraph in preset.head]
        rows = [row for row in preset.rows if row.value is not None or row.source]
        if copied := [row for row in rows if _is_copied(row)]:
            rows = [row for row in rows if not _is_copied(row)]
            parts.append(f"Not shown: {len(copied)} keys, {copied[0].source}.\n")
        parts.append(table(["key", "value", "source"], map(_cells, rows)))
    return "\n".join(parts)


def _is_copied(row: Row) -> bool:
    """Return whether the value is that of another preset of the same page."""
    return re.fullmatch(r"as [\w-]+-flows", row.source) is not None


def _cells(row: Row) -> tuple[str, str, str]:
    source = plain(row.source)
    if row.value is None:
        return f"**\\[{row.name}\\]**", "", source
    value = row.value
    if row.name == "part" and value.startswith('"'):
        aim = value.strip('"')
        return f"`{row.name}`", f"[`{value}`](#{aim})", source
    return f"`{row.name}`", f"`{value}`", source


def taken_apart(text: str) -> Preset:
    """Take a preset's TOML apart into keys, values and comments; nothing of it gets lost."""
    preset = Preset()
    section = ""
    above: list[str] = []
    for line in _lines(text):
        if not line.code:
            if line.is_indented and preset.rows:
                preset.rows[-1].source += f" {line.comment}"
            elif line.comment is not None:
                above.append(line.comment)
            elif above and not preset.rows:
                preset.head, above = _paragraphs(above), []
            continue
        source = " ".join([*above, line.comment or ""]).strip()
        above = []
        if line.code.startswith("["):
            section = line.code.strip("[]")
            preset.rows.append(Row(section, None, source))
        else:
            name, _, value = line.code.partition("=")
            name = f"{section}.{name.strip()}" if section else name.strip()
            preset.rows.append(Row(name, value.strip(), source))
    _check(preset, text)
    return preset


@dataclass
class _Line:
    """A line, or several if a list goes over them: code, and the comment if there is one."""

    code: str
    comment: str | None
    is_indented: bool


def _lines(text: str) -> Iterator[_Line]:
    open_line: _Line | None = None
    for line in text.splitlines():
        pieces = re.split(r"(\"[^\"]*\"|#)", line)  # a # inside a string begins no comment
        at = pieces.index("#") if "#" in pieces else len(pieces)
        code = "".join(pieces[:at]).strip()
        comment = "".join(pieces[at + 1 :]).strip() if at < len(pieces) else None
        if open_line is None:
            open_line = _Line(code, comment, line.startswith(" "))
        else:
            open_line.code += f" {code}"
            open_line.comment = f"{open_line.comment or ''} {comment or ''}".strip()
        if open_line.code.count("[") == open_line.code.count("]"):
            yield open_line
            open_line = None
    assert open_line is None, "a list without an end"


def _paragraphs(lines: list[str]) -> list[str]:
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n")]


def _check(preset: Preset, text: str) -> None:
    """Demand that the rows are the file."""
    values = {row.name: tomllib.loads(f"v = {row.value}")["v"] for row in preset.rows if row.value}
    assert values == dict(_flat(tomllib.loads(text))), "a preset was taken apart wrongly"


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
