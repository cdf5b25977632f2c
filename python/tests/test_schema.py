"""`reprieve schema`: JSON Schema that takes what the program takes, and refuses what it refuses."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import reprieve as rp
from reprieve.sections import schema

from .drive import Reprieve

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("examples", "devices", "parts", "loads")
    for path in ROOT.glob(f"{folder}/*.toml")
)


@pytest.fixture(scope="module", name="validator")
def _validator() -> jsonschema.Draft202012Validator:
    from reprieve import _native

    found = json.loads(_native.json_schema())
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def test_command_prints_it(reprieve: Reprieve) -> None:
    printed = json.loads(reprieve("schema").stdout)
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for section, keys in schema().items():
        table = printed
        for step in section.split(".") if section else ():
            table = table["properties"][step]
        assert table["additionalProperties"] is False
        assert set(keys) <= set(table["properties"])
        for name in keys:
            assert table["properties"][name]["description"].startswith(keys[name]["doc"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_file_of_ours_is_valid(
    validator: jsonschema.Draft202012Validator, path: Path
) -> None:
    table = tomllib.loads(path.read_text())
    # A sweep holds a scenario and more.
    if "scenario" not in table and "sweep" not in table:
        validator.validate(table)


def test_a_policy_of_python_has_a_place_and_a_name(
    validator: jsonschema.Draft202012Validator,
) -> None:
    for section in ("suspension", "scheduling"):
        for policy in ("mine.py:Mine", "a/b.py:Mine", "package.module:Outer.Inner"):
            validator.validate({section: {"policy": policy}})
        for policy in ("mine.py", "mine.py:", ":Mine", "mine.py:a b"):
            assert not validator.is_valid({section: {"policy": policy}}), policy
    assert not validator.is_valid({"ftl": {"gc_victim": "mine.py:Mine"}})


def test_resolved_scenarios_are_valid(validator: jsonschema.Draft202012Validator) -> None:
    for device in rp.devices():
        for load in rp.loads():
            # Loads write anywhere, which a drive with zones refuses.
            whole: dict[str, Any] = {"zones": {"model": "none"}} if device.name == "zn540" else {}
            scenario = rp.Scenario(device=device.name, load=load.name, **whole)
            validator.validate(scenario.resolve().to_dict())


@pytest.mark.parametrize(
    "given",
    [
        {"policy": "PES-IPC"},
        {"suspension": {"max_per_operation": "none", "host_read_suspends": []}},
        {"workload": {"request_bytes": 4096}},
        {"workload": {"request_bytes": [[4096, 8.0], [16384, 2]], "devices": [0, 3]}},
        {"flow": {"a": {"requests": 3}, "b-2": {}}},
        {"timing": {"program_iterations_weights": [[24, 1], [25, 3]], "t_read_us": 50.5}},
    ],
)
def test_what_the_program_takes_is_valid(
    validator: jsonschema.Draft202012Validator, given: dict[str, Any]
) -> None:
    validator.validate(given)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"sead": 1}, []),
        ({"timing": {"t_raed_us": 50}}, ["timing"]),
        ({"timng": {}}, []),
        ({"flow": {"a": {"reqests": 1}}}, ["flow", "a"]),
        ({"flow": {"a b": {}}}, ["flow"]),
        ({"timing": {"t_read_us": "50"}}, ["timing", "t_read_us"]),
        ({"timing": 3}, ["timing"]),
        ({"suspension": {"erase": 1}}, ["suspension", "erase"]),
        ({"geometry": {"channels": 2.5}}, ["geometry", "channels"]),
        ({"geometry": {"channels": 0}}, ["geometry", "channels"]),
        ({"geometry": {"page_bytes": 4095}}, ["geometry", "page_bytes"]),
        ({"timing": {"t_read_us": -1}}, ["timing", "t_read_us"]),
        ({"ftl": {"over_provisioning": 1.0}}, ["ftl", "over_provisioning"]),
        ({"suspension": {"program": "ipx"}}, ["suspension", "program"]),
        ({"scheduling": {"policy": "rsp"}}, ["scheduling", "policy"]),
        ({"suspension": {"max_per_program": "off"}}, ["suspension", "max_per_program"]),
        ({"workload": {"request_bytes": [[4096, 0]]}}, ["workload", "request_bytes"]),
    ],
)
def test_what_the_program_refuses_is_not(
    validator: jsonschema.Draft202012Validator, given: dict[str, Any], where: list[str]
) -> None:
    error = jsonschema.exceptions.best_match(validator.iter_errors(given))
    assert error is not None
    assert list(error.absolute_path)[: len(where)] == where
