"""The drive as a block device from Python: a context in which it serves, and its rules."""

import json
import os
import socket as sockets
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from reprieve import words
from reprieve._native import Server, UserError
from reprieve.overwriting import is_special
from reprieve.scenario import ScenarioLike, Source

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class ServeOptions:
    """Machine resources of a served drive, as in the options of `reprieve serve`.

    >>> options = rp.ServeOptions(socket="ssd.sock", store="ssd.image", time_scale=10)
    >>> with rp.serve({"device": "fast12-slc"}, options) as drive:
    ...     print(drive.control)
    ssd.sock.ctl
    """

    socket: FilePath | None = None
    """The Unix socket to serve at."""
    tcp: str | None = None
    """Instead of a socket, HOST:PORT on the network, with `tls` or `insecure`."""
    tls: tuple[FilePath, FilePath] | None = None
    """Certificate and key, in PEM."""
    tls_client_ca: FilePath | None = None
    """The authority that must have signed the certificates of clients, in PEM; None: any client."""
    insecure: bool = False
    """No TLS: anybody who reaches the port can read and write the data."""
    from_state: FilePath | None = None
    """A saved state, in which the drive starts."""
    store: FilePath | None = None
    """Keep the data in this file. Without it, data is in memory or, if it may not fit there, in an
    unlinked file in the folder for temporary files."""
    memory_bytes: int | None = None
    """The memory that data may occupy; a write that needs more fails with ENOSPC."""
    discard_data: bool = False
    """Keep no data: reads give zeros, for studies of timing."""
    time_scale: float | str = 1
    """The factor by which simulated time runs slower than real time."""
    record: FilePath | None = None
    """A file that records every request; the .toml beside it replays them."""
    metrics: str | None = None
    """Serve metrics to Prometheus at [HOST:]PORT."""
    control: FilePath | None = None
    """A socket that shows and sets rules; by default the name of `socket` with .ctl."""
    faults: Sequence[str] = ()
    """Faults to inject, each as for `--fault`: `eio:op=read,every=100`."""

    def asked(self, scale_named: str = "time_scale =") -> dict[str, object]:
        """Return the options as the simulator takes them; raises UserError if they conflict.

        `scale_named`: the name of the time scale in an error.
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
        if self.record is not None and is_special(Path(self.record)):
            raise UserError(
                f"record {os.fspath(self.record)}: must be a file, as the scenario that replays it "
                "goes beside it"
            )
        if self.memory_bytes is not None:
            words.whole("memory_bytes", self.memory_bytes)
        metrics = self.metrics
        return vars(self) | {
            "socket": socket,
            "control": control,
            "scale_thousandths": _thousandths(scale_named, str(self.time_scale)),
            "metrics": metrics if metrics is None or ":" in metrics else f"127.0.0.1:{metrics}",
            "faults": list(self.faults),
        }


def server_of(source: Source, asked: dict[str, object]) -> Server:
    """Return the drive of a scenario, not yet open; raises UserError if there can be none."""
    source = source.built_in("a served drive keeps time and waits for no Python program")
    return Server((source.text, source.path, list(source.sets)), asked)


class ServedDrive:
    """A drive that serves while its `with` block lasts, in a thread of its own.

    Raises UserError, as each method does, if the socket or the files cannot be used.

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
        """The capacity of the drive in bytes."""
        self.data_note = self._server.data_note
        """Where the data is, if neither in memory nor in the file `store`."""
        self.place: str | None = None
        """Where clients connect: the path of the socket, or HOST:PORT."""
        self.metrics: str | None = None
        """HOST:PORT at which metrics are served."""
        self.control: str | None = None
        """The socket that shows and sets rules."""

    def __enter__(self) -> "ServedDrive":
        while self._server.prepare():
            pass
        self.place, self.metrics, self.control = self._server.open()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> dict[str, Any]:
        """Stop serving, as the end of the block does; return the summary.

        Raises UserError if the drive has failed.
        """
        if self._thread.is_alive():
            os.write(self._server.stop_fd, b"\0")
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self.summary

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of what was served; raises UserError while the drive serves."""
        if self._summary is None:
            raise UserError("the drive has not stopped, so that there is no summary of it; stop()")
        return self._summary

    def rules(self) -> dict[str, str]:
        """Return the suspension rules in force, as TOML; raises UserError without a control."""
        return dict(self._ask({"show": True})["rules"])

    def set_rule(self, key: str, value: object) -> None:
        """Change a rule from now on: `set_rule("suspension.policy", "threshold")`.

        Raises UserError if the key or the value is wrong.
        """
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

    `scenario` and `overrides`: as for `run`.
    `options`: by default it serves at the Unix socket `reprieve.sock`.

    Raises UserError if the scenario or an option is wrong.

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
    """Ask a drive that serves at its control; raises UserError if it says no or nothing."""
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
