"""Help of commands: description, usage, example, arguments and options, fitted to the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any

from typer.core import TyperArgument, TyperGroup

from reprieve.cli.console import screen
from reprieve.cli.groups import GROUPS

Rows = Sequence[tuple[str, str]]
"""Terms, and the text of each."""

_OWN = "Options"
"""The list that has terms of a width of its own: those of a group are its commands."""


def names_of(parameter: Any) -> list[str]:
    """List the names of an option, the shortest first; of an argument none."""
    is_argument = isinstance(parameter, TyperArgument)
    return [] if is_argument else sorted(parameter.opts, key=len)


def value_of(parameter: Any) -> str:
    """Return the placeholder of a value: of an option, empty for a flag, or of an argument."""
    if parameter.metavar or getattr(parameter, "is_flag", False):
        return (parameter.metavar or "").strip("[]")
    if choices := parameter.type_descriptor.choices:
        return "|".join(choices)
    fallback = parameter.name.upper() if isinstance(parameter, TyperArgument) else "TEXT"
    return {int: "INTEGER", float: "NUMBER"}.get(parameter.type_descriptor.annotation, fallback)


def default_of(parameter: Any) -> str:
    """Return what holds without it, in words where it has some; empty if nothing does."""
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    return "" if parameter.default in (None, False) else str(parameter.default)


def usage(name: str, command: Any) -> str:
    """Return the usage of a command by its full name."""
    arguments = [each for each in command.params if not names_of(each)]
    words = [name] if len(arguments) == len(command.params) else [name, "[OPTIONS]"]
    for each in arguments:
        words.append(value_of(each) if each.required else f"[{value_of(each)}]")
    return " ".join([*words, "COMMAND …"] if isinstance(command, TyperGroup) else words)


def example(name: str) -> str:
    """Return the example of a command by its full name; empty if it has none."""
    own = name.removeprefix("reprieve ")
    return next((f"{name} {of[own][1]}".strip() for of in GROUPS.values() if own in of), "")


def text(command: Any, context: Any) -> str:
    """Return the help of a command, or of several."""
    parameters = [each for each in command.get_params(context) if not each.hidden]
    lists: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    if isinstance(command, TyperGroup):
        lists |= dict(_commands(command, context))
    lists[_OWN] = [_row(each) for each in parameters if names_of(each)]
    lists["Arguments"] += [_row(each) for each in parameters if not names_of(each)]
    name = context.command_path
    return _drawn(command.help or "", usage(name, command), example(name), lists)


def _row(parameter: Any) -> tuple[str, str]:
    term = f"{', '.join(names_of(parameter))} {value_of(parameter)}".strip()
    notes = [f"default: {default_of(parameter)}"] if default_of(parameter) else []
    notes += ["required"] if parameter.required and names_of(parameter) else []
    return term, " ".join([parameter.help or "", *(f"[{note}]" for note in notes)])


def _commands(group: Any, context: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the commands of a group by what they are for, those of other packages last."""
    left = group.list_commands(context)
    for title, members in [*GROUPS.items(), ("Commands", dict.fromkeys(left))]:
        here = [name for name in members if name in left]
        left = [name for name in left if name not in here]
        helps = ((name, cleandoc(group.get_command(context, name).help)) for name in here)
        if rows := [(name, " ".join(doc.split("\n\n")[0].split())) for name, doc in helps]:
            yield title, rows


def _drawn(doc: str, usage: str, example: str, lists: Mapping[str, Rows]) -> str:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = screen()
    with console.capture() as capture:
        for paragraph in cleandoc(doc).split("\n\n"):
            # Lines of the source are no lines of the terminal.
            console.print(Text(" ".join(paragraph.split()) + "\n"))
        console.print(Text.assemble(("Usage: ", "bold"), f"{usage}\n"))
        if example:
            console.print(Text("Example:", "bold"))
            console.print(Text(f"  {example}\n"), no_wrap=True, overflow="ignore")
        for title, rows in lists.items():
            alike = [lists[one] for one in lists if (one == _OWN) == (title == _OWN)]
            table = Table.grid(padding=(0, 2))
            table.add_column(style="cyan", no_wrap=True)
            table.add_column()
            table.columns[0].width = max(
                (len(term) for some in alike for term, _ in some), default=0
            )
            for term, told in rows:
                table.add_row(Text(term), Text(told))
            if rows:
                console.print(Text(f"{title}:", "bold"))
                console.print(Padding(table, (0, 0, 1, 2)))
    return "\n".join(line.rstrip() for line in capture.get().rstrip().splitlines()) + "\n"
