"""Files that a run left and somebody changed: read by type, or refused in one sentence."""

import json
import math
import os
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve import UserError, tables
from reprieve.calibration.evaluate import Evaluator
from reprieve.calibration.objective import Weights
from reprieve.experiments.plan import read_plan
from reprieve.experiments.store import Store
from reprieve.experiments.work import Row, packed
from reprieve.explanation import Explanation
from reprieve.foreign import JsonValue, read_json
from reprieve.registries import device
from reprieve.request_log import CAUSES
from reprieve.scenario import toml_text

from .drive import SMALL
from .mutations import mutated

MUTATIONS = math.ceil(1_500 * float(os.environ.get("REPRIEVE_CASES", "1")))


def tried(
    path: Path, original: Any, write: Callable[[Any], object], read: Callable[[], Any]
) -> None:
    """Read a file under mutations: each is read, or refused in a sentence that names it."""
    draw = random.Random(20_261_128)
    write(original)
    read()
    refused = 0
    for _ in range(MUTATIONS):
        write(mutated(original, draw))
        try:
            read()
        except UserError as error:
            refused += 1
            # A sweep names the scenario that its file names.
            assert str(error).startswith(str(path.parent)), error
            assert "\n" not in str(error)
    assert refused > MUTATIONS // 20


@pytest.fixture(scope="module")
def result() -> rp.Result:
    """Run a small drive, with its log."""
    return rp.run(tomllib.loads(SMALL), requests=True)


def test_a_summary_is_read_by_type(result: rp.Result, tmp_path: Path) -> None:
    """Sentences of `explain` are of numbers, or name the one that is none."""
    path = tmp_path / "summary.json"
    (tmp_path / "requests.parquet").touch()
    (tmp_path / "scenario.toml").write_text(result.scenario)
    original = {"blame": result.summary["blame"], "schema": 2}

    def read() -> None:
        found = Explanation.read(tmp_path)
        for kind in found.kinds():
            found.sentences(kind)

    tried(path, original, lambda content: path.write_text(json.dumps(content)), read)


def test_a_finished_run_is_read_by_type(result: rp.Result) -> None:
    """A stored run that somebody has written anew, its checksum right."""
    document = json.loads(packed(result))
    # Of the summary only what is read; sections of other names stay as they are.
    original = document | {
        "batches": {},
        "machine": {},
        "summary": {"requests": document["summary"]["requests"]},
    }
    store = Store()

    def write(content: Any) -> None:
        store.append(Row("ab12", json.dumps(content)))

    tried(Path("memory/run"), original, write, lambda: store.read("ab12").latencies())


def test_evaluations_are_read_by_type() -> None:
    """A calibration goes on from rows of predictions."""
    figures = {"count": 10, "iops": 5.0, "percentile_ns": {"50.0": 1.0, "99.0": 2.0}}
    original = [[0, "read", figures], [1, "write", figures]]
    evaluator = Evaluator({"device": "tlc-nvme"}, Weights(), None, 1)

    def write(content: Any) -> None:
        evaluator._store.append(Row("ab12", json.dumps(content)))

    tried(Path("memory/run"), original, write, lambda: evaluator._read("ab12") and None)
    evaluator.close()


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "middle", "other"])
def test_tables_that_are_none_are_named(tmp_path: Path, damage: str) -> None:
    """The data set of a sweep with one file that somebody replaced, or that the disk did."""
    load = {"generator": "mixed", "requests": 200, "queue_depth": 1}
    scenario = {"device": "fast12-slc", "workload": load}
    points = [{"workload.read_fraction": 0.5}]
    found = rp.sweep({"scenario": scenario, "design": "list", "points": points}, out=tmp_path)
    path = tmp_path / "runs.parquet"
    whole = path.read_bytes()
    other = tables.of_rows([{"a": 1}])
    if damage == "other":
        with path.open("wb") as file:
            tables.write(other, file)
    else:
        middle = whole[:300] + bytes(200) + whole[500:]
        texts = {"empty": b"", "text": b"point,run\n1,2\n", "cut": whole[:-40], "middle": middle}
        path.write_bytes(texts[damage])
    asked: list[Callable[[], object]] = [lambda: found.query("SELECT * FROM runs")]
    if damage != "other":
        asked.append(lambda: found.runs)
    for ask in asked:
        with pytest.raises(UserError) as error:
            ask()
        # DuckDB does not say in which file it found data that are none.
        named = (str(path), "query: TProtocolException") if damage == "middle" else (str(path),)
        assert any(name in str(error.value) for name in named)
        assert "\n" not in str(error.value)


