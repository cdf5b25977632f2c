"""What the tests share: a scenario on disk, and the command line as a user runs it."""

from __future__ import annotations

import gc
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


def pytest_sessionstart(session: pytest.Session) -> None:
    """Look for cycles of garbage less often: what is imported holds very many objects."""
    _ = session
    gc.set_threshold(50_000, 20, 50)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest tests, whose marks say about how many seconds of CPU time they take.

    Otherwise one of them could be the last, and all processes but its own would be idle.
    """
    marks = [item.get_closest_marker("seconds") for item in items]
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = dealt(items, [mark.args[0] if mark else 0 for mark in marks], processes)


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
