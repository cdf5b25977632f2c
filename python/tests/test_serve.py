"""The served drive: what it answers and when, what it keeps, and what it refuses."""

from __future__ import annotations

import csv
import json
import random
import resource
import signal
import socket
import stat
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from reprieve.cli import serve

from .drive import Reprieve
from .nbd_client import (
    DRIVE,
    DRIVE_BYTES,
    FLUSH,
    FUA,
    READ,
    TRIM,
    WRITE,
    ZEROES,
    Client,
    Served,
)
from .perfetto_trace import read

# A drive that answers slowly enough for a client to see.
SLOW = DRIVE.replace('unwritten = "zero"', 'unwritten = "flash"') + "[timing]\nt_read_us = 30000\n"


@pytest.fixture
def served(program: str, tmp_path: Path) -> Iterator[Served]:
    drive = Served(program, tmp_path)
    yield drive
    if drive.process.poll() is None:
        drive.stop()


def test_what_was_written_is_read(served: Served) -> None:
    client = served.connect()
    assert client.bytes == DRIVE_BYTES
    assert stat.S_IMODE(served.socket.stat().st_mode) == 0o600
    data = random.Random(1).randbytes(300_000)
    client.write(12_345, data)
    other = served.connect()
    assert other.read(12_345, len(data)) == data
    assert other.read(0, 12_345) == bytes(12_345)
    assert client.call(ZEROES, 20_000, 1000) == 0
    assert client.call(TRIM, 30_001, 10_000) == 0
    assert client.call(FLUSH, 0, 0) == 0
    expected = bytearray(data)
    expected[20_000 - 12_345 : 21_000 - 12_345] = bytes(1000)
    expected[30_001 - 12_345 : 40_001 - 12_345] = bytes(10_000)
    assert other.read(12_345, len(data)) == expected
    assert other.call(READ, 5, 0) == 0
    out = served.stop()
    assert "clients: 2" in out
    assert not served.socket.exists()
    assert not (served.folder / "s.ctl").exists()


def test_a_request_outside_is_refused_and_the_next_one_served(served: Served) -> None:
    client = served.connect()
    assert client.call(READ, DRIVE_BYTES, 512) == 22
    assert client.call(WRITE, DRIVE_BYTES - 512, 1024, bytes(1024)) == 28
    assert client.call(READ, 2**64 - 512, 1024) == 22
    assert client.call(99, 0, 0) == 22
    assert client.read(DRIVE_BYTES - 512, 512) == bytes(512)


@pytest.mark.parametrize("scale", [1, 5])
def test_no_answer_comes_early(program: str, tmp_path: Path, scale: int) -> None:
    drive = Served(program, tmp_path, "--time-scale", str(scale), text=SLOW)
    client = drive.connect()
    before = time.monotonic_ns()
    assert client.read(0, 4096) == bytes(4096)
    passed_ns = time.monotonic_ns() - before
    drive.stop()
    told = json.loads((tmp_path / "summary.json").read_text())["served"]
    model_ns = told["commands"]["read"]["latency_ns"]["min"]
    # The histogram has three digits.
    assert model_ns >= 30_000_000 * 0.999
    assert passed_ns >= model_ns * scale * 0.999
    assert told["lateness_ns"]["count"] == 1


