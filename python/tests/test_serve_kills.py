"""The served drive, killed at random moments: what it has acknowledged is there afterwards."""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from .nbd_client import FLUSH, FUA, Client, Served, need

LONG = pytest.mark.skipif(
    "REPRIEVE_LONG" not in os.environ, reason="some minutes; make long runs it"
)
BLOCK_BYTES = 4096
SIZE_BYTES = 40 << 20


def kill_later(drive: Served, seconds: float) -> subprocess.Popen[bytes]:
    """Kill a server with SIGKILL in so many seconds."""
    return subprocess.Popen(["sh", "-c", f"sleep {seconds:.3f}; kill -9 {drive.process.pid}"])


def kill_when_changed(drive: Served, store: Path, before: bytes, blocks: int) -> threading.Thread:
    """Kill a server once so many blocks of its store are not what they were."""

    def changed() -> int:
        now = store.read_bytes()
        starts = range(0, len(before), BLOCK_BYTES)
        return sum(now[at : at + BLOCK_BYTES] != before[at : at + BLOCK_BYTES] for at in starts)

    def wait_and_kill() -> None:
        while changed() < blocks:
            time.sleep(0.01)
        drive.process.kill()

    thread = threading.Thread(target=wait_and_kill)
    thread.start()
    return thread


class Disk:
    """An ext4 on which a machine stops: what it had not written to the disk is lost."""

    def __init__(self, folder: Path) -> None:
        """Make it and mount it."""
        self.image, self.root = folder / "disk", folder / "root"
        self.stopped = folder / "stopped"
        self.root.mkdir()
        with self.image.open("wb") as file:
            file.truncate(128 << 20)
        subprocess.run(["mkfs.ext4", "-q", str(self.image)], check=True)
        self._mount()

    def stop(self) -> None:
        """Stop the machine: what is on the disk now is all that a restart will find."""
        subprocess.run(["cp", "--sparse=always", self.image, self.stopped], check=True)

    def restart(self) -> None:
        """Start the machine again with what was on the disk when it stopped."""
        self.end()
        self.stopped.replace(self.image)
        self._mount()

    def end(self) -> None:
        """Unmount it."""
        subprocess.run(["umount", str(self.root)], check=True)

    def _mount(self) -> None:
        command = ["mount", "-o", "loop,commit=300", str(self.image), str(self.root)]
        subprocess.run(command, check=True)


def require_disks(*devices: str) -> None:
    """Skip the test, and say so, on a machine on which nobody may mount a file."""
    need("mkfs.ext4", "losetup", "mount", "umount")
    needed = ("/dev/loop-control", *devices)
    if os.geteuid() != 0 or not all(os.access(device, os.W_OK) for device in needed):
        pytest.skip("NOT TESTED: loop devices and mounts need root, and a machine that has them")


class Promises:
    """Answers to a client about some blocks, and what it has found of them."""

    def __init__(self, draw: random.Random, blocks: int) -> None:
        """Nothing was written."""
        self.draw = draw
        # Of each block: what is safe, and what was sent after that, any of which may have arrived.
        self.safe = [bytes(BLOCK_BYTES)] * blocks
        self.later: list[list[bytes]] = [[] for _ in range(blocks)]
        self.acknowledged: dict[int, bytes] = {}
        self.sent = b""
        self.lost = 0
        """Writes that were acknowledged, not promised to be safe, and are not there."""

    def check(self, client: Client) -> None:
        """Read every block; what was promised to be safe has to be there."""
        for block, safe in enumerate(self.safe):
            found = client.read(block * BLOCK_BYTES, BLOCK_BYTES)
            assert found == safe or found in self.later[block]
            self.lost += found not in (self.acknowledged.get(block, found), self.sent)
            self.safe[block], self.later[block] = found, []
        self.acknowledged = {}

    def write_until_killed(self, client: Client) -> None:
        """Write and flush until the server is gone."""
        try:
            while True:
                self.send(client)
        except (ConnectionError, OSError):
            pass

    def send(self, client: Client) -> None:
        """Send a write or a flush, and take note of what its answer promises."""
        draw = self.draw
        if draw.random() < 0.1:
            assert client.call(FLUSH, 0, 0) == 0
            for written, content in self.acknowledged.items():
                self.safe[written], self.later[written] = content, []
            self.acknowledged = {}
            return
        self.write(client, FUA if draw.random() < 0.1 else 0)

    def write(self, client: Client, forced: int) -> None:
        """Write a block."""
        draw = self.draw
        block, data = draw.randrange(len(self.safe)), draw.randbytes(BLOCK_BYTES)
        self.later[block].append(data)
        self.sent = data
        client.write(block * BLOCK_BYTES, data, forced)
        if forced:
            self.safe[block], self.later[block] = data, []
            self.acknowledged.pop(block, None)
        else:
            self.acknowledged[block] = data


def check_kills(program: str, folder: Path, kills: int, seed: int) -> None:
    """Kill the server at random moments; nothing that was acknowledged may be lost."""
    draw = random.Random(seed)
    promises = Promises(draw, 64)
    for _ in range(kills):
        drive = Served(program, folder, "--store", str(folder / "store"))
        try:
            client = drive.connect()
            promises.check(client)
            killer = kill_later(drive, draw.random() * 0.2)
            promises.write_until_killed(client)
            killer.wait()
        finally:
            drive.kill()
    assert promises.lost == 0


def test_what_was_acknowledged_survives_kills(program: str, tmp_path: Path) -> None:
    check_kills(program, tmp_path, kills=10, seed=3)


@LONG
def test_what_was_acknowledged_survives_many_kills(program: str, tmp_path: Path) -> None:
    check_kills(program, tmp_path, kills=700, seed=4)


