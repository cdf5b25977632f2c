"""The rig against times worked out by hand: one die, its own channel, the FAST 2012 devices.

Times are those of Wu and He, FAST 2012, Table 1; each sum is spelled out beside its case. SLC: bus
20, read 10, 5 iterations of pulse 20 and verify 8. MLC: bus 40, read 25, 15 of 20 and 24. Both:
reset 4, buffer 3, erase 1500 or 3300. All in µs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import reprieve as rp
from reprieve.die_rig import rig_columns

from .drive import Reprieve

PROGRAM_THEN_READ = [(0, "program", 0, 0, 0), (61_000, "read", 0, 1, 0)]


@pytest.mark.parametrize(
    ("device", "policy", "read_us", "program_us", "suspensions"),
    [
        # Data in 20, 5 × 28, to 160; then read 10 and bus 20.
        ("fast12-slc", "fifo", 190, 160, 0),
        ("fast12-slc", "rps", 190, 160, 0),
        # 61 lies in the pulse of 48 to 68; 68 + 30 = 98; then 3 + 8 + 3 × 28 = 95.
        ("fast12-slc", "pes-ips", 98, 193, 1),
        # Cancelled: 61 + 4 + 30 = 95; then 3, a verify 8, the pulse again 20 + 8, 3 × 28.
        ("fast12-slc", "pes-ipc", 95, 218, 1),
        # 61 lies in the verify of 60 to 84; 84 + 65 = 149; then 3 + 14 × 44 = 619.
        ("fast12-mlc", "pes-ips", 149, 768, 1),
        # Cancelled: 61 + 4 + 65 = 130; then 3, the verify again 24, 14 × 44.
        ("fast12-mlc", "pes-ipc", 130, 773, 1),
    ],
)
def test_read_during_a_program(
    device: str, policy: str, read_us: int, program_us: int, suspensions: int
) -> None:
    program, read = rp.rig(device, PROGRAM_THEN_READ, policy=policy)
    assert (read.completion_ns, program.completion_ns) == (read_us * 1000, program_us * 1000)
    assert (program.suspensions, read.suspensions) == (suspensions, 0)
    assert (program.op, read.op, read.arrival_ns) == ("program", "read", 61_000)


def test_erase_suspended_twice() -> None:
    """1508 undisturbed + 2 × (reset 4 + read 30 + set-up 4) = 1584; reads 4 + 30 after arrival."""
    commands = [
        {"arrival_ns": 0, "op": "erase", "plane": 0, "block": 0, "page": 0},
        {"arrival_ns": 500_000, "op": "read", "plane": 0, "block": 1, "page": 0},
        {"arrival_ns": 900_000, "op": "read", "plane": 0, "block": 1, "page": 1},
    ]
    erase, first, second = rp.rig("fast12-slc", commands, policy="pes-ipc")
    assert (first.completion_ns, second.completion_ns) == (534_000, 934_000)
    assert (erase.completion_ns, erase.suspensions) == (1_584_000, 2)


def test_columns_come_back_as_rows_do() -> None:
    names = ("arrival_ns", "op", "plane", "block", "page")
    columns = zip(names, map(np.array, zip(*PROGRAM_THEN_READ, strict=True)), strict=True)
    found = rig_columns("fast12-slc", dict(columns), policy="pes-ipc")
    # As above: cancelled at 61, which the read leaves at 95; the program is complete at 218.
    assert {name: column.tolist() for name, column in found.items()} == {
        "arrival_ns": [0, 61_000],
        "op": ["program", "read"],
        "plane": [0, 0],
        "block": [0, 1],
        "page": [0, 0],
        "start_ns": [0, 65_000],
        "completion_ns": [218_000, 95_000],
        "suspensions": [1, 0],
    }


def test_no_commands_have_columns_without_rows() -> None:
    commands = {name: np.empty(0, np.int64) for name in ("arrival_ns", "plane", "block", "page")}
    found = rig_columns("fast12-slc", {**commands, "op": np.empty(0, "U7")})
    assert set(map(len, found.values())) == {0} and found["start_ns"].dtype == np.int64


def test_columns_that_do_not_fit_are_refused() -> None:
    commands = {"arrival_ns": np.arange(2), "op": np.array(["read"]), "plane": np.zeros(1, int)}
    with pytest.raises(rp.UserError, match=r"^commands: there is no column block, page$"):
        rig_columns("fast12-slc", commands)
    whole = {**commands, "block": np.zeros(1, int), "page": np.zeros(1, int)}
    said = "must be of one length, and have rows: arrival_ns 2, op 1, plane 1, block 1, page 1"
    with pytest.raises(rp.UserError, match=said):
        rig_columns("fast12-slc", whole)


def test_arrow_table_is_taken_as_commands() -> None:
    columns = zip(*PROGRAM_THEN_READ, strict=True)
    names = ("arrival_ns", "op", "plane", "block", "page")
    table = pa.table(dict(zip(names, map(list, columns), strict=True)))
    assert rp.rig("fast12-slc", table) == rp.rig("fast12-slc", PROGRAM_THEN_READ)


def test_command_line_writes_the_rows_in_order(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(
        "arrival_ns,op,plane,block,page\n0,program,0,0,0\n61000,read,0,1,0\n"
    )
    arguments = ("rig", "--device", "fast12-slc", "--commands", "c.csv", "--out", "o.csv")
    done = reprieve(*arguments, "--set", "policy=pes-ips")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "wrote o.csv, 2 commands\n"
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert lines[0] == "arrival_ns,op,plane,block,page,start_ns,completion_ns,suspensions"
    assert lines[1:] == ["0,program,0,0,0,0,193000,1", "61000,read,0,1,0,68000,98000,0"]


@pytest.mark.parametrize(
    ("commands", "sentence"),
    [
        (
            [(0, "read", 0, 0)],
            "commands: row 1: (0, 'read', 0, 0) must have arrival_ns, op, plane, block, page",
        ),
        (
            [{"op": "read"}],
            "commands: row 1: {'op': 'read'} must have arrival_ns, op, plane, block, page",
        ),
        (
            [(0, "read", 0, 0, 0), "abcde"],
            "commands: row 2: 'abcde' must have arrival_ns, op, plane, block, page",
        ),
        (
            3,
            "commands: 3 is not a list of rows ('arrival_ns', 'op', 'plane', 'block', 'page')",
        ),
    ],
)
def test_row_of_another_form_is_named(commands: object, sentence: str) -> None:
    with pytest.raises(rp.UserError) as caught:
        rp.rig("fast12-slc", commands)
    assert str(caught.value) == sentence


def test_arrival_beyond_simulated_time_is_refused() -> None:
    rp.rig("fast12-slc", [((1 << 62) - 1, "read", 0, 0, 0)])
    with pytest.raises(rp.UserError, match=r"arrival_ns = .4611686018427387904. is not a whole"):
        rp.rig("fast12-slc", [(1 << 62, "read", 0, 0, 0)])


def test_power_of_the_rig_is_steps() -> None:
    rows, steps = rp.rig_power("fast12-mlc", [(0, "read", 0, 1, 0)], part="mlc-fast12")
    assert rows == rp.rig("fast12-mlc", [(0, "read", 0, 1, 0)])
    # A read alone: the array works from 0 on for 25 µs, and the channel after it for 40 µs.
    times_ns = [step.time_ns for step in steps]
    assert times_ns == sorted(set(times_ns))
    assert {0, 25_000, 65_000} <= set(times_ns)
    assert steps[0].power_core_mw > steps[-1].power_core_mw
    (io,) = [step for step in steps if step.time_ns == 25_000]
    assert io.power_io_mw > steps[0].power_io_mw
