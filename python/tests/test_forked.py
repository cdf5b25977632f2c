"""Commands that tests fork are processes like those that a user starts."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import ForkedCommand

from .drive import Reprieve

SCRIPT = """
import atexit, os, sys, threading, time
name, *arguments = sys.argv
atexit.register(print, "at exit")
if arguments[:1] == ["meet"]:
    # Two such processes end only if they run at the same time.
    ours, theirs = arguments[1:]
    open(ours, "w").close()
    while not os.path.exists(theirs):
        time.sleep(0.001)
if arguments[:1] == ["tell"]:
    print(__name__, __file__ == name, sys.modules["__main__"].__file__ == name, *arguments)
    print(os.getcwd(), sys.path[0], os.getpid() != os.getppid(), file=sys.stderr)
    print(hasattr(os, "changed"), sorted(map(int, os.listdir("/proc/self/fd")))[:-1])
    os.changed = True
    threading.Thread(target=lambda: (time.sleep(0.05), print("a thread"))).start()
    sys.exit(7)
if arguments[:1] == ["killed"]:
    os.kill(os.getpid(), int(arguments[1]))
if arguments[:1] == ["raise"]:
    raise ValueError("ours")
"""


@pytest.fixture
def script(tmp_path: Path) -> Iterator[ForkedCommand]:
    """Return a command that tells of itself."""
    path = tmp_path / "bin" / "script"
    path.parent.mkdir()
    path.write_text(SCRIPT)
    command = ForkedCommand(str(path))
    yield command
    command.close()


def test_a_run_is_a_process_of_its_own(script: ForkedCommand, tmp_path: Path) -> None:
    # What the first one changes, the second one does not see.
    for _ in range(2):
        done = script.run(["tell", "a b", "é"], tmp_path)
        expected = "__main__ True True tell a b é\nFalse [0, 1, 2]\na thread\nat exit\n"
        assert (done.returncode, done.stdout) == (7, expected)
        assert done.stderr == f"{tmp_path} {tmp_path / 'bin'} True\n"
    assert done.args == [script.program, "tell", "a b", "é"]


def test_how_a_run_ends_is_told(script: ForkedCommand, tmp_path: Path) -> None:
    assert script.run([], tmp_path).returncode == 0
    failed = script.run(["raise"], tmp_path)
    assert (failed.returncode, failed.stdout) == (1, "at exit\n")
    assert failed.stderr.endswith("ValueError: ours\n")
    for number in (signal.SIGKILL, signal.SIGTERM):
        assert script.run(["killed", str(int(number))], tmp_path).returncode == -number
    # SIGINT is not ignored, as it is where commands are forked.
    assert "KeyboardInterrupt" in script.run(["killed", str(int(signal.SIGINT))], tmp_path).stderr


def test_runs_go_on_side_by_side(script: ForkedCommand, tmp_path: Path) -> None:
    places = [str(tmp_path / name) for name in ("a", "b")]
    ended = []

    def run(*order: str) -> None:
        ended.append(script.run(["meet", *order], tmp_path).returncode)

    threads = [threading.Thread(target=run, args=order) for order in (places, places[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended == [0, 0]


@pytest.mark.parametrize(
    "words", ["--version", "--help", "run --help", "devices", "run small.toml --print",
              "run none.toml", "rum", "run small.toml --set seed=x"],
)  # fmt: skip
def test_a_fork_prints_what_the_command_prints(
    words: str, program: str, small: Path, reprieve: Reprieve
) -> None:
    arguments = words.split()
    true = subprocess.run(
        [program, *arguments], cwd=small.parent, capture_output=True, text=True, check=False
    )
    forked = reprieve(*arguments)
    assert (forked.returncode, forked.stderr) == (true.returncode, true.stderr)
    assert without_speed(forked.stdout) == without_speed(true.stdout)


def without_speed(text: str) -> list[str]:
    """Return the lines that do not tell how long a run took."""
    return [line for line in text.splitlines() if " requests/s" not in line]


def test_another_environment_is_imported_anew(
    reprieve: Reprieve, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths = []
    for columns in ("200", "60"):
        monkeypatch.setenv("COLUMNS", columns)
        lines = reprieve("--help").stdout.splitlines()
        widths.append(max(map(len, lines)))
    # A wide window does not make lines longer than what they say.
    assert widths[1] <= 60 < widths[0]
