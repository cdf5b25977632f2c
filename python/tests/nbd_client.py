"""A plain client of network block devices, for tests that want to see every byte."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
from pathlib import Path

import pytest

READ, WRITE, DISC, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6
FUA = 1
OPTION = 0x49484156454F5054
DRIVE = """device = "fast12-slc"
policy = "pes-ipc"
[geometry]
channels = 2
dies_per_channel = 2
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 64
[ftl]
over_provisioning = 0.25
precondition = "none"
[buffer]
acknowledge = "back"
[workload]
unwritten = "zero"
"""
# 2 * 2 * 2 * 64 * 64 pages of 2 KiB, three quarters of them the host's.
DRIVE_BYTES = 2 * 2 * 2 * 64 * 64 * 3 // 4 * 2048


def need(*tools: str) -> None:
    """Skip the test, and say so, where a tool is not installed; in CI that is a failure."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        what = f"NOT TESTED: {', '.join(missing)} not installed; .ci/run installs what is needed"
        if os.environ.get("CI"):
            pytest.fail(what)
        pytest.skip(what)


class Served:
    """A drive that serves, in a process of its own."""

    def __init__(self, program: str, folder: Path, *arguments: str, text: str = DRIVE) -> None:
        """Start it and wait until it can be connected to."""
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.socket = folder / "s"
        self.sockets: list[socket.socket] = []
        scenario = folder / "drive.toml"
        scenario.write_text(text)
        place = () if "--tcp" in arguments else ("--socket", "s")
        self.process = subprocess.Popen(
            [program, "serve", "drive.toml", *place, "--summary", "summary.json", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.told = self.next_line()
        assert self.told.startswith("serving "), self.process.communicate()

    def next_line(self) -> str:
        """Wait for another line of what it says when it begins; `stop` does not return it."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    @property
    def uri(self) -> str:
        """Name that clients give it."""
        return f"nbd+unix:///?socket={self.socket}"

    def connect(self) -> Client:
        """Connect and finish the handshake."""
        return Client(self.raw())

    def raw(self) -> socket.socket:
        """Connect, and no more."""
        connection = socket.socket(socket.AF_UNIX)
        self.sockets.append(connection)
        connection.connect(str(self.socket))
        return connection

    def hang_up(self) -> None:
        """Close every connection."""
        while self.sockets:
            self.sockets.pop().close()

    def resident_bytes(self) -> int:
        """Memory that the process has for itself: its code, which is mapped, is not counted."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("RssAnon:"))
        return int(line.split()[1]) * 1024

    def stop(self, number: signal.Signals = signal.SIGINT) -> str:
        """End it as Ctrl-C does; what it printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate()
        self.hang_up()
        assert (self.process.returncode, err) == (0, "")
        return out

    def give_up(self) -> None:
        """End what is left after a test, however it went."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.hang_up()

    def kill(self) -> None:
        """End it as a power cut would, and remove what that leaves behind."""
        self.process.kill()
        self.process.communicate()
        self.hang_up()
        for name in ("s", "s.ctl"):
            (self.folder / name).unlink(missing_ok=True)


class Client:
    """A conversation with simple replies."""

    def __init__(self, connection: socket.socket) -> None:
        """Finish the handshake in the old way."""
        self.connection = connection
        assert self.take(18)[:16] == b"NBDMAGICIHAVEOPT"
        connection.sendall(struct.pack(">IQII", 3, OPTION, 1, 0))
        self.bytes, self.flags = struct.unpack(">QH", self.take(10))
        self.cookie = 0

    def take(self, count: int) -> bytes:
        """Exactly so many bytes."""
        data = b""
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            if not piece:
                raise ConnectionError("the server has closed the connection")
            data += piece
        return data

    def send(self, kind: int, offset: int, count: int, data: bytes = b"", flags: int = 0) -> int:
        """Send a command and return its cookie."""
        self.cookie += 1
        self.connection.sendall(self.head(kind, self.cookie, offset, count, flags) + data)
        return self.cookie

    @staticmethod
    def head(kind: int, cookie: int, offset: int, count: int, flags: int = 0) -> bytes:
        """Return a command without its data."""
        return struct.pack(">IHHQQI", 0x25609513, flags, kind, cookie, offset, count)

    def answer(self) -> tuple[int, int]:
        """Error and cookie of the next reply."""
        magic, error, cookie = struct.unpack(">IIQ", self.take(16))
        assert magic == 0x67446698
        return error, cookie

    def call(self, kind: int, offset: int, count: int, data: bytes = b"", flags: int = 0) -> int:
        """Send a command and wait for its reply; its error."""
        cookie = self.send(kind, offset, count, data, flags)
        error, answered = self.answer()
        assert answered == cookie
        return error

    def read(self, offset: int, count: int) -> bytes:
        """Read bytes."""
        assert self.call(READ, offset, count) == 0
        return self.take(count)

    def write(self, offset: int, data: bytes, flags: int = 0) -> None:
        """Write bytes."""
        assert self.call(WRITE, offset, len(data), data, flags) == 0
