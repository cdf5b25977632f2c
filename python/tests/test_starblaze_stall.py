"""Stalls of the firmware in the study of Starblaze's slides: their jobs, and what they do."""

from __future__ import annotations

from itertools import product

import pytest

from reprieve.parallel import Workshop, silent
from reprieve_studies.starblaze import stall
from reprieve_studies.starblaze.experiment import Plan
from reprieve_studies.starblaze.paper import CASES
from reprieve_studies.starblaze.readings import BASE, Spot

ALONE_US = 16.041
"""A write that waits for nothing: 15 µs of a command and 1.041 of the link."""


def test_stalls_are_spread_over_a_run_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall, "COMMANDS", (7, 26))
    # The first seed shifts by 0.618 of half of the 10 s that follow a ramp of 2: 5.09 and 10.09 s.
    assert stall.stalls(Plan(10, 2, 1), 1) == (
        "[firmware_0]\nrw=randwrite\nstartdelay=5090170us\niodepth=7\nnumber_ios=7\n"
        "[firmware_1]\nrw=randwrite\nstartdelay=10090170us\niodepth=26\nnumber_ios=26\n"
    )


def test_a_write_waits_for_a_stall_and_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two threads, so that one's write may wait for the other's command too.
    name = "5rr4rw_2thread"
    monkeypatch.setattr(stall, "CASES", {name: CASES[name]})
    monkeypatch.setattr(stall, "SETTINGS", ("both",))
    longest = {}
    for commands in (0, 20):
        # A stall each quarter of a second: some of them a write meets.
        monkeypatch.setattr(stall, "COMMANDS", (commands,) * 8 if commands else ())
        (found,) = stall.run(Plan(2, 1, 1), Workshop(None, silent, 1)).values()
        longest[commands] = found.write_us_max
    assert longest[0] == pytest.approx(ALONE_US + 15)
    assert 100 < longest[20] <= 20 * 15 + ALONE_US + 15


def test_a_number_of_the_slides_is_inside_or_outside_of_the_seeds_by_hand() -> None:
    # Ours are 100 and 300 µs under every case: the slides' 409, 405, 393 lie outside, and the five
    # others, 117, 133, 106, 270 and 221, inside.
    runs = {
        Spot(BASE.name, setting, case, seed): stall.Found(100.0 * (2 * seed - 1), 16.0, 90.0 + seed)
        for setting, case, seed in product(stall.SETTINGS, CASES, (1, 2))
    }
    found = stall.numbers(runs)
    assert (found["inside"], found["of"]) == (5, 8)
    cell = found["cases"]["2rr1rw_1thread"]["none"]
    assert cell == {
        "slides_us": 409, "us_max": 200.0, "us_max_least": 100.0, "us_max_most": 300.0,
        "write_mean_us": 16.0, "read_mean_us": 91.5,
    }  # fmt: skip
    assert found["cases"]["2rr1rw_1thread"]["both"]["slides_us"] == 117
