"""The drive as a block device from Python: a context in which it serves, and its rules."""

from __future__ import annotations

import json
import os
import socket as sockets
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import TracebackType
from typing import Any

from reprieve._native import Server, UserError
from reprieve.scenario import ScenarioLike, Source

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class ServeOptions:
    """What a served drive needs of the machine; the same as of `reprieve serve`.

    >>> options = rp.ServeOptions(socket="ssd.sock", store="ssd.image", time_scale=10)
    >>> with rp.serve({"device": "fast12-slc"}, options) as drive:
    ...     print(drive.control)
    ssd.sock.ctl
    """

    socket: FilePath | None = None
    """A Unix socket to serve at."""
    tcp: str | None = None
    """Or HOST:PORT in the network, with `tls` or `insecure`."""
    tls: tuple[FilePath, FilePath] | None = None
    """Certificate and key, in PEM."""
    tls_client_ca: FilePath | None = None
    """Whose certificates clients must have, in PEM; None: they need none."""
    insecure: bool = False
    """No TLS: whoever reaches the port has the data."""
    from_state: FilePath | None = None
    """The drive starts in the state of this file."""
    store: FilePath | None = None
    """Keep the data in this file; without, it is in memory or, if it may not fit there, in an
    unlinked file in the folder for temporary files."""
    memory_bytes: int | None = None
    """Memory that the data may take up; writes beyond have no room."""
    discard_data: bool = False
    """Keep no data: reads give zeros, for studies of timing."""
    time_scale: float | str = 1
    """How many times slower the model's clock runs."""
    record: FilePath | None = None
    """Record every request here; the .toml beside it replays them."""
    metrics: str | None = None
    """Tell metrics to Prometheus, at [HOST:]PORT."""
    control: FilePath | None = None
    """Where rules are shown and set; by default the socket's name with .ctl."""
    faults: Sequence[str] = ()
    """Faults that commands are to meet, each as of `--fault`: `eio:op=read,every=100`."""

    def asked(self, scale_named: str = "time_scale =") -> dict[str, object]:
        """Return what the simulator is told; UserError if it makes no sense.

        `scale_named`: what an error calls the time scale.
        """
        socket, control = self.socket, self.control
        if self.tcp is None:
            if self.tls or self.tls_client_ca or self.insecure:
                raise UserError("tls, tls_client_ca and insecure go with tcp = ADDRESS")
            socket = Path("reprieve.sock") if socket is None else Path(socket)
            control = socket.with_name(socket.name + ".ctl") if control is None else control
        elif (self.tls is None) != self.insecure:
            raise UserError(f"tcp = {self.tcp}: needs tls, or insecure = True instead of it")
        elif self.tls_client_ca is not None and self.tls is None:
            raise UserError(f"tls_client_ca = {self.tls_client_ca}: needs tls")
        metrics = self.metrics
        return {
            "socket": socket,
            "tcp": self.tcp,
            "tls": self.tls,
            "tls_client_ca": self.tls_client_ca,
            "control": control,
            "from_state": self.from_state,
            "store": self.store,
            "memory_bytes": self.memory_bytes,
            "discard_data": self.discard_data,
            "scale_thousandths": _thousandths(scale_named, str(self.time_scale)),
            "record": self.record,
            "metrics": metrics if metrics is None or ":" in metrics else f"127.0.0.1:{metrics}",
            "faults": list(self.faults),
        }


def server_of(source: Source, asked: dict[str, object]) -> Server:
    """Return the drive of a scenario, which is not open yet; UserError if there can be none."""
    source = source.built_in("a served drive keeps time and waits for no Python program")
    return Server((source.text, source.path, list(source.sets)), asked)


class ServedDrive:
    """A drive that serves while its `with` block lasts, in a thread of its own.

    >>> options = rp.ServeOptions(socket="ssd.sock")
    >>> with rp.serve({"device": "fast12-slc"}, options, policy="PES-IPC") as drive:
    ...     drive.set_rule("suspension.max_per_program", 2)
    ...     print(drive.rules()["suspension.max_per_program"])
    2
    """

    def __init__(self, source: Source, asked: dict[str, object]) -> None:
        self._server = server_of(source, asked)
        self._thread = threading.Thread(target=self._run, name="reprieve-serve")
        self._summary: dict[str, Any] | None = None
        self._error: BaseException | None = None
        self.bytes = self._server.bytes
        """What it holds."""
        self.data_note = self._server.data_note
        """Where the data is, if that is neither in memory nor in the file of `store`."""
        self.place: str | None = None
        """Where clients connect: the path of the socket, or HOST:PORT."""
        self.metrics: str | None = None
        """Where metrics are told, HOST:PORT."""
        self.control: str | None = None
        """The socket at which rules are shown and set."""

    def __enter__(self) -> ServedDrive:
        while self._server.prepare():
            pass
        self.place, self.metrics, self.control = self._server.open()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> dict[str, Any]:
        """Serve no more, as the end of the block does; return the summary."""
        if self._thread.is_alive():
            os.write(self._server.stop_fd, b"\0")
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self.summary

    @property
    def summary(self) -> dict[str, Any]:
        """What was served, as `summary.json` has it; UserError while it serves."""
        if self._summary is None:
            raise UserError("the drive has not stopped, so that there is no summary of it; stop()")
        return self._summary

    def rules(self) -> dict[str, str]:
        """Return the rules of suspension that hold, as TOML."""
        return dict(self._ask({"show": True})["rules"])

    def set_rule(self, key: str, value: object) -> None:
        """Let another rule hold from now on: `set_rule("suspension.policy", "threshold")`."""
        self._ask({"set": [key, str(value)]})

    def _ask(self, question: dict[str, object]) -> dict[str, Any]:
        if self.control is None:
            raise UserError("this drive has no control; give control = FILE")
        return ask(Path(self.control), question)

    def _run(self) -> None:
        try:
            self._summary = json.loads(self._server.run(warnings.warn))
        except BaseException as error:  # raised where the drive is stopped
            self._error = error


def serve(
    scenario: ScenarioLike, options: ServeOptions | None = None, **overrides: Any
) -> ServedDrive:
    """Serve a scenario's drive as a network block device, in real time.

    `scenario` and `overrides` as for `run`; without options it serves at `reprieve.sock`.

    >>> with rp.serve({"device": "fast12-slc"}, rp.ServeOptions(socket="ssd.sock")) as drive:
    ...     print(drive.place)
    ssd.sock
    >>> drive.summary["requests"]["total"]["count"]
    0
    """
    asked = (options or ServeOptions()).asked()
    return ServedDrive(Source.of(scenario, overrides), asked)


def _thousandths(name: str, text: str) -> int:
    """Return how many thousandths of the wall's time one of the model's takes."""
    try:
        scale = Decimal(text)
    except InvalidOperation:
        scale = Decimal(0)
    found = scale * 1000 if scale.is_finite() else Decimal(0)
    if not 1 <= found <= 10**9 or found != int(found):
        raise UserError(
            f"{name} {text}: must be a number from 0.001 to 1000000 with three decimals"
        )
    return int(found)


def ask(path: Path, question: dict[str, object]) -> dict[str, Any]:
    """Ask a drive that serves at its control; UserError if it says no or nothing."""
    try:
        with sockets.socket(sockets.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(str(path))
            connection.sendall((json.dumps(question) + "\n").encode())
            with connection.makefile("r", encoding="utf-8") as answer:
                told = dict(json.loads(answer.readline()))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{path}: no drive answers there: {reason}; name its socket") from None
    if "error" in told:
        raise UserError(told["error"])
    return told
