"""`make same`: what a hash sees, what a comparison says, and what a renewal writes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from same.__main__ import main
from same.cases import FAMILIES, Case, values_of
from same.record import is_meant
from same.values import digest, of_requests, of_summary, rounded

from reprieve.scenario import Source

LITTLE = (
    'device = "fast12-slc"\n[geometry]\nblocks_per_plane = 32\npages_per_block = 16\n'
    '[workload]\ngenerator = "mixed"\nrequests = 200\nread_fraction = 0.5\nqueue_depth = 4\n'
)

Results = dict[str, dict[str, Any]]


def same(path: Path, results: Results, *words: str) -> int:
    """Run the tool on cases that give these values."""

    def case(name: str, values: Mapping[str, Any]) -> Case:
        return Case(name, lambda _watch: values)

    def family(word: str) -> list[Case]:
        return [case(name, own) for name, own in results.items() if name.startswith(f"{word}/")]

    families = {"example": lambda: family("example"), "pair": lambda: family("pair")}
    return main(words, families, path)


@pytest.fixture
def results() -> Results:
    return {
        "example/one": {"summary": {"mean": 1.5}, "requests": [1, 2]},
        "example/one-more": {"summary": {"mean": 2.5}},
        "pair/a+b": {"refusal": "no"},
    }


def hashes(values: Mapping[str, Any]) -> dict[str, str]:
    return {kind: digest(value) for kind, value in values.items()}


def test_a_hash_sees_neither_time_nor_place_but_every_request() -> None:
    def run(path: str, *sets: str) -> dict[str, str]:
        return hashes(values_of(Source(LITTLE, path, sets), lambda _share, _done: None, 1))

    once = run("here.toml")
    assert run("there/else.toml") == once
    assert set(once) == {"summary", "requests", "series"}
    other = run("here.toml", "timing.t_read_us=25.001")
    assert all(other[kind] != once[kind] for kind in once)


def test_the_section_on_the_run_itself_is_left_out() -> None:
    summary = {"schema": 2, "run": {"wall_s": 1.0, "version": "1", "peak_rss_bytes": 7}}
    assert of_summary(summary) == {"schema": 2}


def test_a_hash_is_of_all_digits_and_of_no_order_of_keys() -> None:
    assert digest({"a": 1, "b": 0.1}) == digest({"b": 0.1, "a": 1})
    assert digest(0.1) != digest(0.1 + 2**-56)
    # SHA-256 of the two bytes {}, as `printf '{}' | sha256sum` has it.
    assert digest({}) == "44136fa355b3678a"


def test_a_column_that_is_not_in_use_changes_no_hash() -> None:
    before = pa.table({"id": [0, 1], "bytes": [512, 512]})
    with_zeros = before.append_column("new_ns", pa.array([0, 0]))
    with_more = before.append_column("new_ns", pa.array([0, 1]))
    assert of_requests(with_zeros) == of_requests(before)
    assert of_requests(with_more) != of_requests(before)


def test_numbers_of_studies_are_kept_to_twelve_digits() -> None:
    assert rounded({"a": [0.1234567890123, 3, "x", None, True]}) == {
        "a": [0.123456789012, 3, "x", None, True]
    }


def test_what_is_recorded_is_found_again(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hashes.json"
    assert same(path, results, "--record") == 0
    assert list(json.loads(path.read_text(encoding="utf-8"))) == [
        "example/one-more/summary",
        "example/one/requests",
        "example/one/summary",
        "pair/a+b/refusal",
    ]
    assert same(path, results) == 0
    assert "all 4 results of 3 cases are as recorded" in capsys.readouterr().out


def test_a_changed_number_is_named(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hashes.json"
    same(path, results, "--record")
    results["example/one"]["requests"] = [1, 3]
    results["example/new"] = {"summary": 0}
    del results["pair/a+b"]
    capsys.readouterr()
    assert same(path, results) == 1
    assert capsys.readouterr().out.splitlines()[:3] == [
        "example/new/summary is not recorded: make same RECORD=1 ONLY='example/new'",
        "example/one/requests differs",
        "pair/a+b/refusal is recorded, and no run gives it any more",
    ]
    # What was not asked for is not missed.
    assert same(path, results, "--only", "example/one-more") == 0


def test_a_renewal_of_some_leaves_the_others(results: Results, tmp_path: Path) -> None:
    path = tmp_path / "hashes.json"
    same(path, results, "--record")
    before = json.loads(path.read_text(encoding="utf-8"))
    changed: Results = {
        "example/one": {"summary": {"mean": 1.6}},
        "example/one-more": {"summary": {"mean": 2.6}},
        "pair/a+b": {"refusal": "never"},
    }
    assert same(path, changed, "--record", "--only", "example/one-*") == 0
    after = json.loads(path.read_text(encoding="utf-8"))
    assert {name for name in before if after[name] != before[name]} == {"example/one-more/summary"}
    # A result that there is no more goes, if its case is among those that are renewed.
    assert same(path, changed, "--record", "--only", "example") == 0
    after = json.loads(path.read_text(encoding="utf-8"))
    assert set(before) - set(after) == {"example/one/requests"}
    assert after["pair/a+b/refusal"] == before["pair/a+b/refusal"]


def test_mistakes_are_one_clear_sentence(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hashes.json"
    assert same(path, results) == 2
    said = capsys.readouterr().err
    assert said == (
        f"make same: {path}: cannot read the recorded hashes: No such file or directory; make "
        "same RECORD=1 records them\n"
    )
    assert same(path, results, "--record", "--only", "exmaple") == 2
    said = capsys.readouterr().err
    assert said == (
        'make same: ONLY="exmaple" is the beginning of no case; they are example/…, pair/…\n'
    )
    assert not path.exists()
    path.write_text("{", encoding="utf-8")
    assert same(path, results) == 2
    assert "is no JSON" in capsys.readouterr().err


def test_results_are_written_where_they_are_asked_for(results: Results, tmp_path: Path) -> None:
    same(tmp_path / "hashes.json", results, "--record", "--out", str(tmp_path / "out"))
    text = (tmp_path / "out/example/one/requests.json").read_text(encoding="utf-8")
    assert json.loads(text) == [1, 2]


@pytest.mark.parametrize(
    ("case", "only", "meant"),
    [
        ("example/limits", "", True),
        ("example/limits", "exam", True),
        ("example/limits", "example/limits/summary", True),
        ("pair/budget+power", "pair/*power", True),
        ("example/limits", "golden", False),
        ("example/limits", "example/limit/summary", False),
    ],
)
def test_cases_are_named_by_how_they_begin(case: str, only: str, meant: bool) -> None:
    assert is_meant(case, only) == meant


def test_every_family_is_recorded() -> None:
    recorded = json.loads(
        (Path(__file__).resolve().parents[1] / "same/hashes.json").read_text(encoding="utf-8")
    )
    assert {name.partition("/")[0] for name in recorded} == set(FAMILIES)
