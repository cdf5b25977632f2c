"""The served drive under programs that rely on flushes, its power cut at random: nothing is lost.

What a cut leaves is looked at without the drive: its file is a plain image of the disk.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from .nbd_client import DRIVE_BYTES, Served, need
from .test_serve_kills import Promises, require_disks

LONG = pytest.mark.skipif("REPRIEVE_LONG" not in os.environ, reason="an hour; make long runs it")
ROWS = 64
FILES = 16


def run(*command: str | Path) -> str:
    """Run a program that has to succeed; what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def cut_of(draw: random.Random, kinds: list[str], writes: int) -> str:
    """Draw a loss of power: after at most how many writes, and how much of the rest is there."""
    keep, seed = draw.choice([0, 50, 90]), draw.randrange(1 << 30)
    return f"{draw.choice(kinds)}:after={draw.randint(0, writes)},keep_percent={keep},seed={seed}"


def serve(program: str, folder: Path, *faults: str) -> Served:
    """Serve the drive of a store, with these faults."""
    words = [word for fault in faults for word in ("--fault", fault)]
    return Served(program, folder, "--store", "store", *words)


def lost_blocks(drive: Served) -> int:
    """Wait for the end of a server whose power has failed; how much that has taken."""
    with suppress(OSError):
        drive.connect().read(0, 1)
        raise AssertionError("it serves still")
    _, err = drive.process.communicate()
    drive.hang_up()
    assert (drive.process.returncode, err) == (0, "")
    told = json.loads((drive.folder / "summary.json").read_text())["served"]["faults"]
    return int(told["power_cut"]["lost_blocks"])


def check_cuts(program: str, folder: Path, cuts: int, seed: int) -> None:
    """Cut the power under single writes, flushes and FUA; what was promised has to be there."""
    draw = random.Random(seed)
    promises = Promises(draw, 64)
    lost = 0
    for _ in range(cuts):
        drive = serve(program, folder, cut_of(draw, ["power-cut"], 60))
        try:
            client = drive.connect()
            promises.check(client)
            promises.write_until_killed(client)
            lost += lost_blocks(drive)
        finally:
            drive.give_up()
    drive = serve(program, folder)
    promises.check(drive.connect())
    drive.stop()
    # A client finds no more lost than the drive has said, as a block may be what it was before.
    assert 0 < promises.lost <= lost


def test_what_was_flushed_survives_cuts(program: str, tmp_path: Path) -> None:
    check_cuts(program, tmp_path, cuts=20, seed=11)


@LONG
def test_what_was_flushed_survives_a_thousand_cuts(program: str, tmp_path: Path) -> None:
    check_cuts(program, tmp_path, cuts=1000, seed=12)


@contextmanager
def mounted(drive: Served, root: Path) -> Iterator[None]:
    """Mount the ext4 of a drive, by way of FUSE and a loop device; its power may fail meanwhile."""
    disk, ready = drive.folder / "disk", drive.folder / "ready"
    disk.touch()
    ready.unlink(missing_ok=True)
    with ExitStack() as undo:
        fuse = subprocess.Popen(
            ["nbdfuse", "--pidfile", ready, disk, "--unix", drive.socket], stderr=subprocess.PIPE
        )
        undo.callback(fuse.communicate)
        while not ready.exists():
            assert fuse.poll() is None, fuse.communicate()
            time.sleep(0.01)
        undo.callback(unmount, disk)
        loop = run("losetup", "--find", "--show", "--direct-io=on", disk).strip()
        undo.callback(run, "losetup", "--detach", loop)
        run("mount", "-o", "noatime", loop, root)
        undo.callback(unmount, root)
        yield


def unmount(place: Path) -> None:
    """Unmount; what ended a moment ago may still keep it busy."""
    while subprocess.run(["umount", place], capture_output=True, check=False).returncode != 0:
        time.sleep(0.01)


