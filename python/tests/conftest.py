"""What the tests share: a scenario on disk, and the command line as a user runs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .browser import CHROMIUM
from .drive import SMALL, Reprieve


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud that nobody has looked at the reports, where there is no browser to do it."""
    if CHROMIUM is None:
        terminalreporter.section("there is no chromium: reports were not opened", yellow=True)


@pytest.fixture
def program() -> str:
    """Path of the installed command."""
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


@pytest.fixture
def reprieve(program: str, tmp_path: Path) -> Reprieve:
    """Run the command line in the test's directory and return what it printed."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [program, *(str(argument) for argument in arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    return run
