"""The page of devices, parts and loads: every number that is built in, beside its source."""

import re
from collections.abc import Callable, Iterator

from reprieve import registries
from reprieve.reference.markdown import plain
from reprieve.registries import Entry

_HEAD = """# Devices, parts and loads

Every built-in drive, NAND part and load, as `reprieve devices NAME`, `parts NAME` and `loads NAME`
print it: each number with its source. A file of your own has the same form
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
_PART = re.compile(r'^part = "(.+?)"', re.MULTILINE)


def page() -> str:
    """Return the page."""
    kinds = {
        "devices": (registries.devices(), registries.device),
        "parts": (registries.parts(), registries.part),
        "loads": (registries.loads(), registries.load),
    }
    return "\n".join([_HEAD, *(part for kind in kinds for part in _section(kind, *kinds[kind]))])


def _section(kind: str, presets: list[Entry], text_of: Callable[[str], str]) -> Iterator[str]:
    yield f"## {kind.capitalize()}\n\n{_HEADS[kind]}\n"
    for entry in presets:
        # A file opens with a comment, which ends at the first empty line.
        head, _, content = text_of(entry.name).partition("\n\n")
        yield f"### `{entry.name}`\n\n{plain(re.sub('^# ?', '', head, flags=re.MULTILINE))}\n"
        for part in _PART.findall(content):
            yield f"Its part is [`{part}`](#{part}).\n"
        yield f"```toml\n{content.rstrip()}\n```\n"
