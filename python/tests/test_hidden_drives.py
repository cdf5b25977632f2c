"""Drives whose parameters are known: what they count, and that no drive is fitted twice."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from reprieve import UserError, __version__
from reprieve.calibration import Effort, Value
from reprieve_studies import hidden_drives, papers
from reprieve_studies.hidden_drives import (
    Drive,
    again,
    answers,
    draw,
    each_drive,
    sums,
    take,
    tried,
)
from reprieve_studies.study import Settings, Study
from reprieve_studies.zns_a import page


def row(
    seed: int,
    difference: float,
    covered: bool,
    determined: bool = True,
    interval: tuple[float, float] = (96, 105),
) -> dict[str, Any]:
    """Return what a drive gave, with one parameter of a fitted 100 and one choice."""
    parameter = {
        "key": "timing.t_bus_us",
        "fitted": 100.0,
        "low": interval[0],
        "high": interval[1],
        "difference": difference,
        "covered": covered,
        "is_determined": determined,
    }
    return {
        "seed": seed,
        "chosen": {"geometry.dies": seed != 3},
        "parameters": [parameter],
        "not_shown": {"p50": [0.0, 0.05], "p99": [0.06, 0.02], "p99.9": [0.09, 0.11]},
    }


def test_counts_are_of_drives_and_of_numbers() -> None:
    """Three drives by hand: 5 % and 10 % are within; what has a wide interval need not be near."""
    rows = [
        row(1, -0.05, True),
        row(2, 0.051, False),
        row(3, 0.4, True, determined=False, interval=(50, 105)),
    ]
    assert sums(rows) == {
        "drives": 3,
        "parameters": {
            "timing.t_bus_us": {"covered": 2, "determined": 2, "identified": 2, "near": 1}
        },
        "chosen": {"geometry.dies": 2},
        "not_shown": {
            "p50": {"numbers": 6, "within": 6, "limit": 0.05, "median": 0.025, "worst": 0.05},
            "p99": {"numbers": 6, "within": 3, "limit": 0.05, "median": 0.04, "worst": 0.06},
            "p99.9": {"numbers": 6, "within": 3, "limit": 0.1, "median": 0.1, "worst": 0.11},
        },
    }
    asked: list[dict[str, Any]] = [
        {"seed": 2, "truth": True, "answer": True},
        {"seed": 3, "truth": False, "answer": None},
        {"seed": 5, "truth": False, "answer": True},
    ]
    counts = {"drives": 3, "suspend": 1, "right": 1, "open": [3], "wrong": [5]}
    assert answers(asked) == counts


def test_what_was_tried_is_counted_however_many(tmp_path: Path) -> None:
    """Drives of this version that belong to the test; nothing at all is an error."""
    with pytest.raises(UserError, match="has nothing of drives"):
        tried(tmp_path)
    fits = [{"version": __version__, **row(2, 0.01, True)}, {"version": "0.0.1", **row(3, 0, True)}]
    fits.append({"version": __version__, **row(1000, 0.01, True)})
    (tmp_path / "fit.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in fits))
    found = tried(tmp_path)
    assert (found["drives"], found["answers"], found["question"]) == (20, None, [])
    assert found["measured_again"] is None
    assert [each["seed"] for each in found["fit"]] == [2]
    assert found["fits"]["drives"] == 1
    # A record takes the place of a folder, and adds nothing twice.
    record, other = tmp_path / "record.json", tmp_path / "other"
    record.write_text(json.dumps(found))
    for _ in range(2):
        take(record, other)
        assert tried(other) == found


def test_every_second_drive_may_not_suspend() -> None:
    """Odd seeds do not where that is asked; the same seed is the same drive."""
    assert [draw(seed, True).suspends for seed in (1, 2, 3, 4)] == [False, True, False, True]
    assert all(draw(seed, False).suspends for seed in (1, 2, 3, 4))
    assert draw(7, False) == draw(7, False)
    # 4 x 8 dies of one plane write 48 KiB each in a program of 800 us: 1,966 MB a second.
    values: dict[str, Value] = {
        "geometry.dies": "4x8",
        "geometry.planes_per_die": 1,
        "program.t_total_us": 800.0,
    }
    assert Drive(1, values).bytes_per_s() == pytest.approx(32 * 49152 / 800e-6)


def test_a_drive_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own values, under another seed: near, and not the same."""
    for name in ("_EFFORT", "_PREDICTION"):
        monkeypatch.setattr(hidden_drives, name, Effort(3_000, 4 << 20, 2.0))
    errors = again(draw(2, False), 1, None)["not_shown"]
    assert {what: len(each) for what, each in errors.items()} == {"p50": 7, "p99": 7, "p99.9": 7}
    assert 0 < statistics.median(errors["p50"]) < 0.05
    assert max(errors["p99.9"]) > 0


def test_a_run_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What drives gave stays, of this version alone; so does what the unfinished one simulated."""
    tried = []

    def fit(drive: Drive, _jobs: int | None, store: Path | None) -> dict[str, Any]:
        tried.append(drive.seed)
        assert store is not None
        with store.open("a") as file:
            file.write(f"{len(tried)}\n")
        if tried == [1, 2]:
            raise KeyboardInterrupt
        return row(drive.seed, 0.0, True)

    monkeypatch.setitem(hidden_drives.KINDS, "fit", fit)
    old = {"version": "0.0.1", **row(1, 0.9, False)}
    (tmp_path / "fit.jsonl").write_text(json.dumps(old) + "\n")
    with pytest.raises(KeyboardInterrupt):
        list(each_drive([1, 2, 3], "fit", None, tmp_path))
    assert (tmp_path / "fit-2-evaluations.jsonl").read_text() == "2\n"
    found = list(each_drive([1, 2, 3], "fit", None, tmp_path))
    assert tried == [1, 2, 2, 3]
    assert [(each["seed"], each["version"]) for each in found] == [
        (seed, __version__) for seed in (1, 2, 3)
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["fit.jsonl"]


def test_a_killed_study_keeps_what_it_has_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study is told where its results go, and what it leaves there stays."""
    seen = []

    def dies(settings: Settings) -> Any:
        assert settings.directory is not None
        seen.append(settings.directory)
        (settings.directory / "evaluations.jsonl").write_text("some\n")
        raise UserError("killed")

    monkeypatch.setitem(papers.PAPERS, "zns-a", Study("A drive", frozenset(), dies))
    out = tmp_path / "deep" / "out"
    with pytest.raises(UserError, match="killed"):
        papers.reproduce_into("zns-a", out, Settings())
    assert seen == [out]
    assert [path.name for path in out.iterdir()] == ["evaluations.jsonl"]


def test_the_study_of_the_real_drive_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fit is given the file beside its results; without a place for results there is none."""
    stores = []

    def calibrate(_task: Any, store: Path | None, *_more: Any) -> Any:
        stores.append(store)
        raise UserError("far enough")

    monkeypatch.setattr(page, "calibrate", calibrate)
    for directory in (tmp_path, None):
        with pytest.raises(UserError, match="far enough"):
            page.article(Settings(directory=directory))
    assert stores == [tmp_path / "evaluations.jsonl", None]
