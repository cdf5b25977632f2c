"""What pieces of work made is kept, so that a run that was killed goes on."""

from dataclasses import replace
from math import isnan
from pathlib import Path

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
    path = tmp_path / "runs"
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
    assert kept(path).knows("one") and kept(path).knows("another")
    assert not kept(path).knows("a third")


def test_without_a_folder_nothing_stays() -> None:
    made = []

    def make() -> Measured:
        made.append(1)
        return MADE

    for _ in range(2):
        kept(None).once("one", make)
    assert len(made) == 2
