"""The served drive among clients that ask for more than they take: its memory has a bound.

Nothing here depends on how fast the machine is: situations are brought about, and what is counted
are commands and bytes.
"""

from __future__ import annotations

import contextlib
import csv
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .nbd_client import DRIVE, DRIVE_BYTES, OPTION, READ, TRIM, WRITE, Client, Served, need
from .test_serve_kills import Disk, require_disks

# What the server may take beyond what it had when it began.
MORE_BYTES = 64 << 20
# What the drive may be handed at once, of all clients and of one.
ALL_BYTES = 64 << 20
CLIENT_BYTES = 16 << 20
PIECE_BYTES = 1 << 20
# Reads of never-written pages cost flash reads, so that the drive has something to do.
BUSY = DRIVE.replace('unwritten = "zero"', 'unwritten = "flash"')


@pytest.fixture
def served(program: str, tmp_path: Path) -> Iterator[Served]:
    """Serve a drive that is busy for long, and see that its memory has a bound."""
    drive = Served(program, tmp_path, "--record", "recording.csv", text=BUSY)
    before = drive.resident_bytes()
    try:
        yield drive
        if drive.process.poll() is None:
            assert drive.resident_bytes() - before < MORE_BYTES
    finally:
        drive.give_up()


def read_of(offset: int, length: int) -> bytes:
    """Return a request of a read."""
    return struct.pack(">IHHQQI", 0x25609513, 0, READ, 1, offset, length)


def pour(served: Served, connection: socket.socket, what: bytes, most_bytes: int) -> int:
    """Send `what` again and again until the server takes no more; return how many bytes it took.

    It takes no more if it has answered two questions of somebody else since, and so has looked at
    every socket, and still nothing fits.
    """
    connection.setblocking(False)
    other = served.connect()
    sent, refused = 0, 0
    while sent < most_bytes and refused < 3:
        try:
            sent += connection.send(what[sent % len(what) :])
            refused = 0
        except BlockingIOError:
            refused += 1
            for _ in range(2):
                other.read(0, 0)
    other.connection.close()
    served.sockets.remove(other.connection)
    return sent


def kernel_bytes() -> int:
    """Return an upper bound of what a connection holds in the system's own buffers."""
    return 4 * int(Path("/proc/sys/net/core/wmem_default").read_text())


def test_a_client_that_does_not_listen_to_replies_to_options(served: Served) -> None:
    deaf = served.raw()
    deaf.sendall(struct.pack(">I", 3))
    options = struct.pack(">QII", OPTION, 3, 0) * 4096
    # Each of 16 bytes has 44 bytes of answers.
    assert pour(served, deaf, options, 256 << 20) < kernel_bytes() + (1 << 20)
    # It is served when it listens, unless it has been at it for longer than a handshake may take:
    # a reply to a list is a name's, and an acknowledgement.
    deaf.setblocking(True)
    heard = deaf.recv(18, socket.MSG_WAITALL)
    assert heard[:8] == b"NBDMAGIC"
    for _ in range(10_000):
        reply = deaf.recv(44, socket.MSG_WAITALL)
        if len(reply) < 44:
            break
        kinds = [struct.unpack_from(">I", reply, at)[0] for at in (12, 36)]
        assert kinds == [2, 1]


def test_many_clients_that_do_not_listen(served: Served) -> None:
    before = served.resident_bytes()
    deaf = [served.connect() for _ in range(300)]
    for client in deaf:
        client.connection.setblocking(False)
        try:
            for _ in range(2000):
                client.connection.sendall(read_of(0, 65_536) * 10)
        except BlockingIOError:
            pass
    # Every one has been looked at, and has not taken what waits for it.
    assert served.connect().read(0, 512) == bytes(512)
    assert served.resident_bytes() - before < MORE_BYTES


def test_256_reads_of_32_mib_of_each_of_eight_clients(served: Served) -> None:
    before = served.resident_bytes()
    flooding = [served.connect() for _ in range(8)]
    for client in flooding:
        client.connection.sendall(read_of(0, 32 << 20) * 256)
    one = served.connect()
    for at in range(0, 12 * 4096, 4096):
        assert one.read(at, 4096) == bytes(4096)
    assert served.resident_bytes() - before < MORE_BYTES
    for client in flooding:
        client.connection.close()
    # What was not begun is not begun, and what was ends.
    one.read(0, 4096)
    served.stop()
    with (served.folder / "recording.csv").open() as file:
        rows = [
            (int(row["arrival_ns"]), int(row["completion_ns"] or 1 << 62), int(row["bytes"]))
            for row in csv.DictReader(file)
        ]
    assert max(size for _, _, size in rows) == PIECE_BYTES
    # What the drive had of all clients, after each change.
    changes = [(at, size) for at, _, size in rows] + [(end, -size) for _, end, size in rows]
    open_bytes = 0
    for _, change in sorted(changes):
        open_bytes += change
        assert open_bytes <= ALL_BYTES
    # So nobody waits behind more than that.
    assert sum(size == 4096 for _, _, size in rows) == 13


