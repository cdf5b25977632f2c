"""Bars in notebooks: what a front end is given to show, with a kernel's shell stood in for."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import reprieve as rp
from reprieve import notebook

from .drive import SMALL
from .sweep_files import grid


class ZMQInteractiveShell:
    """Shell of a notebook's kernel."""


class FrontEnd:
    """Keeps what is displayed, and all that takes its place."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, shell: object) -> None:
        self.shown: list[str] = []
        ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
        vars(ipython)["get_ipython"] = lambda: shell
        vars(display).update(HTML=lambda html: html, display=self.display)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, html: str, display_id: bool) -> Any:
        """Show it as a new output, which may be updated."""
        assert display_id
        assert self.shown == [], "there is one output"
        self.shown.append(html)
        return SimpleNamespace(update=self.shown.append)


@pytest.fixture
def front_end(monkeypatch: pytest.MonkeyPatch) -> FrontEnd:
    """Stand in for a notebook in which everything is shown at once."""
    monkeypatch.setattr(notebook, "_AFTER_S", 0)
    monkeypatch.setattr(notebook, "_EVERY_S", 0)
    return FrontEnd(monkeypatch, ZMQInteractiveShell())


def test_bars_say_how_far_each_is_and_leave_nothing(front_end: FrontEnd) -> None:
    with notebook.bars() as update:
        update("a < b", 0.25, "10 requests")
        update("other", None, "7 requests")
        update("a < b", 1.0, "40 requests")
    begun = (
        '<div><label>a &lt; b <progress value="0.250"></progress> 25 %, 10 requests</label></div>'
    )
    other = "<div><label>other <progress></progress> 7 requests</label></div>"
    assert front_end.shown == [begun, begun + other, other, ""]


def test_runs_comparisons_and_sweeps_show_bars(front_end: FrontEnd, tmp_path: Path) -> None:
    scenario = rp.Scenario.from_toml(SMALL)
    for work, told in (
        (lambda: rp.run(scenario), "run <progress"),
        (lambda: rp.compare(scenario, {"policy": ["rps", "fifo"]}), "fifo <progress"),
        (lambda: rp.compare(scenario, {"policy": ["rps"]}, out=tmp_path / "c"), "rps <progress"),
        (lambda: rp.sweep(grid()), "runs <progress"),
    ):
        work()
        assert any(told in html for html in front_end.shown)
        assert front_end.shown[-1] == ""
        front_end.shown.clear()
    # Who watches shows it.
    rp.run(scenario, watch=lambda _share, _requests: None)
    assert front_end.shown == []


def test_what_is_over_in_a_moment_shows_nothing(
    front_end: FrontEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook, "_AFTER_S", 3600)
    rp.run(rp.Scenario.from_toml(SMALL))
    assert front_end.shown == []


def test_a_shell_on_a_terminal_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    front_end = FrontEnd(monkeypatch, SimpleNamespace())
    assert not notebook.is_notebook()
    monkeypatch.setattr(notebook, "_AFTER_S", 0)
    rp.run(rp.Scenario.from_toml(SMALL))
    assert front_end.shown == []
