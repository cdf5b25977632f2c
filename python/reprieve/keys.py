"""The classes of a scenario's sections, made from its schema; `keys.pyi` has types and texts."""

import json
from inspect import Parameter, Signature
from typing import Any

from reprieve import _native
from reprieve.sections import Flows, Keys

_FOUND = json.loads(_native.schema())["sections"]


def class_name(section: str) -> str:
    """Name of the class of a section: `suspension.batch` is `SuspensionBatch`."""
    return "".join(word.capitalize() for word in section.replace(".", "_").split("_"))


def _class(section: dict[str, Any]) -> type[Keys]:
    keys = section["keys"]
    texts = [f"Keys of `[{section['name']}]`.", "", section["doc"], ""]
    body = {
        "__doc__": "\n".join(
            [*texts, *(f"{key['name']} ({key['role']}): {key['doc']}" for key in keys)]
        ),
        "__annotations__": {**{key["name"]: Any for key in keys}, **_inside(section["name"])},
        "__module__": __name__,
        "_section": section["name"],
    }
    return type(class_name(section["name"]), (Keys,), body)


def _inside(section: str) -> dict[str, type[Keys]]:
    """Return the classes of the tables inside a section, by their names in it."""
    return {
        name.removeprefix(f"{section}."): kind
        for name, kind in SECTIONS.items()
        if name.startswith(f"{section}.")
    }


SECTIONS: dict[str, type[Keys]] = {}
"""The class of each section."""

# What lies inside others comes first, so that their classes can name it.
for _section in sorted(_FOUND, key=lambda section: -section["name"].count(".")):
    if _section["name"]:
        SECTIONS[_section["name"]] = _class(_section)
SECTIONS = {section["name"]: SECTIONS[section["name"]] for section in _FOUND if section["name"]}

globals().update({kind.__name__: kind for kind in SECTIONS.values()})


class Top(Keys):
    """Keys before every section, and the sections."""

    __annotations__ = {
        **{key["name"]: Any for key in _FOUND[0]["keys"]},
        **{name: kind for name, kind in SECTIONS.items() if "." not in name},
        "flow": Flows,
    }
    __signature__ = Signature(
        [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in __annotations__]
    )

    def __init__(self, **tables: Any) -> None:
        self._take(tables)

    def _take(self, tables: Any) -> None:
        raise NotImplementedError
