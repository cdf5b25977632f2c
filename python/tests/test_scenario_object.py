"""Scenarios whose keys are attributes: what they write, what they read, and their types."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
import tomllib
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reprieve as rp
from reprieve.keys import SECTIONS, Top
from reprieve.scenario import Source
from reprieve.sections import schema

from .drive import SMALL


def test_what_is_set_is_the_file_of_its_form() -> None:
    scenario = rp.Scenario(device="fast12-mlc", seed=3, geometry={"channels": 2})
    scenario.timing.t_read_us = 50
    scenario.suspension.program = "ipc"
    scenario.suspension.host_read_suspends = ["program"]
    scenario.flow["a b"].requests = np.int64(7)  # type: ignore[assignment]
    scenario.workload.trace = str(Path("x.gz"))
    written = {
        "device": "fast12-mlc",
        "seed": 3,
        "geometry": {"channels": 2},
        "timing": {"t_read_us": 50},
        "suspension": {"program": "ipc", "host_read_suspends": ["program"]},
        "flow": {"a b": {"requests": 7}},
        "workload": {"trace": "x.gz"},
    }
    assert tomllib.loads(scenario.to_toml()) == written
    assert rp.Scenario.from_toml(scenario.to_toml()) == scenario
    assert list(scenario.flow) == ["a b"]


def test_unset_keys_read_as_what_would_hold() -> None:
    drive = rp.Scenario(device="fast12-mlc")
    # The device's sheet, the schema's default, and no limit.
    given = tomllib.loads(rp.device("fast12-mlc"))
    assert drive.geometry.channels == given["geometry"]["channels"]
    assert drive.suspension.max_per_operation is None
    assert drive.seed == 1
    assert drive.device == "fast12-mlc"
    assert drive.policy is None
    drive.geometry.channels = 3
    assert drive.geometry.channels == 3
    del drive.geometry.channels
    assert drive.geometry.channels == given["geometry"]["channels"]


def test_none_makes_absent_what_the_device_gives() -> None:
    drive = rp.Scenario(device="fast12-mlc", buffer={"bytes": 4096})
    drive.scheduling.write_queue_limit = 5
    other = drive.copy()
    other.scheduling.write_queue_limit = None
    assert 'write_queue_limit = "none"' in other.to_toml()
    assert (other.scheduling.write_queue_limit, drive.scheduling.write_queue_limit) == (None, 5)
    with pytest.raises(rp.UserError, match=r"timing.t_read_us = None: must be a time in micros"):
        drive.timing.t_read_us = None  # type: ignore[assignment]


def test_run_is_that_of_the_file(small: Path) -> None:
    scenario = rp.Scenario.from_file(small)
    resolved = tomllib.loads(rp.run(small).scenario)
    assert scenario.resolve().to_dict() == {
        key: table for key, table in resolved.items() if table != {}
    }
    latencies = [
        rp.run(run, seed=9).summary["requests"]
        for run in (small, scenario, scenario.replace(seed=8), tomllib.loads(SMALL))
    ]
    assert latencies[0] == latencies[1] == latencies[2] == latencies[3]
    compared = rp.compare(scenario, {"workload.read_fraction": [0.2, 0.7]}, seed=9)
    assert compared["0.7"].summary["requests"] == latencies[0]


def test_paths_go_on_from_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(rp.device("fast12-mlc"))
    (tmp_path / "s.toml").write_text('device = "mine.toml"\n')
    assert rp.Scenario.from_file(tmp_path / "s.toml").geometry.page_bytes == 4096
    # The same text without a folder names a file that is not there.
    with pytest.raises(rp.UserError, match=r"mine\.toml"):
        _ = rp.Scenario.from_toml('device = "mine.toml"').geometry.page_bytes


def test_rig_takes_a_scenario() -> None:
    scenario = rp.Scenario(device="fast12-slc", policy="pes-ipc")
    commands = [(0, "program", 0, 0, 0), (61_000, "read", 0, 1, 0)]
    assert rp.rig(scenario, commands) == rp.rig("fast12-slc", commands, policy="pes-ipc")


def test_copies_share_nothing() -> None:
    first = rp.Scenario(device="fast12-mlc")
    others = [first.copy(), copy.copy(first).copy(), copy.deepcopy(first)]
    others += [pickle.loads(pickle.dumps(first)), first.replace(timing__t_read_us=9)]
    for other in others:
        other.timing.t_read_us = 7
    assert first.to_dict() == {"device": "fast12-mlc"}
    assert [other.timing.t_read_us for other in others] == [7] * 5


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("timing.t_raed_us", "timing.t_raed_us: unknown key; did you mean timing.t_read_us?"),
        ("timng", "timng: unknown key; did you mean timing?"),
        ("t_read_us", "t_read_us: unknown key; did you mean timing.t_read_us?"),
        ("flow.a.requsts", "flow.a.requsts: unknown key; did you mean flow.a.requests?"),
    ],
)
def test_unknown_key_is_told_the_nearest(name: str, sentence: str) -> None:
    scenario = rp.Scenario()
    *path, key = name.split(".")
    holder: object = scenario
    for step in path:
        holder = holder[step] if step == "a" else getattr(holder, step)  # type: ignore[index]
    with pytest.raises(rp.UserError) as written:
        setattr(holder, key, 1)
    with pytest.raises(rp.UserError) as read:
        getattr(holder, key)
    assert str(written.value) == str(read.value) == sentence
    assert not hasattr(holder, key)
    with pytest.raises(rp.UserError, match="unknown key"):
        scenario.replace(**{name: 1})
    with pytest.raises(rp.UserError, match="unknown key"):
        rp.Scenario.from_toml(f"{name} = 1")


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    scenario = rp.Scenario(device="fast12-mlc")
    with pytest.raises(rp.UserError, match="timing is a section, which has no value"):
        scenario.timing = 3  # type: ignore[assignment]
    with pytest.raises(rp.UserError, match="seed is not set here"):
        del scenario.seed
    with pytest.raises(rp.UserError, match=r"applies only while suspension\.program is sliced"):
        _ = scenario.suspension.slice_iterations
    with pytest.raises(rp.UserError, match=r"seed = \{1\} of type set: must be a bool"):
        scenario.seed = {1}  # type: ignore[assignment]
    with pytest.raises(rp.UserError, match=r"what would hold is open: .*fast13"):
        _ = rp.Scenario(device="fast13").seed
    (tmp_path / "s.toml").write_text("seed = ")
    with pytest.raises(rp.UserError, match=r"s\.toml:1:8: not TOML: a value is missing"):
        rp.Scenario.from_file(tmp_path / "s.toml")
    scenario.suspension.program = "ipx"  # type: ignore[assignment]
    with pytest.raises(rp.UserError, match=r'<Scenario>.*suspension.program = "ipx"'):
        rp.run(scenario, workload__generator="mixed")


def test_every_key_is_an_attribute_with_a_type_and_a_default_that_reads() -> None:
    drive = rp.Scenario(device="fast12-mlc")
    for section, keys in schema().items():
        holder = getattr(drive, section) if section else drive
        kind = SECTIONS[section] if section else Top
        assert set(keys) <= set(kind.__annotations__)
        assert set(keys) <= set(dir(holder))


@pytest.mark.seconds(18)
def test_type_checker_knows_keys_and_choices(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import reprieve as rp\n"
        's = rp.Scenario(device="fast12-mlc")\n'
        "s.timing.t_read_us = 50\n"
        's.suspension.program = "ipc"\n'
        "s.suspension.max_per_operation = None\n"
        's.flow["a"].requests = 3\n'
        "s.timing.t_raed_us = 50\n"
        's.suspension.program = "ipx"\n'
        "s.timing.t_read_us = None\n"
        "s.timng\n"
        "rp.Scenario(sead=1)\n"
    )
    # What the package is drawn and stored with is large, and not asked about here.
    large = ("altair", "jinja2", "numpy", "pyarrow", "rich", "typer")
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in large)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\n{skipped}")
    command = [sys.executable, "-m", "mypy", program.name]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout
    errors = [line for line in told.splitlines() if line.startswith(f"{program.name}:")]
    lines = [int(line.split(":")[1]) for line in errors if ": error:" in line]
    assert lines == [7, 8, 9, 10, 11], told


WRONG: list[tuple[dict[Any, Any], str]] = [
    ({"device": {"name": "fast12-mlc"}}, "device = "),
    ({"seed": [{"a": 1}]}, "seed"),
    ({"flow": {"x": 1}}, "flow.x"),
    ({"flow": 1}, "flow"),
    ({"flow": [1]}, "flow"),
    ({"flow": {3: {"requests": 1}}}, "3"),
    ({"timing": [1]}, "timing"),
    ({"timing": 1.5}, "timing"),
    ({"timing": {"t_read_us": {"a": {"b": 1}}}}, "timing.t_read_us"),
    ({"timing": {"t_read_us": b"12"}}, "timing.t_read_us"),
    ({"timing": {"t_read_us": object()}}, "timing.t_read_us"),
    ({"timing": {"t_read_us": {1, 2}}}, "timing.t_read_us"),
    ({"timing": {"t_read_us": 1j}}, "timing.t_read_us"),
    ({"timing": {7: 1}}, "7"),
    ({7: 1}, "7"),
    ({None: {"a": 1}}, "None"),
    ({"name": "\ud800"}, "name"),
    ({"geometry": {"channels": 2.5}}, "geometry.channels"),
    ({"geometry": {"channels": float("nan")}}, "geometry.channels"),
    ({"geometry": {"channels": np.array([[1, 2], [3, 4]])}}, "geometry.channels"),
    ({"geometry": {"channels": True}}, "geometry.channels"),
    ({"suspension": {"erase": np.int64(1)}}, "suspension.erase"),
]


@pytest.mark.parametrize(("wrong", "named"), WRONG)
def test_a_wrong_type_is_a_users_mistake_and_names_its_key(
    wrong: dict[Any, Any], named: str
) -> None:
    whole = tomllib.loads(SMALL)
    made = {
        **whole,
        **{
            name: {**whole.get(name, {}), **value}
            if isinstance(value, dict) and isinstance(whole.get(name), dict)
            else value
            for name, value in wrong.items()
        },
    }
    with pytest.raises(rp.UserError, match=re.escape(named)) as caught:
        Source.of(made, {}).resolve()
    assert "\n" not in str(caught.value)
    # Python itself refuses a name of a call that is no string.
    if all(isinstance(name, str) for name in wrong):
        with pytest.raises(rp.UserError, match=re.escape(named)):
            rp.Scenario(**made).resolve()


def test_tables_of_a_file_that_are_keys_and_the_reverse_are_refused() -> None:
    for text, named in [("[device]\nname = 'x'\n", "device = "), ("[flow]\nx = 1\n", "flow.x = 1")]:
        with pytest.raises(rp.UserError, match=f"<Scenario>: {named}"):
            rp.Scenario.from_toml(text)


def test_lists_without_end_and_what_is_no_scenario_are_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(rp.UserError, match=r"workload\.request_bytes: lists inside each other"):
        Source.of({"workload": {"request_bytes": endless}}, {})
    with pytest.raises(rp.UserError, match=r"timing\.t_read_us: lists inside"):
        rp.Scenario(timing={"t_read_us": endless})
    table: dict[str, Any] = {}
    table["inside"] = table
    with pytest.raises(rp.UserError, match="tables inside each other"):
        Source.of({"timing": table}, {})
    for nothing in (5, None, b"small.toml", ["small.toml"]):
        with pytest.raises(rp.UserError, match="a scenario is "):
            Source.of(nothing, {})  # type: ignore[arg-type]
    with pytest.raises(rp.UserError, match="seed is None"):
        Source.of({"device": "fast12-slc"}, {"seed": None})
    with pytest.raises(rp.UserError, match="null byte"):
        Source.of("a\0b", {})


def test_numbers_of_numpy_and_enumerations_are_numbers() -> None:
    class Channels(IntEnum):
        TWO = 2

    given = {"geometry": {"channels": Channels.TWO, "planes_per_die": np.int32(2)}}
    given["timing"] = {"t_read_us": np.float64(31.5)}
    sizes = np.array([[512, 1], [2048, 3]])
    whole: dict[str, Any] = {**tomllib.loads(SMALL), **given, "device": "fast12-slc"}
    whole["workload"] = {**whole["workload"], "request_bytes": sizes}
    for resolved in (Source.of(whole, {}).resolve(), rp.Scenario(**whole).resolve().to_toml()):
        made = tomllib.loads(resolved)
        assert made["geometry"]["channels"] == 2
        assert made["geometry"]["planes_per_die"] == 2
        assert made["timing"]["t_read_us"] == 31.5
        assert made["workload"]["request_bytes"] == [[512, 1], [2048, 3]]


def test_what_is_set_in_python_is_placed_there_and_in_no_line(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    said = "timing.t_read_us = -3: must be a time"
    scenario = rp.Scenario.from_file(path)
    scenario.timing.t_read_us = -3
    with pytest.raises(rp.UserError, match=re.escape(f"<small.toml>: {said}")):
        scenario.resolve()
    whole = {**tomllib.loads(SMALL), "timing": {"t_read_us": -3}}
    with pytest.raises(rp.UserError, match=f"^<dict>: {said}"):
        Source.of(whole, {}).resolve()
    with pytest.raises(rp.UserError, match=f"^<Scenario>: {said}"):
        rp.Scenario(**whole).resolve()
    # A file's own mistake has its line.
    path.write_text(f"{SMALL}\n[timing]\nt_read_us = -3\n")
    with pytest.raises(rp.UserError, match=rf"small\.toml:\d+: {said}"):
        Source.of(path, {}).resolve()


def test_a_flow_without_keys_is_a_load_all_the_same() -> None:
    """Two loads of ten requests, of which one asks for three: thirteen, also in a copy."""
    text = """
        device = "fast12-mlc"
        [workload]
        generator = "mixed"
        requests = 10
        read_fraction = 1.0
        queue_depth = 1
        [flow.a]
        [flow.b]
        requests = 3
    """
    for scenario in (rp.Scenario.from_toml(text), rp.Scenario.from_toml(text).copy()):
        assert set(scenario.to_dict()["flow"]) == {"a", "b"}
        assert rp.run(scenario).summary["requests"]["total"]["count"] == 13