class Files:
    """A database and files on an ext4, and what each has promised."""

    def __init__(self, root: Path, seed: int) -> None:
        """Nothing is there yet but an empty database."""
        self.root, self.seed = root, seed
        self.commits = 0
        # Of each file what was last brought to safety, and what was written over that.
        self.safe: dict[str, bytes] = {}
        self.later: dict[str, list[bytes]] = {}

    def content(self, number: int) -> bytes:
        """Return what a commit writes; each differs from all others."""
        drawn = random.Random(self.seed * 1_000_000 + number)
        return drawn.randbytes(drawn.choice([10, 100, 3000, 9000]))

    @contextmanager
    def database(self, root: Path) -> Iterator[sqlite3.Connection]:
        """Connect to the database of a file system; a commit is answered when it is safe."""
        with closing(sqlite3.connect(root / "database", isolation_level=None)) as connection:
            # An answered commit is one whose journal is gone for good.
            connection.execute("PRAGMA synchronous = EXTRA")
            yield connection

    def make(self) -> None:
        """Make the database."""
        with self.database(self.root) as database:
            database.execute("CREATE TABLE rows (place INTEGER PRIMARY KEY, content BLOB)")
            database.execute("CREATE TABLE commits (number INTEGER)")
            database.execute("INSERT INTO commits VALUES (0)")
            database.executemany(
                "INSERT INTO rows VALUES (?, ?)", ((place, b"") for place in range(ROWS))
            )

    def work(self, draw: random.Random) -> None:
        """Commit and write until the power fails."""
        with suppress(OSError, sqlite3.Error), self.database(self.root) as database:
            database.execute(f"PRAGMA journal_mode = {draw.choice(['wal', 'delete'])}")
            while True:
                self.commit(database)
                self.write(draw)

    def commit(self, database: sqlite3.Connection) -> None:
        """Commit the next row."""
        number = self.commits + 1
        database.execute("BEGIN IMMEDIATE")
        database.execute("UPDATE commits SET number = ?", (number,))
        words = "UPDATE rows SET content = ? WHERE place = ?"
        database.execute(words, (self.content(number), number % ROWS))
        database.execute("COMMIT")
        self.commits = number

    def write(self, draw: random.Random) -> None:
        """Write a file anew and bring it to safety, as programs do: by a new name."""
        name, content = f"file{draw.randrange(FILES)}", draw.randbytes(draw.randrange(1, 9000))
        self.later.setdefault(name, []).append(content)
        new = self.root / "new"
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.root / name)
        folder = os.open(self.root, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self.safe[name], self.later[name] = content, []

    def check(self, root: Path) -> None:
        """Find in a file system all that was promised."""
        with self.database(root) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            ((number,),) = database.execute("SELECT number FROM commits").fetchall()
            found = dict(database.execute("SELECT place, content FROM rows").fetchall())
        # The last one was perhaps not answered, and may be there all the same.
        assert self.commits <= number <= self.commits + 1
        self.commits = number
        for place in range(ROWS):
            last = number - (number - place) % ROWS
            assert found[place] == (self.content(last) if last > 0 else b""), place
        for name in {*self.safe, *self.later}:
            path = root / name
            content = path.read_bytes() if path.exists() else None
            assert content == self.safe.get(name) or content in self.later[name], name
            if content is not None:
                self.safe[name] = content
            self.later[name] = []


def check_image(files: Files, store: Path, image: Path, root: Path) -> None:
    """Mount a copy of the store, as a machine that starts again would, and look at it."""
    copy, mount = ("cp", "--sparse=always", store, image), ("mount", "-o", "loop", image, root)
    run(*copy)
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        # The superblock takes two sectors, of which a torn write leaves one: a backup has it.
        assert subprocess.run(["e2fsck", "-fy", store], check=False).returncode in {1, 2}
        run(*copy)
        run(*mount)
    try:
        files.check(root)
    finally:
        unmount(root)
    run("e2fsck", "-fn", image)


def check_cuts_under_files(program: str, folder: Path, cuts: int, seed: int) -> None:
    """Cut the power under a database and files on an ext4; what they were promised is there."""
    need("nbdfuse", "fusermount3", "e2fsck")
    require_disks("/dev/fuse")
    draw = random.Random(seed)
    root, image, store = folder / "root", folder / "image", folder / "store"
    root.mkdir()
    files = Files(root, seed)
    with store.open("wb") as file:
        file.truncate(DRIVE_BYTES)
    run("mkfs.ext4", "-q", "-F", store)
    drive = serve(program, folder)
    with mounted(drive, root):
        files.make()
    drive.stop()
    lost = worked = 0
    for _ in range(cuts):
        drive = serve(program, folder, cut_of(draw, ["power-cut", "torn"], 300))
        try:
            before = files.commits
            # The power may fail in the middle of a recovery, which begins anew then.
            with suppress(AssertionError), mounted(drive, root):
                files.work(draw)
            lost += lost_blocks(drive)
            check_image(files, store, image, root)
            worked += files.commits > before
        finally:
            drive.give_up()
    assert lost > 0 and worked > cuts // 2


@pytest.mark.seconds(10)
def test_a_database_and_files_survive_cuts(program: str, tmp_path: Path) -> None:
    check_cuts_under_files(program, tmp_path, cuts=20, seed=13)


@LONG
def test_a_database_and_files_survive_a_thousand_cuts(program: str, tmp_path: Path) -> None:
    check_cuts_under_files(program, tmp_path, cuts=1000, seed=14)
