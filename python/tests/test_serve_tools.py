"""The served drive under the tools that people use: they find what the protocol promises them."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .nbd_client import DRIVE_BYTES, Served, need


@pytest.fixture
def served(program: str, tmp_path: Path) -> Iterator[Served]:
    drive = Served(program, tmp_path)
    yield drive
    drive.stop()


def run(*command: str | Path) -> str:
    """Run a tool that has to succeed; what it printed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def test_nbdinfo_finds_what_is_offered(served: Served) -> None:
    need("nbdinfo")
    told = json.loads(run("nbdinfo", "--json", served.uri))
    export = told["exports"][0]
    assert told["protocol"] == "newstyle-fixed"
    assert told["structured"] is True
    assert export["export-size"] == DRIVE_BYTES
    for name in ("flush", "fua", "multi_conn", "trim", "zero", "df"):
        assert export[f"can_{name}"] is True, name
    assert export["is_read_only"] is False
    sizes = [export[f"block_size_{name}"] for name in ("minimum", "preferred", "maximum")]
    assert sizes == [512, 4096, 32 << 20]
    assert "fast12-slc" in export["description"]
    listed = json.loads(run("nbdinfo", "--json", "--list", served.uri))
    assert [export["export-name"] for export in listed["exports"]] == [""]


WRITTEN = ["write -P 7 65536 65536", "write -P 7 196608 65536", "discard 196608 65536",
           "write -P 1 1M 4k"]  # fmt: skip
# Where that leaves data: a piece, a trimmed one, and another.
DATA_AT = [(65_536, 65_536), (1 << 20, 4096)]


def _written(served: Served) -> None:
    words = (word for command in WRITTEN for word in ("-c", command))
    run("qemu-io", "-f", "raw", "--discard", "unmap", *words, served.uri)


@pytest.mark.parametrize("place", [[], ["--store", "store"]])
def test_tools_find_where_data_is(program: str, tmp_path: Path, place: list[str]) -> None:
    need("nbdinfo", "qemu-io", "qemu-img")
    served = Served(program, tmp_path, *place)
    _written(served)
    told = json.loads(run("nbdinfo", "--json", served.uri))["exports"][0]
    assert told["contexts"] == ["base:allocation"]
    mapped = json.loads(run("nbdinfo", "--json", "--map", served.uri))
    found = [(each["offset"], each["length"]) for each in mapped if each["type"] == 0]
    assert found == DATA_AT
    holes = [each for each in mapped if each["type"] != 0]
    assert all(each["type"] == 3 and each["description"] == "hole,zero" for each in holes)
    assert sum(each["length"] for each in mapped) == DRIVE_BYTES
    by_qemu = json.loads(run("qemu-img", "map", "--output=json", "-f", "raw", served.uri))
    found = [(each["start"], each["length"]) for each in by_qemu if each["data"]]
    assert found == DATA_AT
    served.stop()


def test_of_a_discarded_drive_all_is_a_hole(program: str, tmp_path: Path) -> None:
    need("nbdinfo", "qemu-io")
    served = Served(program, tmp_path, "--discard-data")
    _written(served)
    (only,) = json.loads(run("nbdinfo", "--json", "--map", served.uri))
    assert (only["length"], only["type"]) == (DRIVE_BYTES, 3)
    served.stop()


