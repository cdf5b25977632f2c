"""Words that a shell offers: keys of a scenario and their values, names, numbers of a result."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any

from reprieve import registries

Offer = Callable[[str], list[str]]
"""Takes what was typed, and returns the words that continue it."""

_SHELL = "_REPRIEVE_COMPLETE"
_NAMED = {"device": registries.devices, "part": registries.parts, "load": registries.loads}


def among(words: Callable[[], Iterable[Any]]) -> Offer:
    """Offer these words, or the names of these entries."""

    def offer(incomplete: str) -> list[str]:
        names = dict.fromkeys(getattr(word, "name", word) for word in words())
        return [name for name in names if name.startswith(incomplete)]

    return offer


def settings(incomplete: str) -> list[str]:
    """Offer keys of a scenario, and behind `KEY=` values; of several, those of the last."""
    from reprieve.sections import all_keys

    of = all_keys()
    name, equals, values = incomplete.partition("=")
    begun = [key for key in of if key.startswith(name)]
    if not equals and len(begun) > 1:
        return [f"{key}=" for key in begun]
    # Of one key with its values a shell completes what they share.
    name = name if equals else "".join(begun)
    before, comma, last = values.rpartition(",")
    words = _values(name, of[name]) if name in of else []
    words = [word.upper() if last.isupper() else word for word in words]
    found = [f"{name}={before}{comma}{word}" for word in words if word.startswith(last)]
    return found or [f"{key}=" for key in begun if not equals]


def _values(name: str, key: Mapping[str, Any]) -> list[str]:
    words = [choice["name"] for choice in key["choices"]]
    words += [entry.name for entry in _NAMED.get(name, list)()]
    words += ["true", "false"] * (key["kind"] == "boolean")
    return [*words, *["none"] * key["takes_none"]]


OFFERS: Mapping[str | None, Offer] = {
    **dict.fromkeys(("KEY=VALUE", "KEY=V1,V2,…", "KEY=VALUES", "KEY=LO..HI"), settings),
    **dict.fromkeys(
        ("FIELD", "BOUND"), among(lambda: import_module("reprieve.tuning.question").short_names())
    ),
    **{key.upper(): among(entries) for key, entries in _NAMED.items()},
    "PAPER": among(lambda: import_module("reprieve_studies.papers").PAPERS),
}
"""Completions of a value, by its placeholder in the help."""


def complete(command: Any, arguments: Sequence[str]) -> None:
    """Print the completions that a shell asks for by variables of the environment, and exit.

    Bash takes words apart at `=` and `:`, and wants what is behind the last of these.
    """
    if {*arguments[:1]} & {"--install-completion", "--show-completion"}:
        from typer import _completion_shared as shared

        scripts, end = shared._completion_scripts, "    return 0\n"
        no_space = "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
        scripts["bash"] = scripts["bash"].replace(end, no_space + end)
    cut = ""
    if os.environ.get(_SHELL) == "complete_bash" and "\n" in os.environ.get("COMP_WORDS", ""):
        words, place, is_open = list[str](), int(os.environ["COMP_CWORD"]), False
        for number, word in enumerate(os.environ["COMP_WORDS"].split("\n")):
            is_break = bool(word) and {*word} <= {*"=:"}
            if words and word and (is_break or is_open):
                words[-1] += word
            else:
                words.append(word)
            is_open = is_break
            if number == place:
                os.environ["COMP_CWORD"] = str(len(words) - 1)
                # Of `--set=KEY=` the name of the option is no part of what is offered.
                value = words[-1].partition("=")[2] if words[-1].startswith("-") else words[-1]
                cut = value[: max(value.rfind(letter) for letter in "=:") + 1]
        os.environ["COMP_WORDS"] = "\n".join(words)
    told = StringIO()
    try:
        with redirect_stdout(told):
            command._main_shell_completion({}, "reprieve")
    finally:
        for line in told.getvalue().splitlines():
            print(line.removeprefix(cut))  # noqa: T201