def test_a_recording_replays_to_the_nanosecond(
    program: str, reprieve: Reprieve, tmp_path: Path
) -> None:
    drive = Served(program, tmp_path, "--record", "recording.csv")
    clients = [drive.connect(), drive.connect()]
    draw = random.Random(2)
    for _ in range(300):
        client = draw.choice(clients)
        sent = draw.randrange(1, 8)
        lengths = {}
        for _ in range(sent):
            count = draw.randrange(1, 20_000)
            offset = draw.randrange(DRIVE_BYTES - count)
            kind = draw.choice([READ, WRITE, WRITE, TRIM, FLUSH, ZEROES])
            flags = FUA if kind == WRITE and draw.random() < 0.3 else 0
            data = draw.randbytes(count) if kind == WRITE else b""
            where = (0, 0) if kind == FLUSH else (offset, count)
            lengths[client.send(kind, *where, data, flags)] = count if kind == READ else 0
        for _ in range(sent):
            error, cookie = client.answer()
            assert error == 0
            client.take(lengths[cookie])
    drive.stop()
    with (tmp_path / "recording.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 1000
    run_again = ("run", "recording.toml", "--requests", "--timeline", "--out", "o")
    assert reprieve(*run_again).returncode == 0
    replayed = pq.read_table(tmp_path / "o" / "requests.parquet").sort_by("id").to_pylist()
    assert len(replayed) == len(rows)
    for recorded, run in zip(rows, replayed, strict=True):
        for name in ("arrival_ns", "lba", "bytes", "completion_ns"):
            assert int(recorded[name]) == run[name]
        assert recorded["op"] == run["op"]
        assert int(recorded["answered_ns"]) >= int(recorded["completion_ns"])
    assert {row["fua"] for row in rows} == {"0", "1"}
    drawn = read(tmp_path / "o" / "timeline.perfetto-trace").on("requests")
    spans = {each.notes["request"]: each.span for each in drawn}
    assert spans == {row["id"]: (row["arrival_ns"], row["completion_ns"]) for row in replayed}


def test_a_drive_serves_from_a_saved_state(
    program: str, reprieve: Reprieve, tmp_path: Path
) -> None:
    (tmp_path / "d.toml").write_text(DRIVE)
    load = ["generator=mixed", "requests=8", "read_fraction=0", "addresses=sequential"]
    load += ["arrivals=closed", "queue_depth=1", "request_bytes=2048"]
    sets = [word for key in load for word in ("--set", f"workload.{key}")]
    done = reprieve("run", "d.toml", *sets, "--save-state", "state", "--out", "o")
    assert done.returncode == 0, done.stderr
    reads = []
    for state in ([], ["--from-state", "state"]):
        drive = Served(program, tmp_path, "--record", "recording.csv", *state)
        client = drive.connect()
        # The first page is one of the eight; the last was never written, and costs no read.
        assert client.read(0, 2048) == client.read(DRIVE_BYTES - 2048, 2048) == bytes(2048)
        drive.stop()
        told = json.loads((tmp_path / "summary.json").read_text())
        reads.append(told["flash"]["host_reads"])
        with (tmp_path / "recording.csv").open() as file:
            recorded = [int(row["completion_ns"]) for row in csv.DictReader(file)]
        again = ["--requests", "--out", "o"]
        assert reprieve("run", "recording.toml", *state, *again).returncode == 0
        replayed = pq.read_table(tmp_path / "o" / "requests.parquet").sort_by("id").to_pylist()
        assert [run["completion_ns"] for run in replayed] == recorded
    assert reads == [0, 1]


def test_memory_has_a_limit(program: str, tmp_path: Path) -> None:
    drive = Served(program, tmp_path, "--memory-bytes", "1000000")
    client = drive.connect()
    errors = [
        client.call(WRITE, at, 65_536, bytes(65_535) + b"\1") for at in range(0, 2**21, 65_536)
    ]
    assert errors.count(0) == 15
    assert set(errors) == {0, 28}
    assert client.call(TRIM, 0, 65_536) == 0
    client.write(2**21, bytes([1]) * 8192)
    drive.stop(signal.SIGTERM)


# 2^24 pages of 64 KiB, three quarters of them the host's: 768 GiB, more than the machines have
# that run tests.
LARGE = """device = "fast12-slc"
policy = "pes-ipc"
[geometry]
channels = 4
dies_per_channel = 4
planes_per_die = 4
blocks_per_plane = 1024
pages_per_block = 256
page_bytes = 65536
[ftl]
over_provisioning = 0.25
precondition = "none"
"""
LARGE_BYTES = 3 << 38
SECRET = b"what was written" * 32


def test_a_drive_larger_than_memory_serves_without_options(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    drive = Served(program, tmp_path, text=LARGE)
    assert f"an unlinked file in {tmp_path}/temporary, " in drive.next_line()
    client = drive.connect()
    assert client.bytes == LARGE_BYTES
    for at in (0, LARGE_BYTES // 2, LARGE_BYTES - 4096):
        client.write(at, SECRET)
    assert client.call(FLUSH, 0, 0) == 0
    for at in (0, LARGE_BYTES // 2, LARGE_BYTES - 4096):
        assert client.read(at, len(SECRET)) == SECRET
    assert client.read(1 << 20, 512) == bytes(512)
    assert list((tmp_path / "temporary").iterdir()) == []
    drive.stop()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_drive_larger_than_memory_and_nowhere_to_put_it_is_one_sentence(
    reprieve: Reprieve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    (tmp_path / "d.toml").write_text(LARGE)
    done = reprieve("serve", "d.toml")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--store FILE, --discard-data, or another folder in TMPDIR" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["d.toml"]


def test_discarded_data_reads_as_zeros_and_costs_what_it_would(
    program: str, tmp_path: Path
) -> None:
    drive = Served(program, tmp_path, "--discard-data", text=LARGE)
    assert drive.next_line() == "no data is kept: reads give zeros\n"
    client = drive.connect()
    client.write(8192, SECRET)
    assert client.read(8192, len(SECRET)) == bytes(len(SECRET))
    assert client.call(FLUSH, 0, 0) == 0
    drive.stop()
    told = json.loads((tmp_path / "summary.json").read_text())
    assert told["flash"]["programs"] == 1
    assert told["served"]["commands"]["write"]["count"] == 1


def test_rules_change_while_it_serves(served: Served, reprieve: Reprieve) -> None:
    shown = reprieve("ctl", "s", "show")
    assert 'suspension.policy = "always"' in shown.stdout
    done = reprieve("ctl", "s", "set", "suspension.max_per_operation", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "suspension.max_per_operation = 2" in reprieve("ctl", "s", "show").stdout
    assert reprieve("ctl", "s", "set", "suspension.policy", "threshold").returncode == 0
    assert reprieve("ctl", "s", "set", "suspension.min_remaining_us", "90").returncode == 0
    wrong = reprieve("ctl", "s", "set", "suspension.polcy", "always")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean suspension.policy?" in wrong.stderr
    assert reprieve("ctl", "elsewhere", "show").returncode == 2
    served.connect().write(0, bytes(4096))


def test_rules_stay_while_it_records(program: str, reprieve: Reprieve, tmp_path: Path) -> None:
    drive = Served(program, tmp_path, "--record", "recording.csv")
    refused = reprieve("ctl", "s", "set", "suspension.max_per_operation", "2")
    assert refused.returncode == 2
    assert "without --record" in refused.stderr
    drive.stop()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has hung up; one that has not is quiet for five seconds."""
    connection.settimeout(5)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_metrics_do_not_wait_behind_idle_connections(
    program: str, reprieve: Reprieve, tmp_path: Path
) -> None:
    port = free_port()
    drive = Served(program, tmp_path, "--metrics", str(port))
    # More than the server talks to at once, and some that never come to the end of a question.
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    for connection in idle[::3]:
        connection.sendall(b"GET /metrics HTTP/1.1\r\n")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    hung_up = next(line for line in lines if line.startswith("reprieve_refused_connections"))
    assert int(hung_up.split()[1]) == 40 + 1 - 16
    # Those that came first have made room.
    assert all(map(is_closed, idle[: 40 + 1 - 16]))
    # Commands have the same places.
    assert reprieve("ctl", "s", "show").returncode == 0
    for connection in idle:
        connection.close()
    drive.stop()


def test_metrics_count_what_was_asked(program: str, tmp_path: Path) -> None:
    port = free_port()
    drive = Served(program, tmp_path, "--metrics", str(port))
    client = drive.connect()
    for at in range(0, 40_960, 4096):
        client.write(at, bytes([1]) * 4096)
    client.read(0, 8192)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    for line in (
        'reprieve_commands_total{command="write"} 10',
        'reprieve_command_bytes_total{command="write"} 40960',
        'reprieve_command_bytes_total{command="read"} 8192',
        'reprieve_latency_seconds_count{command="write"} 10',
        "reprieve_lateness_seconds_count 11",
        "reprieve_connections 1",
        "# TYPE reprieve_suspensions_total counter",
    ):
        assert line in lines
    drive.stop()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--set", "timing.t_reed_us=1"], "did you mean timing.t_read_us?"),
        (["--set", "workload.requests=5"], "gets its requests from its clients"),
        (["--socket", "taken"], "is there already, and no socket"),
        (
            ["--socket", "no/such/folder/s"],
            "--socket no/such/folder/s: no socket can be made there",
        ),
        (["--store", "short"], "has 5 bytes, and the drive has 50331648"),
        (["--store", "."], "--store ."),
        (["--from-state", "short"], "short"),
        (["--store", "x", "--memory-bytes", "5"], "give one of them"),
        (["--memory-bytes", "-1"], "memory_bytes = -1: must be from 0"),
        (["--socket", "x", "--record", "x"], "x: is named for two outputs"),
        (["--store", "x", "--discard-data"], "give one of them"),
        (["--record", "no/such/folder/r"], "cannot be written"),
        (["--record", "r.toml"], "does not end in .toml"),
        (["--tcp", "127.0.0.1:0"], "needs --tls-cert and --tls-key, or --insecure"),
        (["--tcp", "nonsense", "--insecure"], "it must be HOST:PORT"),
        (["--tcp", "127.0.0.1:0", "--tls-cert", "short", "--tls-key", "short"], "in PEM"),
        (["--insecure"], "go with --tcp"),
        (["--tls-client-ca", "short"], "go with --tcp"),
        (["--tcp", "127.0.0.1:0", "--insecure", "--tls-client-ca", "short"], "needs --tls-cert"),
        (["--time-scale", "0"], "must be a number from 0.001"),
        (["--time-scale", "1.0005"], "with three decimals"),
        (["--metrics", "x:y"], "it must be HOST:PORT"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(
    reprieve: Reprieve, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    (tmp_path / "d.toml").write_text(DRIVE)
    (tmp_path / "taken").write_text("")
    (tmp_path / "short").write_text("short")
    done = reprieve("serve", "d.toml", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.toml", "short", "taken"]


def test_the_socket_of_a_dead_server_is_taken_over(
    program: str, reprieve: Reprieve, tmp_path: Path
) -> None:
    killed = Served(program, tmp_path)
    killed.process.kill()
    killed.process.communicate()
    assert killed.socket.is_socket()
    drive = Served(program, tmp_path)
    Client(drive.raw()).write(0, b"served")
    # Nobody takes it from a server that lives, be it busy or not.
    for option, path in (("--socket", "s"), ("--control", "s.ctl")):
        done = reprieve("serve", "drive.toml", "--socket", "other", option, path)
        assert done.returncode == 2
        assert done.stderr.startswith(f"{option} {path}: is where a server listens")
    assert Client(drive.raw()).read(0, 6) == b"served"
    drive.stop()
    assert not drive.socket.exists()


def test_a_store_serves_one_server_at_a_time(
    program: str, reprieve: Reprieve, tmp_path: Path
) -> None:
    drive = Served(program, tmp_path, "--store", "store")
    Client(drive.raw()).write(0, b"kept")
    done = reprieve("serve", "drive.toml", "--socket", "other", "--store", "store")
    assert done.returncode == 2
    assert "in use by another server" in done.stderr
    drive.stop()
    drive = Served(program, tmp_path, "--store", "store")
    assert drive.connect().read(0, 5) == b"kept\0"
    drive.stop()


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def small_files(program: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Serve where no file may grow: a limit on file size stands in for a full disk."""
    (folder / "d.toml").write_text(DRIVE)
    return subprocess.Popen(
        [program, "serve", "d.toml", "--socket", "s", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_limit_files,  # noqa: PLW1509
    )


def test_a_store_without_room_is_one_sentence(program: str, tmp_path: Path) -> None:
    process = small_files(program, tmp_path, "--store", "store")
    out, err = process.communicate()
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert "--store store: cannot be made 50331648 bytes long" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.toml"]


def test_a_drive_goes_on_when_its_recording_has_no_room(
    program: str, reprieve: Reprieve, tmp_path: Path
) -> None:
    process = small_files(program, tmp_path, "--record", "recording.csv", "--summary", "o.json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(tmp_path / "s"))
        client = Client(connection)
        # The shortest row has 20 bytes, so that the file is full before all of these are in it.
        for _ in range(6000):
            client.read(0, 512)
        told = process.stderr.readline()
        assert "--record recording.csv: cannot be written: File too large" in told
        assert "the drive goes on" in told
        assert client.read(0, 512) == bytes(512)
        # What is not recorded any more may change its rules.
        assert reprieve("ctl", "s", "set", "suspension.max_per_operation", "2").returncode == 0
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "requests to recording.csv and no more" in out
    content = (tmp_path / "recording.csv").read_bytes()
    # The last row may end where the file has to.
    assert 0 <= 100_000 - len(content) < 100
    assert content.endswith(b"\n")
    rows = content.count(b"\n") - 1
    recording = json.loads((tmp_path / "o.json").read_text())["served"]["recording"]
    assert (recording["requests"], recording["failure"][:4]) == (rows, "File")
    assert reprieve("run", "recording.toml", "--out", "o").returncode == 0
    replayed = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert replayed["requests"]["total"]["count"] == rows


@pytest.mark.seconds(14)
def test_a_recording_outlives_the_server(program: str, reprieve: Reprieve, tmp_path: Path) -> None:
    drive = Served(program, tmp_path, "--record", "recording.csv")
    client = drive.connect()
    path = tmp_path / "recording.csv"
    for at in range(0, 100 * 2048, 2048):
        client.write(at, bytes(2048))
    # Nothing more comes, and everything is written all the same.
    while path.read_bytes().count(b"\n") < 101:
        time.sleep(0.05)
    for at in range(0, 10 * 2048, 2048):
        client.read(at, 2048)
    drive.kill()
    whole = path.read_bytes()
    assert whole.count(b"\n") >= 101
    # A machine that stops may leave a part of a row, which is passed over.
    for cut in range(len(whole) - 30, len(whole)):
        path.write_bytes(whole[:cut])
        assert reprieve("run", "recording.toml", "--requests", "--out", "o").returncode == 0
    rows = list(csv.DictReader(whole.decode().splitlines()))[:100]
    replayed = pq.read_table(tmp_path / "o" / "requests.parquet").sort_by("id").to_pylist()
    for recorded, run in zip(rows, replayed, strict=False):
        assert int(recorded["completion_ns"]) == run["completion_ns"]


def test_who_was_answered_nothing_waited_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    figures = dict.fromkeys(("mean", "p50", "p99", "p99_9", "max"), 0.0)
    served = {"commands": {}, "connections": 0, "lateness_ns": {"count": 0, **figures}}
    flash = {"suspensions": {"program": 0, "erase": 0}, "waf": 0.0}
    serve._show({"served": served, "flash": flash})
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "later by" in line)
    assert row.split()[3:] == ["0", *"–––––"]
