"""Forks for each command that it is asked to run: the fork runs the command's script, and ends."""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
from pathlib import Path

IMPORTED = (
    "reprieve.cli.compare",
    "reprieve.cli.run",
    "reprieve.report.page",
    "reprieve_studies.papers",
    "rich.progress",
)
"""Modules that many commands import, which import the rest themselves, as when installed."""


def serve(requests: socket.socket) -> list[str]:
    """Return a command's words, in a process that has its directory and its streams."""
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([requests.fileno(), *running], [], [])
        for ended in {*ready} & {*running}:
            report(ended, *running.pop(ended))
        if requests.fileno() not in ready:
            continue
        message, ends, _, _ = socket.recv_fds(requests, 1 << 20, 4)
        if not message:
            sys.exit()
        request = json.loads(message)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, interrupted)
            for number in range(3):
                os.dup2(ends[number], number)
            for end in (*ends, *running, *(status for _, status in running.values())):
                os.close(end)
            requests.close()
            os.chdir(request["cwd"])
            return list(request["command"])
        *streams, status = ends
        running[os.pidfd_open(pid)] = (pid, status)
        for stream in streams:
            os.close(stream)


def report(ended: int, pid: int, status: int) -> None:
    """Tell how a process has ended: its exit status, or the signal that ended it, negative."""
    _, code = os.waitpid(pid, 0)
    with open(status, "w") as told:
        told.write(str(os.waitstatus_to_exitcode(code)))
    os.close(ended)


def main(program: str, requests: str) -> None:
    """Import, serve, and in each fork run the command."""
    sys.path[0] = str(Path(program).parent)
    # A fork has only the thread that forks. Without this, NumPy would start others.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in IMPORTED:
        importlib.import_module(name)
    del os.environ["OPENBLAS_NUM_THREADS"]
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 - names are enough
    assert threads == 1, f"{threads} threads after importing {IMPORTED}"
    gc.freeze()
    sys.argv = serve(socket.socket(fileno=int(requests)))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
