"""Faults that a served drive has on request: who meets them, and what a loss of power leaves."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from .drive import Reprieve
from .nbd_client import DRIVE, FLUSH, FUA, READ, TRIM, WRITE, Client, Served, need

BLOCK_BYTES = 4096
EIO = 5


def faults_of(drive: Served) -> Any:
    """Return what the summary says of them."""
    return json.loads((drive.folder / "summary.json").read_text())["served"]["faults"]


def end_of(drive: Served) -> Any:
    """Wait for the end that a loss of power is; what the summary says of it."""
    out, err = drive.process.communicate()
    drive.hang_up()
    assert (drive.process.returncode, err) == (0, "")
    cut = faults_of(drive)["power_cut"]
    assert f"the power failed ({cut['fault']})" in out
    assert not drive.socket.exists()
    return cut


def is_gone(client: Client) -> bool:
    """Whether the server has closed the connection and answered nothing more."""
    try:
        return client.connection.recv(1) == b""
    except ConnectionResetError:
        return True


def block(number: int) -> bytes:
    """Content that a block can be known by."""
    return bytes([number]) * BLOCK_BYTES


def cut_after(program: str, folder: Path, fault: str, text: str = DRIVE) -> tuple[Served, Client]:
    """Serve a drive whose blocks 0 to 63 are safely 1, and whose power will fail."""
    drive = Served(program, folder, "--store", "store", "--fault", fault, text=text)
    client = drive.connect()
    client.write(0, block(1) * 64)
    assert client.call(FLUSH, 0, 0) == 0
    return drive, client


def stored(folder: Path, blocks: int = 64) -> list[int]:
    """Return the first byte of each block of the store, all of which are alike."""
    data = (folder / "store").read_bytes()
    starts = range(0, blocks * BLOCK_BYTES, BLOCK_BYTES)
    assert all(data[at : at + BLOCK_BYTES] == block(data[at]) for at in starts)
    return [data[at] for at in starts]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["eoi"], 'eoi: "eoi" is no fault; it must be one of eio, late, power-cut, torn'),
        (["eio:ops=read"], 'eio:ops=read: "ops" is no key of eio; it must be one of op, first'),
        (["eio", "late"], "late: late needs us=NUMBER"),
        (["power-cut:after=1"], "power-cut:after=1: needs --store FILE"),
        (["eio:first=50331647,bytes=2"], "must be of the drive, which has 50331648 bytes"),
    ],
)
def test_a_misspelt_fault_is_one_sentence(
    reprieve: Reprieve, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    (tmp_path / "drive.toml").write_text(DRIVE)
    words = [word for each in arguments for word in ("--fault", each)]
    done = reprieve("serve", "drive.toml", "--socket", "s", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("--fault ") and done.stderr.count("\n") == 1
    assert sentence in done.stderr
    assert not (tmp_path / "s").exists()


def test_errors_strike_by_place_and_by_count(program: str, tmp_path: Path) -> None:
    broken = "eio:op=read,first=8192,bytes=4096"
    third = "eio:op=write,after=2,every=3"
    drive = Served(program, tmp_path, "--fault", broken, "--fault", third)
    client = drive.connect()
    # Of ten writes the first two pass, and then two of three.
    errors = [client.call(WRITE, at * BLOCK_BYTES, BLOCK_BYTES, block(at + 1)) for at in range(10)]
    assert errors == [0, 0, 0, 0, EIO, 0, 0, EIO, 0, 0]
    # What was answered by an error has changed nothing.
    for at, expected in [(1, 2), (3, 4), (4, 0), (7, 0), (9, 10)]:
        assert client.read(at * BLOCK_BYTES, BLOCK_BYTES) == block(expected)
    for at, count, error in [(8192, 512, EIO), (8191, 2, EIO), (8191, 1, 0), (12_288, 512, 0)]:
        assert client.call(READ, at, count) == error
        client.take(0 if error else count)
    drive.stop()
    assert faults_of(drive) == {
        "list": [
            {"fault": broken, "commands": 2, "struck": 2},
            {"fault": third, "commands": 10, "struck": 2},
        ],
        "power_cut": None,
    }


def test_qemu_meets_errors(program: str, tmp_path: Path) -> None:
    need("qemu-io")
    drive = Served(program, tmp_path, "--fault", "eio:first=65536,bytes=4096")
    words = ["write -P 1 61440 4k", "write -P 1 65536 4k", "read -P 1 61440 4k", "read 64k 4k"]
    commands = [word for each in words for word in ("-c", each)]
    told = subprocess.run(
        ["qemu-io", "-f", "raw", *commands, drive.uri], capture_output=True, text=True, check=False
    )
    lines = (told.stdout + told.stderr).splitlines()
    failures = [line for line in lines if line.endswith("failed: Input/output error")]
    assert [line.split()[0] for line in failures] == ["write", "read"]
    drive.stop()


def test_a_late_answer_comes_after_that_of_the_next(program: str, tmp_path: Path) -> None:
    late_us, scale = 50_000, 4
    fault = f"late:op=read,every=2,us={late_us}"
    drive = Served(program, tmp_path, "--time-scale", str(scale), "--fault", fault)
    client = drive.connect()
    before = time.monotonic_ns()
    first = client.read(0, 512)
    # Both are there when the server looks, however busy the machine is.
    client.connection.sendall(b"".join(Client.head(READ, each, 0, 512) for each in (101, 102)))
    answers = []
    for _ in range(2):
        answers.append(client.answer())
        assert client.take(512) == first
    passed_ns = time.monotonic_ns() - before
    assert answers == [(0, 102), (0, 101)]
    assert passed_ns >= late_us * 1000 * scale
    drive.stop()
    told = json.loads((tmp_path / "summary.json").read_text())["served"]
    # The histogram has three digits.
    assert told["commands"]["read"]["latency_ns"]["max"] >= late_us * 1000 * 0.999
    assert told["faults"]["list"] == [{"fault": fault, "commands": 3, "struck": 1}]


def test_a_loss_of_power_takes_what_was_not_flushed(program: str, tmp_path: Path) -> None:
    drive, client = cut_after(program, tmp_path, "power-cut:after=5")
    client.write(0, block(2) * 2)
    client.write(BLOCK_BYTES, block(3), FUA)
    client.write(2 * BLOCK_BYTES, block(4))
    assert client.call(TRIM, 3 * BLOCK_BYTES, 2 * BLOCK_BYTES) == 0
    client.write(4 * BLOCK_BYTES, block(5))
    other = drive.connect()
    expected = block(2) + block(3) + block(4) + block(0) + block(5)
    assert other.read(0, 5 * BLOCK_BYTES) == expected
    # It is not answered, and nobody is any more.
    client.send(WRITE, 0, BLOCK_BYTES, block(6))
    assert is_gone(client) and is_gone(other)
    cut = end_of(drive)
    # Blocks 0, 2, 3 and 4: that of the forced write is safe.
    assert (cut["lost_blocks"], cut["kept_blocks"]) == (4, 0)
    assert stored(tmp_path) == [1, 3, *[1] * 62]
    drive = Served(program, tmp_path, "--store", "store")
    assert drive.connect().read(0, 64 * BLOCK_BYTES) == block(1) + block(3) + block(1) * 62
    drive.stop()


def test_a_flush_that_meets_the_loss_promises_nothing(program: str, tmp_path: Path) -> None:
    drive, client = cut_after(program, tmp_path, "power-cut:op=flush,after=2")
    client.write(0, block(2))
    assert client.call(FLUSH, 0, 0) == 0
    client.write(BLOCK_BYTES, block(3))
    client.send(FLUSH, 0, 0)
    assert is_gone(client)
    end_of(drive)
    assert stored(tmp_path) == [2, *[1] * 63]


def test_some_of_what_was_not_flushed_may_be_there(program: str, tmp_path: Path) -> None:
    found = {}
    for name, keep in [("a", "50,seed=7"), ("b", "50,seed=7"), ("c", "50,seed=8"), ("d", "100")]:
        folder = tmp_path / name
        drive, client = cut_after(program, folder, f"power-cut:after=65,keep_percent={keep}")
        for number in range(64):
            client.write(number * BLOCK_BYTES, block(2))
        client.send(WRITE, 0, BLOCK_BYTES, block(3))
        assert is_gone(client)
        cut = end_of(drive)
        found[name] = stored(folder)
        assert set(found[name]) <= {1, 2}
        assert found[name].count(2) == cut["kept_blocks"] == 64 - cut["lost_blocks"]
    assert found["a"] == found["b"] != found["c"]
    # Of 64 draws of a half, one seed in a million has fewer than 12 or more than 52.
    assert 12 <= found["a"].count(2) <= 52
    assert found["d"] == [2] * 64


def test_a_write_is_torn_in_the_middle(program: str, tmp_path: Path) -> None:
    drive, client = cut_after(program, tmp_path, "torn:after=2")
    client.write(40 * BLOCK_BYTES, block(2))
    # Of 33 sectors, 16 are there: two blocks.
    client.send(WRITE, 8 * BLOCK_BYTES, 33 * 512, bytes([3]) * (33 * 512))
    assert is_gone(client)
    cut = end_of(drive)
    assert (cut["lost_blocks"], cut["kept_blocks"]) == (1, 0)
    assert stored(tmp_path) == [1] * 8 + [3] * 2 + [1] * 54


def test_a_write_is_torn_where_its_client_leaves_it(program: str, tmp_path: Path) -> None:
    drive, client = cut_after(program, tmp_path, "torn:after=2")
    client.write(40 * BLOCK_BYTES, block(2))
    # Half of four blocks would be there, but only the first has come whole.
    client.send(WRITE, 8 * BLOCK_BYTES, 4 * BLOCK_BYTES, bytes([3]) * (BLOCK_BYTES + 1000))
    client.connection.close()
    cut = end_of(drive)
    assert (cut["lost_blocks"], cut["kept_blocks"]) == (1, 0)
    assert stored(tmp_path) == [1] * 8 + [3] + [1] * 55


def test_a_drive_that_writes_through_loses_nothing(program: str, tmp_path: Path) -> None:
    through = DRIVE.replace('acknowledge = "back"', 'acknowledge = "through"')
    drive, client = cut_after(program, tmp_path, "power-cut:after=2", text=through)
    client.write(0, block(2))
    client.send(WRITE, 0, BLOCK_BYTES, block(3))
    assert is_gone(client)
    cut = end_of(drive)
    assert (cut["lost_blocks"], cut["kept_blocks"]) == (0, 0)
    assert stored(tmp_path) == [2, *[1] * 63]


def test_a_drive_loses_no_more_than_its_buffer_holds(program: str, tmp_path: Path) -> None:
    small = DRIVE.replace("[buffer]", f"[buffer]\nbytes = {4 * BLOCK_BYTES}")
    drive, client = cut_after(program, tmp_path, "power-cut:after=11", text=small)
    for number in range(10):
        client.write(number * BLOCK_BYTES, block(2))
    client.send(WRITE, 0, BLOCK_BYTES, block(3))
    assert is_gone(client)
    assert end_of(drive)["lost_blocks"] == 4
    # The last four that came are lost.
    assert stored(tmp_path) == [2] * 6 + [1] * 58


def test_without_a_loss_all_is_kept(program: str, tmp_path: Path) -> None:
    drive, client = cut_after(program, tmp_path, "power-cut:after=100")
    client.write(0, block(2))
    drive.stop()
    assert stored(tmp_path) == [2, *[1] * 63]
    assert faults_of(drive)["power_cut"] is None


def test_a_kill_before_the_loss_takes_as_much(program: str, tmp_path: Path) -> None:
    drive, client = cut_after(program, tmp_path, "power-cut:after=100")
    client.write(0, block(2))
    client.write(BLOCK_BYTES, block(3), FUA)
    drive.kill()
    assert stored(tmp_path) == [1, 3, *[1] * 62]
