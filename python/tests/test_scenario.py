"""Scenarios as Python has them, turned into TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from reprieve import UserError
from reprieve.scenario import Source, toml_text, toml_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (3, "3"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (np.int64(5), "5"),
        (np.float64(0.5), "0.5"),
        ("greedy", '"greedy"'),
        ('a "b"\n\\', '"a \\"b\\"\\n\\\\"'),
        ("\x7f", '"\\u007f"'),
        (Path("a/b.gz"), '"a/b.gz"'),
        ([[4096, 0.5], [8192, 0.5]], "[[4096, 0.5], [8192, 0.5]]"),
        (("program", "erase"), '["program", "erase"]'),
    ],
)
def test_value_in_toml(value: object, text: str) -> None:
    assert toml_value(value) == text
    tomllib.loads(f"value = {text}")


def test_none_is_no_value() -> None:
    with pytest.raises(UserError) as caught:
        toml_value(None)
    assert str(caught.value) == (
        "a scenario value is None of type NoneType; use a bool, int, float, str, path or list, "
        "and leave a key out to not set it"
    )


def test_dictionary_becomes_the_file_of_its_form() -> None:
    scenario = {
        "timing": {"t_read_us": 25, "odd key": 1},
        "device": "fast12-mlc",
        "suspension": {"host_read_suspends": []},
        "seed": 3,
    }
    assert tomllib.loads(toml_text(scenario)) == scenario


def test_overrides_take_two_underscores_for_the_dot() -> None:
    source = Source.of({"seed": 1}, {"timing__t_read_us": 50, "ftl.gc_victim": "greedy"})
    assert source.sets == ("timing.t_read_us=50", 'ftl.gc_victim="greedy"')
    assert source.with_sets(["seed=2"]).sets[-1] == "seed=2"
