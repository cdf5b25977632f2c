"""A file system on the served drive, by way of FUSE and a loop device, and its end."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from reprieve import UserError

_PROGRAMS = ("nbdfuse", "fusermount3", "losetup", "mkfs.ext4", "mount", "umount")
_DEVICES = (Path("/dev/fuse"), Path("/dev/loop-control"))
_SCHEDULER = "mq-deadline"
_WRITES = 4
"""Under way at once: nbdfuse has ten threads, and reads would wait until one is free."""
_REQUEST_KIB = 128
"""Largest request that nbdfuse does not split."""
_READY_S = 30
_END_S = 60
_BETWEEN_S = 0.05


def require_mounts() -> None:
    """Raise UserError if this machine lacks something."""
    if os.geteuid() != 0:
        raise UserError("database: loop devices and mounts need root; run it as root")
    for program in _PROGRAMS:
        if shutil.which(program) is None:
            raise UserError(
                f"database: there is no program {program}; on Debian, apt-get install libnbd-bin "
                "fuse3 e2fsprogs mount"
            )
    for device in _DEVICES:
        if not os.access(device, os.R_OK | os.W_OK):
            raise UserError(f"database: {device} cannot be used; run it on a machine that has it")


@contextmanager
def mounted(socket: Path, folder: Path) -> Iterator[Path]:
    """Mount an ext4 on the drive at `socket`, in `folder`; whatever ends the block, nothing stays.

    The loop device goes around the page cache of FUSE, so that only the file system's is left.
    """
    disk, root = folder / "disk", folder / "root"
    disk.touch()
    root.mkdir()
    with ExitStack() as undo:
        _offer(disk, socket, folder / "fuse.pid", undo)
        loop = _run("losetup", "--find", "--show", "--direct-io=on", str(disk)).strip()
        undo.callback(_run, "losetup", "--detach", loop)
        _limit_writes(Path("/sys/block", Path(loop).name, "queue"), undo)
        # A drive that was trimmed has nothing to collect.
        _run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=1", loop)
        _run("mount", "-o", "nodiscard,noatime", loop, str(root))
        undo.callback(_unmount, root)
        yield root


def _offer(disk: Path, socket: Path, ready: Path, undo: ExitStack) -> None:
    """Let nbdfuse show the drive as the file `disk`."""
    command = ["nbdfuse", "--pidfile", str(ready), str(disk), "--unix", str(socket)]
    # In a session of its own: Ctrl-C would end it under the file system.
    fuse = subprocess.Popen(command, start_new_session=True)
    undo.callback(_end, fuse)
    end = time.monotonic() + _READY_S
    # Only when it is mounted does it write the file, and only then has the disk its size.
    while not ready.exists():
        if fuse.poll() is not None or time.monotonic() > end:
            raise UserError("database: nbdfuse does not show the served drive; try it by itself")
        time.sleep(_BETWEEN_S)
    undo.callback(_unmount, disk)


def _limit_writes(queue: Path, undo: ExitStack) -> None:
    """Let the loop device pass on few writes at once; it ends as it was."""
    scheduler = queue / "scheduler"
    offered = scheduler.read_text()
    if _SCHEDULER not in offered:
        raise UserError(
            f"database: {scheduler} offers {offered.strip()}; it must have {_SCHEDULER}, which "
            "comes with the kernel's CONFIG_MQ_IOSCHED_DEADLINE"
        )
    before = offered[offered.index("[") + 1 : offered.index("]")]
    scheduler.write_text(_SCHEDULER)
    undo.callback(scheduler.write_text, before)
    (queue / "iosched/async_depth").write_text(str(_WRITES))
    longest = queue / "max_sectors_kb"
    undo.callback(longest.write_text, longest.read_text())
    longest.write_text(str(_REQUEST_KIB))


def _end(fuse: subprocess.Popen[bytes]) -> None:
    """Wait for nbdfuse, which ends when it is unmounted; end it if it never was mounted."""
    try:
        fuse.wait(_END_S if fuse.poll() is None else 0)
    except subprocess.TimeoutExpired:
        fuse.kill()
        fuse.wait()


def _unmount(at: Path) -> None:
    """Unmount; what ended a moment ago may still keep it busy."""
    end = time.monotonic() + _READY_S
    while True:
        done = subprocess.run(["umount", str(at)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        if time.monotonic() > end:
            raise UserError(f"database: {at} stays mounted: {done.stderr.strip()}; unmount it")
        time.sleep(_BETWEEN_S)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"database: {command[0]} failed: {done.stderr.strip()}; try it by itself")
    return done.stdout
