"""Whatever surrounds a command: letters, memory, exceptions of others, an early interrupt."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .drive import Reprieve

HOSTILE = """
import reprieve


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Fails(reprieve.SuspensionPolicy):
    def decide(self, view):
        raise Wordless


class Paints(reprieve.SuspensionPolicy):
    def decide(self, view):
        raise ValueError("\\x1b[31mred\\x07")
"""


def test_a_terminal_of_ascii_gets_its_table(program: str, small: Path) -> None:
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0"}
    for more in ([], ["--report"]):
        done = subprocess.run(
            [program, "run", str(small), *more], cwd=small.parent, env=environment,
            capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"Latency in ?s" in done.stdout
    done = subprocess.run(
        [program, "run", "µ.toml"],
        cwd=small.parent,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("command", ["run", "compare"])
def test_too_little_memory_is_a_sentence(program: str, small: Path, command: str) -> None:
    given = {"run": [], "compare": ["--axis", "policy=FIFO,RPS"]}[command]
    for megabytes in (300, 500, 700):

        def limit(most: int = megabytes << 20) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

        done = subprocess.run(
            [program, command, str(small), *given, "--out", "o"], cwd=small.parent,
            preexec_fn=limit, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Fails", "Wordless: (its text cannot be made: RuntimeError)"),
        ("Paints", r"\x1b[31mred\x07"),
    ],
)
def test_what_an_exception_says_cannot_break_the_sentence(
    name: str, words: str, small: Path, reprieve: Reprieve
) -> None:
    (small.parent / "mine.py").write_text(HOSTILE)
    done = reprieve(
        "run", small, "--allow-python", "--set", "suspension.program=ipc",
        "--set", f"suspension.policy=mine.py:{name}",
    )  # fmt: skip
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr[:-1].isprintable()


@pytest.mark.parametrize("delay_ms", range(30, 250, 20))
def test_an_early_interrupt_is_silent(program: str, small: Path, delay_ms: int) -> None:
    process = subprocess.Popen(
        [program, "run", str(small), "--set", "workload.requests=1000000000"],
        cwd=small.parent, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )  # fmt: skip
    time.sleep(delay_ms / 1000)
    process.send_signal(signal.SIGINT)
    try:
        _, told = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        # Python loses an interrupt at some moments of its own start, whatever the script.
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert process.returncode in {1, 130, -signal.SIGINT}
    # Until `loading` has set the handler, Python itself says what it was doing.
    is_loaded = b"<frozen " not in told and b"reprieve/loading.py" not in told
    assert b"python/reprieve" not in told or not is_loaded, told
