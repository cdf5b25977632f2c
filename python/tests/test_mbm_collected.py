"""What collection moves in commands of two planes: counted by hand, and as timelines have it."""

from __future__ import annotations

from collections import Counter

import pytest
from page_figures import collected

from reprieve_studies.mbm import limits

MOVE, ERASE = "gc program", "erase"


def test_moved_pages_are_counted_by_how_they_go() -> None:
    # Two planes: one page by itself until they are in step, two commands of both, and the rest of
    # the fuller victim. Then three pages that one plane alone collects; then what has no end yet.
    both = [(MOVE, 1), (MOVE, 2), (MOVE, 2), (MOVE, 1), (MOVE, 1), (ERASE, 2)]
    alone = [(MOVE, 1)] * 3 + [(ERASE, 1)]
    left = [(MOVE, 2), (MOVE, 1)]
    found = collected.kinds([*both, *alone, *left])
    assert found == {"in pairs": 4, "out of step": 3, "alone": 3}
    assert collected.shares(found) == pytest.approx({
        "pages": 10,
        "in_pairs_percent": 40,
        "out_of_step_percent": 30,
        "alone_percent": 30,
    })  # fmt: skip


def test_nothing_is_collected_alone_where_nothing_is_collected() -> None:
    assert collected.shares(Counter({"in pairs": 2}))["alone_percent"] == 0


def test_a_timeline_has_what_the_summary_counts() -> None:
    setup = limits.setup(limits.LIMITS[-1], limits.PRINTED, 1, 4_000)
    flash = setup.simulate(lambda _share, _done: None).summary["flash"]
    pages = collected.pages_of(setup, None, lambda _share, _done: None)
    # Each die is in the midst of a round at most, of which a plane has a block to move.
    begun = 16 * 2 * setup.resolved().geometry.pages_per_block
    assert 0 < pages.total() <= flash["gc_programs"] <= pages.total() + begun
    assert 0 < pages["in pairs"] <= 2 * flash["multi_plane_commands"]["program"]
