"""Fixtures: a scenario on disk, and the command line as a user runs it."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM
from forked import ForkedCommand

from .drive import SMALL, Reprieve
from .order import dealt

# Every test prepares its drives: no state of an earlier build is in the way of a fault.
os.environ["REPRIEVE_STATES"] = "off"

_SLOW_S = 10
"""Tests that take longer are left to `make test-all`."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Look for cycles of garbage less often: what is imported holds very many objects."""
    _ = session
    gc.set_threshold(50_000, 20, 50)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest tests, whose marks say about how many seconds of CPU time they take.

    Otherwise one of them could be the last, and all processes but its own would be idle.
    """
    if "REPRIEVE_QUICK" in os.environ:
        left_out = [item for item in items if _seconds(item) >= _SLOW_S]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _seconds(item) < _SLOW_S]
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = dealt(items, [_seconds(item) for item in items], processes)


def _seconds(item: pytest.Item) -> float:
    mark = item.get_closest_marker("seconds")
    return float(mark.args[0]) if mark else 0.0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud that nobody has looked at the reports, where there is no browser to do it."""
    if CHROMIUM is None:
        terminalreporter.section("there is no chromium: reports were not opened", yellow=True)


@pytest.fixture(scope="session")
def program() -> str:
    """Path of the installed command, for tests of its start and its end, and of signals."""
    beside = Path(sys.executable).with_name("reprieve")
    found = str(beside) if beside.exists() else shutil.which("reprieve")
    assert found is not None, "the package is not installed: there is no command reprieve"
    return found


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Path of a scenario that runs in a moment, in a directory of its own."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def forked(program: str) -> Iterator[ForkedCommand]:
    """Import the installed command once for all tests of this process."""
    command = ForkedCommand(program)
    yield command
    command.close()


@pytest.fixture
def reprieve(forked: ForkedCommand, tmp_path: Path) -> Reprieve:
    """Run the command line in the test's directory and return what it printed."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return forked.run([str(argument) for argument in arguments], tmp_path)

    return run
