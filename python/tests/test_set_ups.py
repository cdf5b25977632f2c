"""Outputs are equal to the byte under every set-up that the page of results lists."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .drive import SMALL

PAGE = Path(__file__).parents[2] / "docs/guide/results.md"
STEADY = '[ftl]\nprecondition = "steady"\n[suspension]\nprogram = "ipc"\n'
SWEEP = """
scenario = "small.toml"
design = "random"
samples = 6
seeds = 2
[axes]
"workload.rate_iops" = { from = 100, to = 4000 }
"timing.t_read_us" = { from = 10, to = 90 }
"""
COMMANDS = (
    "run small.toml --requests --timeline --report --save-state o/run/state --out o/run",
    "compare small.toml --axis policy=fifo,pes-ipc --out o/compare",
    "sweep s.toml --out o/sweep",
    "trace convert t.csv o/t.csv.gz --to msr",
)
OF_CLOCKS = ("run.json", "measured.parquet", ".dataset", ".lock")
"""Real time and memory, and the folder of finished runs, whose names are times."""


@dataclass(frozen=True)
class SetUp:
    """The environment of the commands."""

    row: str
    """In the table of the page."""
    variables: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[str] = ()
    folder: str = "a"


WITHOUT = "AVX512F,AVX512VL,AVX512BW,AVX512DQ,AVX2,FMA,BMI1,BMI2,LZCNT,MOVBE,SSE4_2,ERMS"
SET_UPS = (
    SetUp("cores", before=("taskset", "--cpu-list", "0")),
    SetUp("cores", {"OPENBLAS_NUM_THREADS": "3", "REPRIEVE_STATES": ""}),
    SetUp("language and letters", {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}),
    SetUp("language and letters", {"LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE.UTF-8"}),
    SetUp("time zone", {"TZ": "Asia/Kathmandu"}),
    SetUp("seed of Python's hashes", {"PYTHONHASHSEED": "1"}),
    SetUp("seed of Python's hashes", {"PYTHONHASHSEED": "4294967295"}),
    SetUp("folder", folder="a folder/µ"),
    SetUp(
        "instructions of the processor",
        {
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps="
            + ",".join(f"-{one}" for one in WITHOUT.split(",")),
            "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
            "OPENBLAS_CORETYPE": "Nehalem",
            "ARROW_USER_SIMD_LEVEL": "NONE",
        },
    ),
)


def outputs(program: str, folder: Path, one: SetUp) -> dict[str, bytes]:
    """Run the commands in a set-up; return all that they write but what clocks decide."""
    (folder / "o").mkdir(parents=True)
    (folder / "small.toml").write_text(SMALL + STEADY)
    (folder / "s.toml").write_text(SWEEP)
    (folder / "t.csv").write_text("12816637200,hm,0,Read,4096,4096,1\n" * 9)
    variables = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", "REPRIEVE_STATES": "off"}
    variables |= {"XDG_CACHE_HOME": str(folder / "cache"), **one.variables}
    for command in COMMANDS:
        done = subprocess.run(
            [*one.before, program, *command.split()],
            cwd=folder, env=os.environ | variables, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "o").rglob("*"))
        if path.is_file() and path.name not in OF_CLOCKS and path.parent.name != "segments"
    }


@pytest.fixture(scope="module")
def plain(program: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    found = outputs(program, tmp_path_factory.mktemp("plain") / "a", SetUp("plain"))
    assert {".html", ".json", ".parquet", ".toml", ".gz"} <= {Path(name).suffix for name in found}
    return found


@pytest.mark.seconds(10)
@pytest.mark.parametrize("one", SET_UPS, ids=lambda one: one.row)
def test_outputs_are_equal_to_the_byte(
    program: str, plain: dict[str, bytes], tmp_path: Path, one: SetUp
) -> None:
    if one.before and shutil.which(one.before[0]) is None:
        pytest.skip(f"NOT TESTED: {one.before[0]} is not installed")
    found = outputs(program, tmp_path / one.folder, one)
    assert [name for name in plain if found.get(name) != plain[name]] == []
    assert found.keys() == plain.keys()


def test_the_page_lists_the_set_ups() -> None:
    """That of ARM is tests/arm, and that of browsers in test_explorer."""
    text = PAGE.read_text(encoding="utf-8")
    table = text[text.index("| set-up |") :].split("\n\n")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert rows == [*dict.fromkeys(one.row for one in SET_UPS), "architecture", "browser"]
