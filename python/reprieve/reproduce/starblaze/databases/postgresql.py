"""PostgreSQL: transactions of pgbench's that read, while psql loads in bulk."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reprieve._native import UserError

USER = "postgres"
_BRANCHES = 1
"""pgbench's scale: 100,000 accounts, 15 MB."""
_BULK_ROWS = 20_000
"""Of a commit of the bulk load; every batch takes the place of the one before."""
_FORGET_S = 0.05
_LATENCY_COLUMN = 2
_CLIENT = "reader"
_SETTINGS = (
    "listen_addresses=''",
    "shared_buffers=1MB",
    "autovacuum=off",
    "max_wal_size=128MB",
    "min_wal_size=32MB",
)


def _installed() -> Path | None:
    """Return where its programs are; Debian keeps them out of the path."""
    folders = [*map(Path, os.get_exec_path()), *Path("/usr/lib/postgresql").glob("*/bin")]
    return next((one for one in folders if (one / "initdb").is_file()), None)


def require() -> None:
    """Raise UserError unless there is a PostgreSQL, and the user that it runs as."""
    found = _installed()
    if found is None or shutil.which("pgbench") is None:
        raise UserError(
            "database postgresql: there is no PostgreSQL; on Debian, apt-get install postgresql"
        )
    import pwd

    if USER not in {entry.pw_name for entry in pwd.getpwall()}:
        raise UserError(f"database postgresql: there is no user {USER}, as whom it has to run")


def transactions(root: Path, count: int) -> NDArray[np.float64]:
    """Fill tables, and return what pgbench's reads took beside a bulk load, in ns."""
    base = root / "base"
    base.mkdir()
    shutil.chown(base, USER, USER)
    data, at = base / "data", ["-h", str(base)]
    bulk = base / "bulk.sql"
    bulk.write_text(
        "TRUNCATE bulk;\n"
        f"INSERT INTO bulk SELECT n, repeat(md5(random()::text), 30) "
        f"FROM generate_series(1, {_BULK_ROWS}) n;\n"
    )
    folder = _installed()
    assert folder is not None, "it was required"
    with ExitStack() as undo:
        _run(base, str(folder / "initdb"), "-D", str(data), "--no-locale",
             "--auth=trust", "--no-sync")  # fmt: skip
        settings = (*_SETTINGS, f"unix_socket_directories={base}")
        options = " ".join(f"-c {setting}" for setting in settings)
        control = [str(folder / "pg_ctl"), "-D", str(data), "-w"]
        undo.callback(_stop, base, control)
        _run(base, *control, "-l", str(base / "log"), "-o", options, "start")
        _run(base, "pgbench", *at, "-i", "-q", "-s", str(_BRANCHES), USER)
        _run(base, "psql", *at, "-c", "CREATE TABLE bulk (id bigint, data text)", USER)
        with _loading(base, ["pgbench", *at, "-n", "-f", str(bulk), "-T", "86400", USER]):
            undo.enter_context(_forgetting(data))
            _run(base, "pgbench", *at, "-n", "-S", "-t", str(count), "--log",
                 f"--log-prefix={base / _CLIENT}", USER)  # fmt: skip
        (log,) = base.glob(f"{_CLIENT}.*")
        rows = [line.split() for line in log.read_text().splitlines()]
        # pgbench writes whole microseconds.
        return np.array([1e3 * float(row[_LATENCY_COLUMN]) for row in rows])


def _stop(folder: Path, control: list[str]) -> None:
    """Stop the server, unless it never started."""
    if (folder / "data" / "postmaster.pid").exists():
        _run(folder, *control, "-m", "immediate", "stop")


def _run(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command, cwd=folder, user=USER, group=USER, extra_groups=[], text=True, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    if done.returncode:
        raise UserError(f"database postgresql: {Path(command[0]).name} failed: {done.stderr}")


@contextmanager
def _loading(folder: Path, command: list[str]) -> Iterator[None]:
    """Load in bulk until the block ends."""
    with subprocess.Popen(
        command, cwd=folder, user=USER, group=USER, extra_groups=[], start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as loader:  # fmt: skip
        try:
            yield
            if loader.poll() is not None:
                raise UserError("database postgresql: the bulk load ended early")
        finally:
            loader.terminate()


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
            try:
                file = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                # A table that was emptied has a new file.
                continue
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)
