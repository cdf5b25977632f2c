"""The picture of a drive: what is committed is what the program draws, and what it draws is so."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from reprieve import _native

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


@pytest.fixture(scope="module")
def drawn() -> str:
    text: str = runpy.run_path(str(FIGURES / "drive.py"))["picture"]()
    return text


def test_the_committed_picture_is_the_one_that_is_drawn(drawn: str) -> None:
    assert (FIGURES / "drive.svg").read_text(encoding="utf-8") == drawn


def test_its_numbers_are_those_of_the_paper_and_its_sections_exist(drawn: str) -> None:
    # Wu and He, FAST 2012, section 3.1: 16 chips with a channel of their own; four planes a chip.
    assert "16 channels" in drawn
    assert "16 dies of 4 planes" in drawn
    sections = set(re.findall(r"\[(\w+)\]", drawn))
    assert {"workload", "host", "buffer", "ftl", "scheduling", "suspension", "timing"} <= sections
    assert sections <= set(json.loads(_native.json_schema())["properties"])
