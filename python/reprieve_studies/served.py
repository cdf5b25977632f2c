"""A drive that `reprieve serve` serves for the time of a measurement."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reprieve import UserError

_STOP_S = 60


@contextmanager
def served_drive(
    scenario: Path, folder: Path, name: str, options: Sequence[str]
) -> Iterator[Callable[[], dict[str, Any]]]:
    """Serve a scenario at `folder / "drive.sock"`; yields a function that returns its summary."""
    summary = folder / f"{name}.json"
    command = [str(Path(sys.executable).with_name("reprieve")), "serve", str(scenario), *options]
    command += ["--socket", str(folder / "drive.sock"), "--summary", str(summary)]
    # In a session of its own: Ctrl-C would end it while its clients still need it.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        try:
            _until_ready(server, name)
            yield lambda: dict(json.loads(summary.read_text()))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(_STOP_S)


def _until_ready(server: subprocess.Popen[str], name: str) -> None:
    assert server.stdout is not None
    for line in server.stdout:
        if line.startswith("serving "):
            return
    raise UserError(f"reprieve serve ended before it served {name}; try it by itself")
