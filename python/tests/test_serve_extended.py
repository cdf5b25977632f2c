"""The served drive with extended headers, byte by byte as the NBD protocol's document has them."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from .nbd_client import DRIVE, FLUSH, OPTION, READ, TRIM, WRITE, ZEROES, Served

GIB = 1 << 30
# Twelve GiB: 2 * 2 * 2 * 256 * 512 pages of 16 KiB, three quarters of them the host's.
LARGE = DRIVE.replace("blocks_per_plane = 64", "blocks_per_plane = 256").replace(
    "pages_per_block = 64", "pages_per_block = 512\npage_bytes = 16384"
)
LARGE_BYTES = 12 * GIB

STATUS = 7
# Options, flags of commands, kinds of replies.
GO, SET_META_CONTEXT, EXTENDED_HEADERS = 7, 10, 11
REQ_ONE, PAYLOAD = 8, 32
NONE, DATA, STATUS_EXTENDED, ERROR = 0, 1, 6, 0x8001
EINVAL = 22
HOLE = 3


class Extended:
    """A conversation with extended headers and where the drive holds data."""

    def __init__(self, connection: socket.socket) -> None:
        """Finish the handshake."""
        self.connection = connection
        self.cookie = 0
        assert self.take(18)[:16] == b"NBDMAGICIHAVEOPT"
        connection.sendall(struct.pack(">I", 3))
        assert self.option(EXTENDED_HEADERS, b"") == [(1, b"")]
        name = b"base:allocation"
        asked = struct.pack(">III", 0, 1, len(name)) + name
        told = self.option(SET_META_CONTEXT, asked)
        assert told == [(4, struct.pack(">I", 1) + name), (1, b"")]
        (information, _) = self.option(GO, bytes(6))
        self.bytes, self.flags = struct.unpack(">QH", information[1][2:])

    def take(self, count: int) -> bytes:
        """Exactly so many bytes."""
        data = self.connection.recv(count, socket.MSG_WAITALL)
        if len(data) < count:
            raise ConnectionError("the server has closed the connection")
        return data

    def option(self, option: int, data: bytes) -> list[tuple[int, bytes]]:
        """Send an option; kinds and contents of the replies."""
        self.connection.sendall(struct.pack(">QII", OPTION, option, len(data)) + data)
        replies: list[tuple[int, bytes]] = []
        while not replies or replies[-1][0] in (3, 4):
            magic, answered, kind, count = struct.unpack(">QIII", self.take(20))
            assert (magic, answered) == (0x3E889045565A9, option)
            replies.append((kind, self.take(count)))
        return replies

    def send(self, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0) -> None:
        """Send a command."""
        self.cookie += 1
        head = struct.pack(">IHHQQQ", 0x21E41C71, flags, kind, self.cookie, offset, length)
        self.connection.sendall(head + data)

    def call(
        self, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0
    ) -> tuple[int, bytes]:
        """Send a command; kind and content of its reply, which is of one piece."""
        self.send(kind, offset, length, data, flags)
        magic, done, answered, cookie, told_offset, count = struct.unpack(">IHHQQQ", self.take(32))
        assert (magic, done, cookie, told_offset) == (0x6E8A278C, 1, self.cookie, offset)
        return answered, self.take(count)

    def write(self, offset: int, data: bytes) -> None:
        """Write bytes."""
        assert self.call(WRITE, offset, len(data), data, PAYLOAD) == (NONE, b"")

    def extents(self, offset: int, length: int, flags: int = 0) -> list[tuple[int, int]]:
        """Ask where the drive holds data: lengths and flags of stretches."""
        kind, told = self.call(STATUS, offset, length, flags=flags)
        assert kind == STATUS_EXTENDED
        context, count = struct.unpack(">II", told[:8])
        assert context == 1 and len(told) == 8 + 16 * count
        return list(struct.iter_unpack(">QQ", told[8:]))


def error(number: int) -> tuple[int, bytes]:
    """Return the reply with an error: its number, and a message of no length."""
    return ERROR, struct.pack(">IH", number, 0)


@pytest.fixture
def large(program: str, tmp_path: Path) -> Iterator[Served]:
    drive = Served(program, tmp_path, "--store", "store", text=LARGE)
    try:
        yield drive
    finally:
        drive.give_up()


def test_lengths_may_be_longer_than_4_gib(large: Served) -> None:
    client = Extended(large.raw())
    assert client.bytes == LARGE_BYTES
    assert client.extents(0, LARGE_BYTES) == [(LARGE_BYTES, HOLE)]
    data = bytes(range(256)) * 16
    client.write(5 * GIB, data)
    assert client.call(READ, 5 * GIB, 4096) == (DATA, struct.pack(">Q", 5 * GIB) + data)
    around = [(5 * GIB, HOLE), (4096, 0), (7 * GIB - 4096, HOLE)]
    assert client.extents(0, LARGE_BYTES) == around
    assert client.extents(0, LARGE_BYTES, REQ_ONE) == around[:1]
    # A trim that ends before the data, and one that goes beyond it.
    assert client.call(TRIM, 0, 5 * GIB) == (NONE, b"")
    assert client.extents(0, LARGE_BYTES) == around
    assert client.call(TRIM, GIB // 2, 6 * GIB) == (NONE, b"")
    assert client.extents(0, LARGE_BYTES) == [(LARGE_BYTES, HOLE)]
    client.write(5 * GIB, data)
    assert client.call(ZEROES, 0, LARGE_BYTES) == (NONE, b"")
    assert client.call(READ, 5 * GIB, 4096) == (DATA, struct.pack(">Q", 5 * GIB) + bytes(4096))
    large.stop()
    served = json.loads((large.folder / "summary.json").read_text())["served"]["commands"]
    assert served["trim"]["bytes"] == 11 * GIB
    assert served["write_zeroes"]["bytes"] == LARGE_BYTES


def test_every_reply_has_an_extended_header(large: Served) -> None:
    client = Extended(large.raw())
    assert client.call(FLUSH, 0, 0) == (NONE, b"")
    assert client.call(READ, 0, 0) == (NONE, b"")
    assert client.call(READ, LARGE_BYTES, 512) == error(EINVAL)
    assert client.call(TRIM, GIB, 1 << 63) == error(EINVAL)
    assert client.call(ZEROES, GIB, LARGE_BYTES) == error(28)
    assert client.call(STATUS, 0, 0) == error(EINVAL)
    assert client.call(99, 0, 0) == error(EINVAL)


def test_data_that_a_command_does_not_have_is_passed_over(large: Served) -> None:
    client = Extended(large.raw())
    for kind in (READ, FLUSH, TRIM, ZEROES, STATUS, 99):
        # What looks like a request among it is none.
        data = struct.pack(">IHHQQQ", 0x21E41C71, 0, READ, 0, 0, 0) * 3
        assert client.call(kind, 0, len(data), data, PAYLOAD) == error(EINVAL)
    client.write(0, b"x" * 512)
    assert client.call(READ, 0, 512) == (DATA, bytes(8) + b"x" * 512)


@pytest.mark.parametrize(
    ("kind", "length", "flags"),
    [(WRITE, 512, 0), (WRITE, (32 << 20) + 1, PAYLOAD), (TRIM, 1 << 40, PAYLOAD)],
)
def test_who_does_not_say_what_follows_is_hung_up_on(
    large: Served, kind: int, length: int, flags: int
) -> None:
    client = Extended(large.raw())
    with pytest.raises(ConnectionError):
        client.call(kind, 0, length, bytes(512), flags)
    # As is who speaks of compact requests.
    client = Extended(large.raw())
    client.connection.sendall(struct.pack(">IHHQQI", 0x25609513, 0, READ, 1, 0, 512) + bytes(4))
    with pytest.raises(ConnectionError):
        client.take(1)
    Extended(large.raw()).write(0, b"x" * 512)


def test_compact_requests_are_what_they_were(large: Served) -> None:
    client = large.connect()
    client.write(5 * GIB, b"y" * 4096)
    assert Extended(large.raw()).call(READ, 5 * GIB, 4) == (
        DATA,
        struct.pack(">Q", 5 * GIB) + b"yyyy",
    )
    # The flag has no meaning there.
    assert client.call(WRITE, 0, 512, bytes(512), PAYLOAD) == EINVAL
    assert client.read(5 * GIB, 4) == b"yyyy"
