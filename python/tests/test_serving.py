"""A drive served from Python: its clients, its rules, its end."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

import reprieve as rp

from .nbd_client import DRIVE, DRIVE_BYTES, Client


def test_drive_serves_while_the_block_lasts(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    scenario = rp.Scenario.from_toml(DRIVE)
    with rp.serve(scenario, rp.ServeOptions(socket=path)) as drive:
        assert drive.bytes == DRIVE_BYTES
        assert drive.place is not None
        assert str(path) in drive.place
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            client = Client(connection)
            client.write(4096, b"x" * 4096)
            assert client.read(4096, 4096) == b"x" * 4096
        with pytest.raises(rp.UserError, match="has not stopped"):
            _ = drive.summary
        drive.set_rule("suspension.max_per_operation", 3)
        assert drive.rules()["suspension.max_per_operation"] == "3"
        with pytest.raises(rp.UserError, match="timing"):
            drive.set_rule("timing.t_read_us", 3)
    commands = drive.summary["served"]["commands"]
    assert (commands["read"]["count"], commands["write"]["count"]) == (1, 1)
    assert not path.exists()
    assert drive.stop() is drive.summary


def test_error_in_the_block_stops_the_drive(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        rp.serve(rp.Scenario.from_toml(DRIVE), rp.ServeOptions(socket=tmp_path / "s")) as drive,
    ):
        _ = 1 / 0
    assert drive.summary["served"]["connections"] == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (rp.ServeOptions(insecure=True), "tls, tls_client_ca and insecure go with tcp"),
        (rp.ServeOptions(tcp="127.0.0.1:0"), r"tcp = 127\.0\.0\.1:0: needs tls, or insecure"),
        (rp.ServeOptions(time_scale=0), r"time_scale = 0: must be a number from 0\.001"),
        (rp.ServeOptions(faults=["eoi"]), r"faults eoi: .* must be one of eio, late, power-cut"),
    ],
)
def test_mistakes_are_sentences(options: rp.ServeOptions, sentence: str) -> None:
    with pytest.raises(rp.UserError, match=sentence):
        rp.serve({"device": "fast12-mlc"}, options)
