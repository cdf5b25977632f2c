"""What users install with us comes under licences that allow it."""

import pytest

from .licences import allowed, may_ship, packages


def test_licences_of_dependencies_are_allowed() -> None:
    found = packages()
    assert {"serde", "numpy", "typer", "altair"} <= {each.name for each in found}
    assert [each for each in found if not may_ship(each)] == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(MIT OR Apache-2.0) AND (GPL-2.0-only OR LGPL-2.1-only)", False),
        ("MIT OR GPL-2.0-only AND LGPL-2.1-only", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("", False),
        ("MIT MIT", False),
        ("(MIT", False),
    ],
)
def test_expressions_are_read_as_spdx_has_them(expression: str, expected: bool) -> None:
    assert allowed(expression) is expected
