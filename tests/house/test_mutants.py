"""The mutants of the suspension rules: each has its place in the sources."""

import pytest
from mutants import ROOT, Mutant, mutants


def test_there_are_thirty_of_every_kind() -> None:
    table = mutants()
    assert len(table) >= 30
    assert len({(mutant.file, mutant.old) for mutant in table}) == len(table)
    assert {mutant.search for mutant in table} == {"reprieve-nand", "reprieve-ssd"}


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.breaks)
def test_the_place_of_a_mutant_is_there_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text()
    assert mutant.apply(text) != text


def test_a_place_that_is_gone_is_an_error() -> None:
    gone = Mutant("a law", "a file", "of old", "anew", "reprieve-nand")
    with pytest.raises(ValueError, match="is there 0 times"):
        gone.apply("nothing of it")