def test_work_of_clients_who_left_is_not_begun(program: str, tmp_path: Path) -> None:
    # A read takes a second of the model's, and as long on the wall.
    slow = BUSY + "[timing]\nt_read_us = 1000000\n"
    drive = Served(program, tmp_path, "--record", "recording.csv", text=slow)
    try:
        client = drive.connect()
        client.connection.sendall(read_of(0, 32 << 20) * 100)
        # The server has taken them when it has answered somebody who came later.
        drive.connect().read(0, 0)
        client.connection.close()
        drive.connect().read(0, 0)
        drive.process.send_signal(signal.SIGINT)
        while drive.socket.exists():
            time.sleep(0.01)
        # Asked twice it ends at once.
        drive.process.send_signal(signal.SIGINT)
        drive.process.communicate()
    finally:
        drive.give_up()
    with (tmp_path / "recording.csv").open() as file:
        sizes = [int(row["bytes"]) for row in csv.DictReader(file)]
    # Of 3,200 MiB it was handed what one client may have.
    assert sum(sizes) == CLIENT_BYTES


def test_writes_that_stop_halfway_and_fill_every_connection(served: Served) -> None:
    head = struct.pack(">IHHQQI", 0x25609513, 0, WRITE, 1, 0, 32 << 20)
    for number in range(200):
        client = served.connect()
        client.connection.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            client.connection.sendall(head + bytes(300_000 + number))
    assert served.connect().read(DRIVE_BYTES - 512, 512) == bytes(512)


def test_small_reads_without_end_from_a_thousand_clients(served: Served) -> None:
    for number in range(900):
        client = Client(served.raw())
        client.connection.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            client.connection.sendall(read_of(512 * number, 512) * 4000)
    assert served.connect().read(0, 512) == bytes(512)


def test_nobody_waits_for_the_trim_of_another(program: str, tmp_path: Path) -> None:
    need("fsfreeze")
    require_disks()
    disk = Disk(tmp_path)
    drive = Served(program, tmp_path, "--store", str(disk.root / "store"))
    try:
        one, other = drive.connect(), drive.connect()
        data = bytes(range(256)) * 16
        other.write(0, data)
        # From here on the file system below makes no hole until it is told to go on.
        subprocess.run(["fsfreeze", "--freeze", disk.root], check=True)
        try:
            trim = one.send(TRIM, 0, DRIVE_BYTES)
            # The server has taken the trim when it answers what came later.
            status = one.send(READ, 0, 0)
            assert one.answer() == (0, status)
            assert other.read(4096, 4096) == bytes(4096)
        finally:
            subprocess.run(["fsfreeze", "--unfreeze", disk.root], check=True)
        assert one.answer() == (0, trim)
        assert other.read(0, 4096) == bytes(4096)
        drive.stop()
    finally:
        drive.give_up()
        disk.end()


# Connects again and again, and keeps what it has open: silent, or as far as TLS.
FLOOD = """
import collections, os, resource, socket, struct, sys, threading
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 4096 else 4096, hard))
begin = struct.pack(">IQII", 3, 0x49484156454F5054, 5, 0)
def flood(says):
    held = collections.deque(maxlen=1900)
    for number in range(1 << 40):
        connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        try:
            connection.sendall(says)
        except OSError:
            pass
        held.append(connection)
        if number == 3000:
            os.write(1, b"full" + bytes([10]))
threads = [threading.Thread(target=flood, args=(says,), daemon=True) for says in (b"", begin)]
[thread.start() for thread in threads]
sys.stdin.read()
"""


def certificates(folder: Path) -> list[str]:
    """Make keys and certificates of a server, an authority and a client; the server's options."""
    signed: list[str | Path] = ["-CA", folder / "authority.pem", "-CAkey", folder / "authority.key"]
    extensions: dict[str, list[str | Path]] = {
        "server": ["-addext", "subjectAltName=IP:127.0.0.1"],
        "authority": [],
        "client": [*signed, "-addext", "basicConstraints=critical,CA:FALSE"],
    }
    for name, more in extensions.items():
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", f"/CN={name}", *more,
             "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"],
            check=True, capture_output=True,
        )  # fmt: skip
    own = ["--tls-cert", "server.pem", "--tls-key", "server.key"]
    return [*own, "--tls-client-ca", "authority.pem"]


def gets_in(port: int, context: ssl.SSLContext) -> bool:
    """Whether a client with a certificate comes to read a block, at its first attempt."""
    try:
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.recv(18, socket.MSG_WAITALL)
            plain.sendall(struct.pack(">IQII", 3, OPTION, 5, 0))
            if struct.unpack_from(">I", plain.recv(20, socket.MSG_WAITALL), 12) != (1,):
                return False
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                connection.sendall(struct.pack(">QII", OPTION, 1, 0))
                told = connection.recv(10)
                connection.sendall(read_of(0, 512))
                return len(told) == 10 and len(connection.recv(16)) == 16
    except (OSError, struct.error):
        return False


def test_clients_get_in_among_peers_without_a_certificate(program: str, tmp_path: Path) -> None:
    need("openssl")
    drive = Served(program, tmp_path, "--tcp", "127.0.0.1:0", *certificates(tmp_path))
    found = re.search(r"at 127\.0\.0\.1:(\d+);", drive.told)
    assert found is not None, drive.told
    context = ssl.create_default_context(cafile=tmp_path / "server.pem")
    context.load_cert_chain(tmp_path / "client.pem", tmp_path / "client.key")
    flood = subprocess.Popen(
        [sys.executable, "-c", FLOOD, found[1]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert flood.stdout is not None
        assert [flood.stdout.readline() for _ in range(2)] == ["full\n"] * 2
        assert sum(gets_in(int(found[1]), context) for _ in range(42)) >= 40
    finally:
        flood.kill()
        flood.communicate()
        drive.give_up()
