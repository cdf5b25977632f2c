"""What collection moves in commands of two planes: counted by hand, and as timelines have it."""

from __future__ import annotations

from collections import Counter

import pytest
from page_figures import collected

from reprieve_studies.mbm import limits

MOVE, ERASE = "gc program", "erase"


def test_moved_pages_are_counted_by_how_they_go() -> None:
    # Two planes: one page by itself until they are in step, two commands of both, and the rest of
    # the fuller victim. Then three pages that one plane alone collects; then what is left open.
    both = [(MOVE, 1), (MOVE, 2), (MOVE, 2), (MOVE, 1), (MOVE, 1), (ERASE, 2)]
    alone = [(MOVE, 1)] * 3 + [(ERASE, 1)]
    left = [(MOVE, 2), (MOVE, 1)]
    found = collected.kinds([*both, *alone, *left])
    assert found == {"in pairs": 4 + 2, "out of step": 3 + 1, "alone": 3}
    assert collected.shares(found) == pytest.approx({
        "pages": 13,
        "in_pairs_percent": 600 / 13,
        "out_of_step_percent": 400 / 13,
        "alone_percent": 300 / 13,
    })  # fmt: skip


def test_nothing_is_collected_alone_where_nothing_is_collected() -> None:
    assert collected.shares(Counter({"in pairs": 2}))["alone_percent"] == 0


def test_a_timeline_has_what_the_summary_counts() -> None:
    setup = limits.setup(limits.LIMITS[-1], limits.PRINTED, 1, 1_000)
    flash = setup.simulate(lambda _share, _done: None).summary["flash"]
    pages = collected.pages_of(setup, None, lambda _share, _done: None)
    # At the end of a run every plane may still program a page that no summary counts.
    assert 0 < flash["gc_programs"] <= pages.total() <= flash["gc_programs"] + 32
    assert pages["in pairs"] <= 2 * flash["multi_plane_commands"]["program"] + 32
