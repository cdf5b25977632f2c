"""Long tests come first, in every process."""

from __future__ import annotations

import pytest

from .order import dealt


@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        # C takes longest, then E, then A.
        (1, "CEABDFG"),
        # Seven are cut into three and four.
        (2, "CABEDFG"),
        # Two, two and three.
        (3, "CBEDAFG"),
    ],
)
def test_each_process_begins_with_its_share(processes: int, expected: str) -> None:
    seconds = {"A": 10, "C": 99, "E": 30}
    tests = list("ABCDEFG")
    found = dealt(tests, [seconds.get(name, 0) for name in tests], processes)
    assert "".join(found) == expected


def test_order_stays_where_nothing_is_long() -> None:
    assert dealt("abc", [0, 0, 0], 2) == list("abc")


def test_no_test_is_lost_where_all_are_long() -> None:
    assert sorted(dealt(range(10), [10 - each for each in range(10)], 4)) == list(range(10))
