"""The mutants: each has its place in the sources."""

import pytest
from mutants import ROOT, TABLES, Mutant, mutants


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_thirty(table: str) -> None:
    rows = mutants(table)
    assert len(rows) >= 30
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in rows}) == len(rows)


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.breaks)
def test_the_place_of_a_mutant_is_there_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text()
    assert mutant.apply(text) != text


def test_a_place_that_is_gone_is_an_error() -> None:
    gone = Mutant("a law", "a file", "of old", "anew", ())
    with pytest.raises(ValueError, match="is there 0 times"):
        gone.apply("nothing of it")
