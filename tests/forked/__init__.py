"""Runs the installed command without its start: in forks of a process that has imported it once."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")


class ForkedCommand:
    """The installed command; each run of it is a process of its own, as it is for a user."""

    def __init__(self, program: str) -> None:
        """Start a process that imports the command, and forks: this one may have threads."""
        self.program = program
        self._environment = _environment()
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, str(SERVER), program, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def run(self, arguments: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the command and return what it printed, as `subprocess.run` does."""
        command = [self.program, *arguments]
        if _environment() != self._environment:
            # What has been imported may have looked at it, so this run imports all anew.
            return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
        read, write = zip(*(os.pipe() for _ in ("output", "errors", "status")), strict=True)
        request = json.dumps({"command": command, "cwd": str(cwd)}).encode()
        socket.send_fds(self._requests, [request], [0, *write])
        for end in write:
            os.close(end)
        with ThreadPoolExecutor(len(read)) as readers:
            out, err, status = readers.map(_text, read)
        assert status, f"the server of commands has ended during {command}"
        return subprocess.CompletedProcess(command, int(status), out, err)

    def close(self) -> None:
        """End that process."""
        self._requests.close()
        self._server.wait()


def _environment() -> dict[str, str]:
    """Return what a command inherits, without the name of the test that runs."""
    return {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}


def _text(end: int) -> str:
    with open(end) as pipe:
        return pipe.read()
