"""PostgreSQL: pgbench's transactions, or ones that read, while another client loads in bulk."""

import os
import pwd
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import UserError
from reprieve_studies.databases.work import Work, forget, loading

USER = "postgres"
_PROGRAMS = ("initdb", "pg_ctl", "postgres", "pgbench", "psql")
_ACCOUNTS = 100_000
"""pgbench's, at its scale of 1: 15 MB."""
_READS = 4
"""Of a transaction that reads."""
_BATCH_ROWS = 128
"""Of a commit of the bulk load."""
_ROW_BYTES = 1000
_PAGE_WRITES = 2
"""A page of a table that grows is written empty first."""
_EMPTIED_EVERY = 1000
"""Batches until the bulk load's table is emptied, so that the drive has room for it."""
_FORGET_S = 0.02
_LATENCY_COLUMN = 2
"""Of pgbench's log, in whole microseconds."""
_CLIENT = "client"
_SETTINGS = (
    "listen_addresses=''",
    "shared_buffers=1MB",
    "autovacuum=off",
    "max_wal_size=128MB",
    "min_wal_size=32MB",
    # The bulk load promises nothing, and does not need a flush five times a second.
    "wal_writer_delay=10s",
    # What is evicted goes to the drive at once, and not with a flush of all.
    "backend_flush_after=256kB",
)


def _installed() -> Path | None:
    """Return where its programs are; Debian keeps them out of the path."""
    folders = [*map(Path, os.get_exec_path()), *Path("/usr/lib/postgresql").glob("*/bin")]
    return next((one for one in folders if all((one / name).is_file() for name in _PROGRAMS)), None)


def require() -> None:
    """Raise UserError unless there is a PostgreSQL, and the user that it runs as."""
    if _installed() is None:
        raise UserError("database: there is no PostgreSQL; on Debian, apt-get install postgresql")
    if USER not in {entry.pw_name for entry in pwd.getpwall()}:
        raise UserError(f"database: there is no user {USER}, as whom PostgreSQL has to run")


def reads(work: Work) -> NDArray[np.float64]:
    """Return what transactions of point reads took beside a bulk load, in ns."""
    lines = ["BEGIN;"]
    for at in range(_READS):
        lines.append(f"\\set aid{at} random(1, {_ACCOUNTS})")
        lines.append(f"SELECT abalance FROM pgbench_accounts WHERE aid = :aid{at};")
    return _transactions(work, "\n".join([*lines, "END;\n"]))


def updates(work: Work) -> NDArray[np.float64]:
    """Return what pgbench's own transactions took beside a bulk load, in ns."""
    return _transactions(work, None)


def _transactions(work: Work, script: str | None) -> NDArray[np.float64]:
    """Fill tables, and run a script of pgbench's, or its own."""
    base = work.root / "base"
    base.mkdir()
    shutil.chown(base, USER, USER)
    server = _Server(base)
    with ExitStack() as undo:
        server.start(undo)
        options: tuple[str, ...] = ()
        if script is not None:
            (base / "client.sql").write_text(script)
            options = ("-f", str(base / "client.sql"))
        undo.enter_context(server.loading(work.bulk_bytes_per_s))
        undo.enter_context(_forgetting(server.data))
        server.run("pgbench", "-n", "-T", str(work.seconds), f"--random-seed={work.seed}", "--log",
                   f"--log-prefix={base / _CLIENT}", *options)  # fmt: skip
        (log,) = base.glob(f"{_CLIENT}.*[0-9]")
        rows = [line.split() for line in log.read_text().splitlines()]
    return np.array([1e3 * float(row[_LATENCY_COLUMN]) for row in rows])


class _Server:
    """A server of its own, with its data and its socket in a folder."""

    def __init__(self, base: Path) -> None:
        folder = _installed()
        assert folder is not None, "it was required"
        self.base, self.data, self.programs = base, base / "data", folder
        self._how: dict[str, Any] = {
            "cwd": base, "user": USER, "group": USER, "extra_groups": [],
            "stdout": subprocess.DEVNULL,
        }  # fmt: skip
        self.control = (str(folder / "pg_ctl"), "-D", str(self.data), "-w", "-t", "300")

    def start(self, undo: ExitStack) -> None:
        """Make it, start it, and fill its tables."""
        initdb = str(self.programs / "initdb")
        self._call(initdb, "-D", str(self.data), "--no-locale", "--auth=trust", "--no-sync")
        settings = (*_SETTINGS, f"unix_socket_directories={self.base}")
        options = " ".join(f"-c {setting}" for setting in settings)
        undo.callback(self._stop)
        self._call(*self.control, "-l", str(self.base / "log"), "-o", options, "start")
        self.run("pgbench", "-i", "-q")
        self.run("psql", "-q", "-c", "CREATE UNLOGGED TABLE bulk (id bigint, data text)")
        self.run("psql", "-q", "-c", "CHECKPOINT")

    def run(self, *command: str) -> None:
        """Run a client to its end."""
        self._call(*self._client(*command))

    def _client(self, name: str, *options: str) -> tuple[str, ...]:
        return (str(self.programs / name), "-h", str(self.base), *options, USER)

    def loading(self, bytes_per_s: float) -> AbstractContextManager[None]:
        """Load in bulk until the block ends."""
        insert, empty = self.base / "insert.sql", self.base / "empty.sql"
        insert.write_text(
            "INSERT INTO bulk SELECT n, repeat(md5(random()::text), "
            f"{_ROW_BYTES // 32}) FROM generate_series(1, {_BATCH_ROWS}) n;\n"
        )
        empty.write_text("TRUNCATE bulk;\n")
        batches_per_s = bytes_per_s / (_PAGE_WRITES * _BATCH_ROWS * _ROW_BYTES)
        # What it could not load within a second it does not make up for.
        pace = ("-R", f"{batches_per_s:.3f}", "-L", "1000", "-T", "86400")
        scripts = ("-f", f"{insert}@{_EMPTIED_EVERY}", "-f", f"{empty}@1")
        # Its commits are no promises.
        environment = {**os.environ, "PGOPTIONS": "-c synchronous_commit=off"}
        return loading(
            self._client("pgbench", "-n", *pace, *scripts),
            "database: PostgreSQL's bulk load ended early",
            env=environment, stderr=subprocess.DEVNULL, **self._how,
        )  # fmt: skip

    def _stop(self) -> None:
        """Stop it, unless it never started."""
        if (self.data / "postmaster.pid").exists():
            self._call(*self.control, "-m", "immediate", "stop")

    def _call(self, *command: str) -> None:
        done = subprocess.run(
            command, text=True, check=False, stderr=subprocess.PIPE, start_new_session=True,
            **self._how,
        )  # fmt: skip
        if done.returncode:
            what = f"database: {Path(command[0]).name} failed: {done.stderr.strip()}"
            raise UserError(what)


@contextmanager
def _forgetting(data: Path) -> Iterator[None]:
    """Let the machine forget the tables again and again, so that reads reach the drive."""
    over = threading.Event()
    thread = threading.Thread(target=_forget, args=(data, over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _forget(data: Path, over: threading.Event) -> None:
    while not over.wait(_FORGET_S):
        for path in (data / "base").glob("*/*"):
            # A table that was emptied has a new file.
            with suppress(FileNotFoundError):
                forget(path)