def test_a_log_of_other_columns_is_refused(result: rp.Result, tmp_path: Path) -> None:
    """The slowest requests are in the log, with the columns of one."""
    (tmp_path / "summary.json").write_text(json.dumps({"blame": result.summary["blame"]}))
    (tmp_path / "scenario.toml").write_text(result.scenario)
    path = tmp_path / "requests.parquet"
    for rows, sentence in (
        ([{"a": 1}], ": has no column id"),
        ([dict.fromkeys(("id", "die", "arrival_ns", "completion_ns", *CAUSES), 1)], "no column op"),
    ):
        with path.open("wb") as file:
            tables.write(tables.of_rows(rows), file)
        with pytest.raises(UserError) as error:
            Explanation.read(tmp_path).slowest("read", 3)
        assert str(error.value).startswith(str(path)) and sentence in str(error.value)


def test_files_written_by_hand_are_read_by_type(tmp_path: Path) -> None:
    """Devices and sweeps: values of TOML that no program wrote."""
    path = tmp_path / "mine.toml"

    def write(content: Any) -> None:
        try:
            path.write_text(toml_text(content))
        except (UserError, TypeError, ValueError, AttributeError):
            # TOML has no null and no number of that size.
            path.write_text("")

    drive = tomllib.loads(device("fast12-mlc"))
    load = {"generator": "mixed", "requests": 10, "read_fraction": 1.0, "queue_depth": 1}

    def of_device() -> None:
        try:
            rp.Scenario.from_file(scenario).resolve()
        except UserError as error:
            raise UserError(f"{path}: {error}") from None

    scenario = tmp_path / "scenario.toml"
    scenario.write_text(toml_text({"device": str(path), "workload": load}))
    tried(path, drive, write, of_device)
    sweep = {
        "design": "grid",
        "scenario": {"device": "fast12-mlc", "workload": load},
        "axes": {"workload.queue_depth": [1, 2, 4]},
        "set": {"seed": 3},
    }
    tried(path, sweep, write, lambda: read_plan(path))


def test_values_name_what_would_be_right(tmp_path: Path) -> None:
    """Each kind of value, missing and wrong."""
    text = '{"a": {"n": 1.5, "w": 3, "t": "x", "l": [1], "z": null, "huge": 1e400}, "d": 1, "d": 2}'
    path = tmp_path / "x.json"
    path.write_text(f"\ufeff{text}\n", encoding="utf-8")
    found = read_json(path, "a table")["a"]
    assert (found["n"].number(), found["w"].whole(), found["t"].text()) == (1.5, 3, "x")
    wrong: list[tuple[Callable[[], object], str]] = [
        (found["none"].text, "a.none is missing; must be a text"),
        (found["z"].number, "a.z = null: must be a finite number"),
        (lambda: found["n"].whole(2), "a.n = 1.5: must be a whole number, at least 2"),
        (lambda: found["n"].number(above=2), "a.n = 1.5: must be a finite number above 2"),
        (found["huge"].number, "a.huge = Infinity: must be a finite number"),
        (found["l"].table, "a.l = [1]: must be a JSON object"),
        (found["l"].items()[0].text, "a.l[0] = 1: must be a text"),
        (lambda: found["t"]["x"], 'a.t = "x": must be a JSON object'),
        (lambda: read_json(path, "a table")["d"], "d is there twice; must be there once"),
    ]
    for read, sentence in wrong:
        with pytest.raises(UserError) as error:
            read()
        assert str(error.value) == f"{path}: {sentence}"
    for raw, sentence in (
        (b"", ": is empty; must be a table"),
        (b'{"a": 1', ":1: is no whole JSON: Expecting ',' delimiter; the file has been cut off"),
        (b'{"a": nan}\n', ":1: is no whole JSON: Expecting value"),
        (b"\xff\xfe{\x00", ": is no text in UTF-8; must be a table"),
        (b"{}\n{}", ":1: has more behind its JSON; must be a table"),
        (b"[" * 100_000, ": is nested too deeply to be read"),
        (b"1" * 5_000, ":1: is no whole JSON: a number of too many digits"),
    ):
        path.write_bytes(raw)
        with pytest.raises(UserError) as error:
            read_json(path, "a table")
        assert str(error.value) == f"{path}{sentence}"
    assert JsonValue("here", 10**5000).fault("small").args == (
        "here: a number of too many digits: must be small",
    )
