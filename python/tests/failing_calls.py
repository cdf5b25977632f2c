"""Runs commands in which one call that changes a file fails, as on a full or broken disk."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forked import ForkedCommand

_SOURCE = Path(__file__).with_suffix(".c")
_PLAN = struct.Struct("lll")
"""Calls so far, the one that fails (0: none), its error."""


class FailingCalls:
    """The command, and the call below its folder that fails.

    All its processes are counted together: forks, workers, and servers.
    """

    def __init__(self, program: str, folder: Path) -> None:
        """Start a process for commands, which preloads the library."""
        self.below = folder / "below"
        self.below.mkdir()
        self._file = (folder / "plan").open("w+b")
        self._file.truncate(mmap.PAGESIZE)
        self._plan = mmap.mmap(self._file.fileno(), mmap.PAGESIZE)
        self._command = ForkedCommand(program)

    def fail(self, number: int, error: int) -> None:
        """Count from now on; the call of this number fails, 0: none."""
        self._plan[: _PLAN.size] = _PLAN.pack(0, number, error)

    def run(self, fails: int, error: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command; the call of this number fails, 0: none."""
        self.fail(fails, error)
        return self._command.run(arguments, self.below)

    @property
    def calls(self) -> int:
        """The number of calls since then."""
        return int(_PLAN.unpack(self._plan[: _PLAN.size])[0])

    def close(self) -> None:
        """End the process."""
        self._command.close()
        self._plan.close()
        self._file.close()


@contextmanager
def failing_calls(program: str, folder: Path) -> Iterator[FailingCalls]:
    """Compile the library, and preload it into commands that are run inside the block."""
    library, folder = folder / "failing_calls.so", Path(os.path.realpath(folder))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library))
        patch.setenv("FAILING_PLAN", str(folder / "plan"))
        patch.setenv("FAILING_BELOW", str(folder / "below"))
        commands = FailingCalls(program, folder)
        try:
            yield commands
        finally:
            commands.close()