def test_nbdcopy_copies_in_and_out(served: Served, tmp_path: Path) -> None:
    need("nbdcopy")
    data = random.Random(5).randbytes(5_000_000) + bytes(DRIVE_BYTES - 5_000_000)
    (tmp_path / "in").write_bytes(data)
    run("nbdcopy", tmp_path / "in", served.uri)
    run("nbdcopy", served.uri, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == data


def test_qemu_reads_writes_and_compares(served: Served, tmp_path: Path) -> None:
    need("qemu-img", "qemu-io")
    told = json.loads(run("qemu-img", "info", "--output=json", "-f", "raw", served.uri))
    assert told["virtual-size"] == DRIVE_BYTES
    commands = [
        "write -P 7 4096 65536",
        "read -P 7 4096 65536",
        "write -f -P 8 1M 4k",
        "write -z -u 8192 4096",
        "write -z 12288 4096",
        "discard 16384 4096",
        "flush",
        "read -P 0 8192 12288",
        "read -P 7 20480 49152",
        "aio_write -P 3 2M 1M",
        "aio_flush",
        "read -P 3 2M 1M",
        "read -P 8 1M 4k",
    ]
    told_by_io = run(
        "qemu-io", "-f", "raw", *(word for c in commands for word in ("-c", c)), served.uri
    )
    assert "failed" not in told_by_io and "mismatch" not in told_by_io
    run("qemu-img", "convert", "-f", "raw", "-O", "raw", served.uri, tmp_path / "copy")
    told_by_compare = run(
        "qemu-img", "compare", "-f", "raw", "-F", "raw", served.uri, tmp_path / "copy"
    )
    assert "identical" in told_by_compare


LIBNBD = """
import nbd, sys
def connect(structured):
    h = nbd.NBD()
    h.set_request_structured_replies(structured)
    h.connect_uri(sys.argv[1])
    return h
for structured in (True, False):
    h, other = connect(structured), connect(structured)
    assert h.get_structured_replies_negotiated() == structured
    data = bytes(range(256)) * 64
    h.pwrite(data, 8192, nbd.CMD_FLAG_FUA)
    assert bytes(other.pread(len(data), 8192)) == data
    h.zero(4096, 8192, nbd.CMD_FLAG_NO_HOLE)
    h.trim(4096, 12288)
    assert bytes(other.pread(8192, 8192)) == bytes(8192)
    h.flush()
    cookies = [h.aio_pwrite(nbd.Buffer.from_bytearray(bytearray([k]) * 4096), k * 4096)
               for k in range(100)]
    while h.aio_in_flight():
        h.poll(-1)
    for cookie in cookies:
        assert h.aio_command_completed(cookie)
    got = bytes(other.pread(100 * 4096, 0))
    assert got == b"".join(bytes([k]) * 4096 for k in range(100))
    h.set_strict_mode(0)
    for call in (lambda: h.pread(1024, h.get_size() - 512), lambda: h.pread(512, 2**63)):
        try:
            call()
        except nbd.Error as error:
            assert error.errnum == 22, error
        else:
            raise AssertionError("it was served")
    h.shutdown(), other.shutdown()
print("libnbd is content")
"""


def need_libnbd() -> None:
    need("/usr/bin/python3")
    asked = ["/usr/bin/python3", "-c", "import nbd"]
    if subprocess.run(asked, capture_output=True, check=False).returncode != 0:
        need("python3-libnbd")


def test_libnbd_is_content(served: Served) -> None:
    need_libnbd()
    assert "content" in run("/usr/bin/python3", "-c", LIBNBD, served.uri)


ZEROES = """
import nbd, sys
h = nbd.NBD()
h.add_meta_context("base:allocation")
h.connect_uri(sys.argv[1])
if sys.argv[2] == "make":
    h.zero(1 << 20, 0)
    h.zero(1 << 20, 1 << 20, nbd.CMD_FLAG_NO_HOLE)
    h.pwrite(bytes(1 << 20), 2 << 20)
    h.zero(1 << 20, 4 << 20, nbd.CMD_FLAG_NO_HOLE)
    h.trim(1 << 20, 4 << 20)
    h.pwrite(b"1" * (1 << 20), 5 << 20)
    h.zero(1 << 20, 5 << 20, nbd.CMD_FLAG_NO_HOLE)
    h.flush()
states = []
def told(context, offset, entries, error):
    for length, flags in zip(entries[::2], entries[1::2]):
        states.extend([flags] * (length >> 20))
h.block_status(7 << 20, 0, told)
print(*states)
h.shutdown()
"""


@pytest.mark.parametrize("place", [[], ["--store", "store"]])
def test_zeroes_without_a_hole_are_allocated(
    program: str, tmp_path: Path, place: list[str]
) -> None:
    need_libnbd()
    # By the protocol's words 3 is a hole, 2 allocated zeros, 0 allocated: per MiB zeroes, zeroes
    # without a hole, a write of zeros, nothing, trimmed zeroes, data made zeroes, nothing.
    allowed = [{"3"}, {"0", "2"}, {"0", "2"}, {"3"}, {"3"}, {"0", "2"}, {"3"}]
    served = Served(program, tmp_path, *place)
    told = run("/usr/bin/python3", "-c", ZEROES, served.uri, "make").split()
    assert [state in states for state, states in zip(told, allowed, strict=True)] == [True] * 7
    served.stop()
    if place:
        served = Served(program, tmp_path, *place)
        assert run("/usr/bin/python3", "-c", ZEROES, served.uri, "look").split() == told
        served.stop()


@pytest.mark.parametrize("engine", ["randwrite", "randrw", "randtrimwrite"])
def test_fio_verifies_what_it_wrote(served: Served, tmp_path: Path, engine: str) -> None:
    need("fio")
    verify = [] if engine == "randtrimwrite" else ["--verify=crc32c", "--verify_fatal=1"]
    told = run(
        "fio", "--name=verify", "--ioengine=nbd", f"--uri={served.uri}", f"--rw={engine}",
        "--bsrange=4k-16k", "--iodepth=16", "--size=8M", "--fsync=50",
        "--output-format=json", f"--aux-path={tmp_path}", *verify,
    )  # fmt: skip
    job = json.loads(told[told.index("{") :])["jobs"][0]
    assert job["error"] == 0
    assert job["write"]["total_ios"] > 100


def _certificate(folder: Path, name: str, *more: str | Path) -> None:
    run(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        "-keyout", folder / f"{name}-key.pem", "-out", folder / f"{name}-cert.pem",
        "-subj", f"/CN={name}", *more,
    )  # fmt: skip


def test_only_clients_with_a_certificate_of_the_authority(program: str, tmp_path: Path) -> None:
    need("openssl", "nbdinfo")
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    _certificate(tmp_path, "server", *names)
    for name in ("authority", "other"):
        _certificate(tmp_path, name)
        signed: list[str | Path] = [
            "-CA",
            tmp_path / f"{name}-cert.pem",
            "-CAkey",
            tmp_path / f"{name}-key.pem",
        ]
        folder = tmp_path / f"client-of-{name}"
        folder.mkdir()
        # OpenSSL marks what signs itself as an authority, which a client is not.
        _certificate(folder, "client", *signed, "-addext", "basicConstraints=critical,CA:FALSE")
    for folder in (*tmp_path.glob("client-of-*"), tmp_path / "none"):
        folder.mkdir(exist_ok=True)
        (folder / "ca-cert.pem").write_bytes((tmp_path / "server-cert.pem").read_bytes())
    files = ["--tls-cert", "server-cert.pem", "--tls-key", "server-key.pem"]
    files += ["--tls-client-ca", "authority-cert.pem"]
    drive = Served(program, tmp_path, "--tcp", "127.0.0.1:0", *files)
    found = re.search(r"at 127\.0\.0\.1:(\d+);", drive.told)
    assert found is not None, drive.told
    told = {}
    for name in ("client-of-authority", "client-of-other", "none"):
        uri = f"nbds://localhost:{found[1]}/?tls-certificates={tmp_path / name}"
        asked = ["nbdinfo", "--size", uri]
        told[name] = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    assert told == {
        "client-of-authority": f"{DRIVE_BYTES}\n", "client-of-other": "", "none": ""
    }  # fmt: skip
    drive.stop()


def test_tls_and_only_tls(program: str, tmp_path: Path) -> None:
    need("openssl", "nbdinfo", "nbdcopy")
    run(
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        "-keyout", tmp_path / "key.pem", "-out", tmp_path / "ca-cert.pem",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
    )  # fmt: skip
    files = ["--tls-cert", "ca-cert.pem", "--tls-key", "key.pem"]
    drive = Served(program, tmp_path, "--tcp", "127.0.0.1:0", *files)
    found = re.search(r"at 127\.0\.0\.1:(\d+);", drive.told)
    assert found is not None, drive.told
    uri = f"nbds://localhost:{found[1]}/?tls-certificates={tmp_path}"
    assert int(run("nbdinfo", "--size", uri)) == DRIVE_BYTES
    data = random.Random(6).randbytes(3_000_000) + bytes(DRIVE_BYTES - 3_000_000)
    (tmp_path / "in").write_bytes(data)
    run("nbdcopy", tmp_path / "in", uri)
    run("nbdcopy", uri, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == data
    plain = ["nbdinfo", f"nbd://localhost:{found[1]}"]
    refused = subprocess.run(plain, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert str(DRIVE_BYTES) not in refused.stdout
    drive.stop()
