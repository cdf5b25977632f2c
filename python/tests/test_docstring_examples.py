"""Every public name has an example in its docstring, and gives what the example shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import reprieve as rp
from reprieve.reference import names

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# The page has a section for each name, with the docstrings of compiled classes too.
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^###? |\Z)", names.page(), re.M | re.S))
NEEDS = {"SimpyDrive": "simpy", "tune": "optuna", "Tuning": "optuna"}


def test_every_public_name_has_a_section() -> None:
    assert set(SECTIONS) == {*rp.__all__, "Plots"} - {"__version__"}


@pytest.mark.parametrize("name", SECTIONS)
def test_example_gives_what_it_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    text = "\n".join(re.findall(r"^```pycon\n(.*?)^```", SECTIONS[name], re.M | re.S))
    shown = doctest.DocTestParser().get_doctest(text, {"rp": rp}, name, None, None)
    assert shown.examples, "has no example"
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(shown, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)
