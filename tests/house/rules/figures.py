"""Numbers that a command prints stand on a page only as expressions."""

import re
from collections.abc import Iterator

from page_figures.pages import terms_of

from .. import tables
from ..tree import Problem, Tree

_GIVEN = re.compile(r"\{#-? Given:\n(.*?)-?#\}", re.DOTALL)
# What is no number of ours: expressions, code, targets of links, comments, names of places in a
# paper, years and dates.
_BLANKED = re.compile(
    r"\{# By hand: .*?\{# End"
    r"|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<!--.*?-->"
    r"|^(?:```|~~~).*?^(?:```|~~~)$|`[^`]*`|\]\([^)]*\)"
    r"|\b(?:Tables?|Figures?|sections?|equation|Algorithm|axiom)\s\(?\d[\d.]*\)?"
    r"(?:(?:,| and| to| or)\s\d[\d.]*\b(?!\s*%))*|\b(?:19|20)\d\d(?:-\d\d-\d\d)?\b",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[^\W\d]\w*(?:\.\d+)*|\d[\d.,]*\w*")


def numbers_are_recorded(tree: Tree) -> Iterator[Problem]:
    """Demand that pages with numbers of ours have them as expressions, and none by hand.

    The terms of a page list the numbers that it may have by hand, and their sources, as their
    first comment: `{#- Given:`, then a line `reason: numbers` for each source. What no program can
    run again stands between `{# By hand: reason #}` and `{# End #}`.
    """
    for pattern in tables.PAGES_WITH_NUMBERS:
        for page in tree.files(pattern):
            text = (tree.root / page).read_text(encoding="utf-8")
            yield from _by_hand(page, text, _given(terms_of(page, tree.root)[0]))


def _by_hand(path: str, text: str, given: set[str]) -> Iterator[Problem]:
    plain = _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    found = set()
    for match in _TOKEN.finditer(plain):
        number = match.group().rstrip(".,").replace(",", "")
        if not re.fullmatch(r"[\d.]+", number):
            continue
        found.add(number)
        if number not in given:
            line = text.count("\n", 0, match.start()) + 1
            yield Problem(path, line, f"{number}: take it from a file, or list it under `Given:`")
    for number in sorted(given - found):
        yield Problem(path, 1, f"{number}: under `Given:`, but not on the page")


def _given(text: str) -> set[str]:
    match = _GIVEN.search(text)
    lines = match.group(1).splitlines() if match else []
    words = [word for line in lines for word in line.partition(":")[2].split()]
    return {word.replace(",", "") for word in words}
