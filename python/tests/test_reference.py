"""Sources of the reference, by hand and beside the program's own words."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from typing import Any

import pytest

import reprieve as rp
from reprieve import _native
from reprieve.cli import main
from reprieve.reference import commands, names, policies, presets
from reprieve.reference.files import Column
from reprieve.reference.markdown import anchor, plain, table


@pytest.mark.parametrize("kind", ["devices", "parts", "loads"])
def test_every_preset_has_a_section_with_all_of_its_file(kind: str) -> None:
    page = presets.page().partition(f"\n## {kind.capitalize()}\n")[2]
    for entry in getattr(rp, kind)():
        section = page.partition(f"\n### `{entry.name}`\n")[2].partition("\n##")[0]
        (code,) = re.findall(r"^```toml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        text = getattr(rp, kind.removesuffix("s"))(entry.name)
        assert text.endswith(f"\n\n{code}")
        assert tomllib.loads(code) == tomllib.loads(text)
        head = re.sub(r"^#", "", text.removesuffix(code), flags=re.MULTILINE)
        assert plain(" ".join(head.split())) in " ".join(section.split())


def test_a_device_leads_to_its_part() -> None:
    assert "\nIts part is [`mlc-fast12`](#mlc-fast12).\n" in presets.page()
    assert "\n### `mlc-fast12`\n" in presets.page()


COMMANDS = [
    *("run", "compare", "rig", "characterize", "power-loss", "reproduce", "validate", "serve"),
    *("ctl", "devices", "parts", "loads", "policies"),
    *("trace info", "trace head", "trace convert"),
]


def test_every_command_has_a_section() -> None:
    found = re.findall(r"^## `reprieve ?(.*)`$", commands.page(), re.MULTILINE)
    assert set(COMMANDS) <= set(found)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_those_of_the_help(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The help is the framework's own account of the same command."""
    monkeypatch.setenv("COLUMNS", "200")
    main([*command.split(), "--help"])
    shown = capsys.readouterr().out
    section = commands.page().partition(f"## `reprieve {command}`\n")[2].partition("\n## ")[0]
    rows = set(re.findall(r"^\| `(--[a-z-]+)`", section, re.MULTILINE))
    assert rows == set(re.findall(r"^\W*(--[a-z-]+)", shown, re.MULTILINE)) - {"--help"}


def test_a_row_of_an_option() -> None:
    page = commands.page()
    assert "| `--save-state-at` | `start\\|end` | end | When: before the first request" in page
    assert "| `--wordlines` | `N` | `50` | Drawn from a block. |" in page
    assert "| `--format` | `NAME` | `auto` |" in page


def test_every_public_name_has_a_section() -> None:
    found = re.findall(r"^### `(\w+)`$", names.page(), re.MULTILINE)
    public = [name for name in rp.__all__ if not name.startswith("_")]
    assert set(found) == {*public, "Plots"}
    assert len(found) == len(set(found))


def test_signatures_are_written_as_python_has_them() -> None:
    page = names.page()
    assert 'def latency(self, what: str = "total") -> Latency: ...' in page
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        compile(block, "signature", "exec")
    assert "0x" not in page, "an address in memory differs from run to run"
    assert "- `rows`: `list[dict[str, Any]]`. One row for each cut and policy" in page
    assert "- `start_ns`: `int`. The time at which the die began it." in page


def test_compiled_classes_are_told_from_their_stub() -> None:
    told = "\n".join(names._members(_native.Simulation))
    assert "#### `Simulation.scenario`: `str`\n" in told
    assert "```python\ndef step(self, requests: int) -> bool: ...\n```\n" in told
    assert "Simulate until about that many more requests are complete; False at the end." in told


class Told:
    """A class with a member of each kind."""

    field: int
    """A field."""

    @property
    def plain(self) -> str:
        """Property."""
        return ""

    @cached_property
    def kept(self) -> float:
        """Cached property."""
        return 0.0

    @classmethod
    def made(cls, text: str) -> Told:
        """Class method."""
        return cls()

    def done(self, *, how: str = "well", then: object = print) -> None:
        """Do it."""

    def _hidden(self) -> None:
        """Private."""


def test_every_kind_of_member_is_told() -> None:
    told = "\n".join(names._members(Told))
    assert told.splitlines()[0] == "- `field`: `int`. A field."
    assert "#### `Told.plain`: `str`\n\nProperty.\n" in told
    assert "#### `Told.kept`: `float`\n\nCached property.\n" in told
    assert "def made(cls, text: str) -> Told: ...\n```\n\nClass method.\n" in told
    assert (
        'def done(self, *, how: str = "well", then: object = ...) -> None: ...\n```\n\nDo it.\n'
        in told
    )
    assert "hidden" not in told


def test_docstrings_become_markdown() -> None:
    """It has words.

    `a`: one,
    over two lines.
    `b`, `c`: two.
    `d` and `e` are as ever.

    ```
    with x:

        y * z
    ```

    The * end.
    """
    assert names._prose(test_docstrings_become_markdown.__doc__) == (
        "It has words.\n\n"
        "- `a`: one, over two lines.\n- `b`, `c`: two.\n- `d` and `e` are as ever.\n"
        "\n```\nwith x:\n\n    y * z\n```\n\nThe \\* end.\n"
    )


def test_policies_have_the_keys_that_only_they_read() -> None:
    found = re.findall(r"^\| `([\w-]+)` \| .* \| (.*) \|$", policies.page(), re.MULTILINE)
    # Schedulers come first: of a name that two registries have, theirs is meant.
    rows = dict(reversed(found))
    assert re.findall(r"`([\w.]+)`", rows["deadline"]) == [
        "scheduling.read_deadline_us",
        "scheduling.write_deadline_us",
        "scheduling.gc_deadline_us",
    ]
    assert re.findall(r"`([^`]+)`", rows["pes-ips"]) == [
        'scheduling.policy = "rps"',
        'suspension.program = "ips"',
        "suspension.erase = true",
    ]
    everything = {entry.name for entries in rp.policies().values() for entry in entries}
    assert everything <= set(rows) | {"fifo", "rps", "none"}


def test_choices_in_braces_are_written_out() -> None:
    assert list(Column("a.{b,c}.{d,e}", "", "").names()) == ["a.b.d", "a.b.e", "a.c.d", "a.c.e"]
    assert list(Column("a", "", "").names()) == ["a"]


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a * b < c [d]", "a \\* b \\< c \\[d]"),
        ("`a * b` * c", "`a * b` \\* c"),
        ("t_read_us", "t_read_us"),
    ],
)
def test_plain_text_is_no_markup(text: str, markdown: str) -> None:
    assert plain(text) == markdown


def test_a_table() -> None:
    rows: list[Any] = [("a|b", "c\nd")]
    assert table(["x", "y"], rows) == "| x | y |\n|---|---|\n| a\\|b | c d |\n"
    assert anchor("`[timing]` and t_read_us") == "timing-and-t_read_us"


def test_texts_have_the_words_of_the_glossary() -> None:
    texts = [getattr(rp, name).__doc__ or "" for name in rp.__all__]
    assert not [text for text in texts if "response time" in text]
