"""What pieces of work made is kept, so that a run that was killed goes on."""

from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from reprieve import UserError
from reprieve.outputs import KeptRows
from reprieve_studies.kept import Kept
from reprieve_studies.mbm.measured import Latencies, Measured

MADE = Measured(
    {
        "read": Latencies(3, 80.5, {99.0: 81.25, 99.999: None}),
        "write": Latencies(0, float("nan"), {}),
    },
    mb_per_s=12.5,
    erases=7,
    gc_waf=1.5,
    die_busy_percent=30.0,
    suspended_percent=2.0,
    joint_percent=50.0,
    anew_percent=4.5,
)


def kept(path: Path | None) -> Kept[Measured]:
    return Kept(path, Measured.row, Measured.of_row)


def test_a_piece_is_made_once_and_read_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    made = []

    def make() -> Measured:
        made.append(1)
        return MADE

    for _ in range(3):
        found = kept(path).once("one", make)
    assert len(made) == 1
    assert found.latencies["read"] == MADE.latencies["read"]
    assert isnan(found.latencies["write"].mean_us)
    assert replace(found, latencies=MADE.latencies) == MADE
    kept(path).once("another", make)
    assert len(made) == 2
    assert len(path.read_text().splitlines()) == 2


def test_the_last_line_of_a_killed_run_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for of in ("one", "two"):
        kept(path).once(of, lambda: MADE)
    whole = path.read_text()
    path.write_text(whole[:-10])
    made = []

    def make() -> Measured:
        made.append(1)
        return MADE

    again = kept(path)
    again.once("one", make)
    assert made == []
    again.once("two", make)
    assert made == [1]
    assert path.read_text() == whole


def test_a_line_that_is_no_row_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = KeptRows(path)
    assert rows.read() == []
    rows.append([1, {"a": None}])
    rows.append("two")
    assert rows.read() == [[1, {"a": None}], "two"]
    path.write_text('1\n{"a": \n3\n')
    with pytest.raises(UserError, match=r"rows\.jsonl:2: is no row of JSON, .*; take the line out"):
        rows.read()


def test_without_a_file_everything_is_made() -> None:
    made = []

    def make() -> Measured:
        made.append(1)
        return MADE

    for _ in range(2):
        kept(None).once("one", make)
    assert len(made) == 2
