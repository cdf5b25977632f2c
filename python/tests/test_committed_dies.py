"""Dies that commit several operations, by hand: examples/committed_dies.py."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).parents[2] / "examples/committed_dies.py"
TIMES_NS = {"read": 10.0, "program": 140.0, "bus": 20.0}


@pytest.fixture(scope="module")
def program() -> Any:
    """Return the example as a module."""
    spec = importlib.util.spec_from_file_location("committed_dies", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("policy", "committed", "expected"),
    [
        # A read takes 30, a program 160. In order of arrival, whatever they are:
        ("FIFO", 1, {0: 160, 1: 320, 2: 480, 3: 510}),
        # The read comes while the first program runs, and is next.
        ("RPS", 1, {0: 160, 3: 190, 1: 350, 2: 510}),
        # The first is taken alone, as nothing waits; then the read and one program.
        ("RPS", 2, {0: 160, 3: 190, 1: 350, 2: 510}),
        ("PE0", 1, {0: 20, 1: 40, 2: 60, 3: 130}),
    ],
)
def test_a_read_among_programs(
    program: Any, policy: str, committed: int, expected: dict[int, float]
) -> None:
    programs = [(0.0, False, 0), (1.0, False, 1), (2.0, False, 2)]
    done = dict(program.ends([*programs, (100.0, True, 3)], policy, committed, TIMES_NS))
    assert done == expected


def test_a_read_waits_for_all_that_was_committed_before_it(program: Any) -> None:
    # Two programs wait at 160, and are committed together; the read of 200 comes after both.
    operations = [(0.0, False, 0), (1.0, False, 1), (2.0, False, 2), (200.0, True, 3)]
    assert dict(program.ends(operations, "RPS", 2, TIMES_NS))[3] == 480 + 30
    assert dict(program.ends(operations, "RPS", 1, TIMES_NS))[3] == 320 + 30


def test_pages_lie_on_the_dies_of_their_numbers(program: Any) -> None:
    one = program.Request(0.0, True, 4095, 2)
    assert list(program.pages(one, "SLC")) == [1, 2]
    assert list(program.pages(one, "MLC")) == [0, 1]
    # One page of a read on an idle die: sensing, transfer, and 512 bytes over the link.
    load = program.Load("MLC", [program.Request(0.0, True, 0, 512)], 0.0,
                        {"read": 25e3, "program": 660e3, "bus": 40e3})  # fmt: skip
    assert program.read_mean_ns(load, "RPS", 1, 1.0) == 65e3 + 256