def check_stops(program: str, folder: Path, stops: int, seed: int) -> None:
    """Stop the machine at random moments; nothing that was promised to be safe may be lost."""
    require_disks()
    draw = random.Random(seed)
    promises = Promises(draw, 64)
    disk = Disk(folder)
    try:
        for _ in range(stops):
            drive = Served(program, folder, "--store", str(disk.root / "store"))
            try:
                client = drive.connect()
                promises.check(client)
                for _ in range(draw.randrange(400)):
                    promises.send(client)
                disk.stop()
                # For the server this is still before the stop. It comes too late for the disk,
                # however fast the machine is: here something is lost that nobody has flushed.
                for _ in range(8):
                    promises.write(client, forced=0)
            finally:
                drive.kill()
            disk.restart()
    finally:
        disk.end()
    # In each round but the last, whose losses nobody has looked for.
    assert promises.lost >= stops - 1


def test_what_was_promised_survives_the_machine(program: str, tmp_path: Path) -> None:
    check_stops(program, tmp_path, stops=10, seed=7)


@LONG
def test_what_was_promised_survives_many_kills_of_the_machine(program: str, tmp_path: Path) -> None:
    check_stops(program, tmp_path, stops=100, seed=8)


class Fio:
    """A job of random writes with flushes between, which another fio verifies later.

    When the server is gone, the first one leaves a file that says how far it had been answered; the
    second one draws the same writes again and reads each that was. A block has the round's seed
    and the write's number in it, so that what an earlier round has left there is no good.
    """

    def __init__(self, drive: Served, depth: int, seed: int) -> None:
        """Of at most `depth` requests outstanding; nothing runs yet."""
        self.folder, self.depth = drive.folder, depth
        self.job = [
            "fio", "--name=kills", "--ioengine=nbd", f"--uri={drive.uri}", "--rw=randwrite",
            f"--bs={BLOCK_BYTES}", f"--size={SIZE_BYTES}", "--fsync=8",
            "--verify=crc32c", f"--randseed={seed}", "--output-format=json",
        ]  # fmt: skip

    def write(self) -> int:
        """Write until the server is gone; how many writes were answered."""
        _, told = self._run(f"--iodepth={self.depth}", "--do_verify=0", "--verify_state_save=1")
        return int(told["write"]["io_bytes"]) // BLOCK_BYTES

    def verify(self) -> tuple[int, str]:
        """Read what was answered; how many blocks those were, and what fio found wrong.

        One at a time, as fio counts those that it has read to see how far it may go.
        """
        done, told = self._run(
            "--iodepth=1", "--verify_only=1", "--verify_state_load=1", "--verify_fatal=1"
        )
        assert (done.returncode == 0) == (told["error"] == 0)
        return int(told["read"]["io_bytes"]) // BLOCK_BYTES, done.stderr if told["error"] else ""

    def _run(self, *options: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
        command = [*self.job, *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert "{" in done.stdout, done.stderr
        told: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
        return done, told


def check_kills_under_fio(program: str, folder: Path, kills: int, seed: int) -> None:
    """Kill the server under fio at random moments; fio has to find all that it was answered."""
    need("fio")
    draw = random.Random(seed)
    killed, patience_s = 0, 0.5
    drive = Served(program, folder, "--store", "store")
    try:
        while killed < kills:
            fio = Fio(drive, draw.choice([1, 2, 4, 16]), draw.randrange(1 << 30))
            killer = kill_later(drive, 0.2 + draw.random() * patience_s)
            written = fio.write()
            killer.wait()
            drive.kill()
            drive = Served(program, folder, "--store", "store")
            if written < 2 * fio.depth:
                # So early, fio does not know which of them were answered.
                patience_s *= 1.5
                continue
            if written == SIZE_BYTES // BLOCK_BYTES:
                # It was not killed while it wrote.
                patience_s /= 2
                continue
            verified, wrong = fio.verify()
            assert wrong == "", (fio.job, wrong)
            # It stops at the first that was sent and not answered, behind which others may be.
            assert written - fio.depth < verified <= written, fio.job
            killed += 1
        drive.stop()
    finally:
        drive.give_up()


@pytest.mark.seconds(12)
def test_fio_finds_what_was_acknowledged_before_kills(program: str, tmp_path: Path) -> None:
    check_kills_under_fio(program, tmp_path, kills=10, seed=5)


@LONG
def test_fio_finds_what_was_acknowledged_before_many_kills(program: str, tmp_path: Path) -> None:
    check_kills_under_fio(program, tmp_path, kills=200, seed=6)


def test_fio_finds_a_write_that_was_lost(program: str, tmp_path: Path) -> None:
    """Two rounds over the same blocks; of one the first round's content is put back."""
    need("fio")
    store = tmp_path / "store"
    drive = Served(program, tmp_path, "--store", "store")
    try:
        for seed in (1, 2):
            before = store.read_bytes()
            fio = Fio(drive, 1, seed)
            killer = kill_when_changed(drive, store, before, 20)
            assert fio.write() > 2
            killer.join()
            drive.kill()
            drive = Served(program, tmp_path, "--store", "store")
            assert fio.verify()[1] == ""
        drive.kill()
        with store.open("r+b") as file:
            changed = [
                at for at in range(0, len(before), BLOCK_BYTES)
                if file.seek(at) == at and file.read(BLOCK_BYTES) != before[at : at + BLOCK_BYTES]
            ]  # fmt: skip
            # One write at most was sent and not answered: of any two, one was.
            for at in changed[:2]:
                file.seek(at)
                file.write(before[at : at + BLOCK_BYTES])
        drive = Served(program, tmp_path, "--store", "store")
        assert "verify" in fio.verify()[1]
        drive.stop()
    finally:
        drive.give_up()
