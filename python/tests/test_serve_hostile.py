"""The served drive among clients that mean it harm: it goes on, and tells them nothing."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from .nbd_client import FLUSH, OPTION, READ, WRITE, Client, Served

SECRET = b"nobody else's" * 100


@pytest.fixture
def served(program: str, tmp_path: Path) -> Iterator[Served]:
    """Serve a drive, and see at the end that it still does and that nothing has leaked."""
    drive = Served(program, tmp_path)
    client = drive.connect()
    client.write(1 << 20, SECRET)
    try:
        yield drive
        assert drive.process.poll() is None
        assert client.read(1 << 20, len(SECRET)) == SECRET
        drive.connect().write(0, bytes(512))
        drive.stop()
    finally:
        drive.give_up()


def said(connection: socket.socket) -> bytes:
    """All that the server says until it hangs up or has nothing to say."""
    connection.settimeout(0.2)
    heard = b""
    try:
        while piece := connection.recv(1 << 16):
            heard += piece
    except OSError:
        pass
    return heard


def handshakes(draw: random.Random) -> bytes:
    """Say something that begins like a handshake, and goes wrong somewhere."""
    whole = struct.pack(">I", draw.choice([0, 1, 2, 3, 3, 3, 4, 2**32 - 1]))
    for _ in range(draw.randrange(6)):
        option = draw.choice([1, 2, 3, 5, 6, 7, 8, 9, 10, 0, 2**32 - 1])
        data = draw.randbytes(draw.choice([0, 0, 1, 6, 50, 9000]))
        length = draw.choice([len(data)] * 6 + [0, 2**32 - 1, len(data) + 1])
        whole += struct.pack(">QII", OPTION, option, length) + data
    broken = bytearray(whole)
    if draw.random() < 0.3:
        broken[draw.randrange(len(broken))] ^= 1 << draw.randrange(8)
    return bytes(broken[: draw.randrange(len(broken) + 1)])


def requests(draw: random.Random) -> bytes:
    """Write requests of which most are malformed, absurd or cut short; none names the secret."""
    whole = b""
    for _ in range(draw.randrange(1, 8)):
        magic = 0x25609513 if draw.random() < 0.95 else draw.randrange(2**32)
        kind = draw.choice([READ, WRITE, FLUSH, 4, 5, 6, 7, 2, 65_535])
        offset = draw.choice([0, 513, 2**19, 2**40, 2**63, 2**64 - 1])
        count = draw.choice([0, 1, 512, 4096, 100_000, 2**25 + 1, 2**31, 2**32 - 1])
        if offset + count > 2**20 and offset < 2**20:
            count = 512
        flags = draw.choice([0, 0, 1, 2, 3, 4, 65_535])
        whole += struct.pack(">IHHQQI", magic, flags, kind, draw.randrange(2**64), offset, count)
        if kind == WRITE and draw.random() < 0.8:
            whole += draw.randbytes(min(count, 200_000))
    return whole[: draw.randrange(len(whole) + 1)]


def test_handshakes_that_go_wrong(served: Served) -> None:
    draw = random.Random(7)
    for _ in range(300):
        connection = served.raw()
        try:
            connection.sendall(handshakes(draw))
            if draw.random() < 0.1:
                assert SECRET[:13] not in said(connection)
        except OSError:
            pass
        served.sockets.remove(connection)
        connection.close()


def test_requests_that_go_wrong(served: Served) -> None:
    draw = random.Random(8)
    for _ in range(300):
        client = served.connect()
        try:
            client.connection.settimeout(5)
            client.connection.sendall(requests(draw))
            if draw.random() < 0.1:
                assert SECRET[:13] not in said(client.connection)
        except OSError:
            pass
        served.sockets.remove(client.connection)
        client.connection.close()


def test_a_client_that_vanishes_tears_nothing_smaller_than_a_page(served: Served) -> None:
    client = served.connect()
    client.write(0, b"\1" * 65_536)
    for sent in (0, 1, 4095, 4096, 30_000, 65_535):
        other = served.connect()
        other.connection.sendall(struct.pack(">IHHQQI", 0x25609513, 0, WRITE, 1, 0, 65_536))
        other.connection.sendall(b"\2" * sent)
        other.connection.close()
        # Whatever came later than what was sent above was looked at later.
        served.connect().read(0, 1)
        found = client.read(0, 65_536)
        assert len({found[at : at + 4096] for at in range(0, 65_536, 4096)}) <= 2
        assert found.count(1) + found.count(2) == 65_536
        assert found.count(2) <= sent // 4096 * 4096
        client.write(0, b"\1" * 65_536)


def is_served(served: Served) -> bool:
    """Connect and read; whether the server has room for that."""
    try:
        return served.connect().read(0, 512) == bytes(512)
    except ConnectionError:
        return False


def test_thousands_of_connections(served: Served) -> None:
    before = served.resident_bytes()
    for _ in range(3):
        idle = []
        for _ in range(1100):
            connection = socket.socket(socket.AF_UNIX)
            idle.append(connection)
            connection.connect(str(served.socket))
        # A client gets in while they wait: of handshakes the last 512 stay, its own among them.
        assert is_served(served)
        hung_up = 0
        for connection in idle:
            assert len(connection.recv(18, socket.MSG_WAITALL)) == 18
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                hung_up += connection.recv(1) == b""
        assert hung_up == 1100 + 1 - 512
        for connection in idle:
            connection.close()
    assert served.resident_bytes() - before < 50_000_000


def test_a_client_that_asks_and_does_not_listen_takes_little_memory(served: Served) -> None:
    before = served.resident_bytes()
    deaf = [served.connect() for _ in range(20)]
    for client in deaf:
        client.connection.setblocking(False)
        request = struct.pack(">IHHQQI", 0x25609513, 0, READ, 1, 0, 1 << 20)
        try:
            for _ in range(5000):
                client.connection.sendall(request)
        except BlockingIOError:
            pass
    # 20 clients have asked for 20 GiB and more between them.
    assert served.connect().read(0, 512) == bytes(512)
    assert served.resident_bytes() - before < 20 * 2_000_000


def test_two_that_stop_in_the_middle_of_everything(served: Served) -> None:
    stuck = [served.connect(), Client(served.raw())]
    for client in stuck:
        client.connection.sendall(
            struct.pack(">IHHQQI", 0x25609513, 0, WRITE, 1, 8 << 20, 32 << 20)
        )
        client.connection.sendall(bytes(5_000_000))
    assert served.connect().read(0, 512) == bytes(512)
