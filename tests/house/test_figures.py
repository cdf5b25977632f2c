"""The pages have the numbers that are recorded, and what is recorded is of this program."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from page_figures import pages
from page_figures.samples import SAMPLES
from page_figures.studies import STUDIES

from reprieve import sections

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = pages.recorded()


@pytest.mark.parametrize("path", pages.names())
def test_claims_of_a_page_hold(path: str) -> None:
    assert pages.fill(path, NUMBERS).broken == (), "the recorded numbers say otherwise"


# Of the samples that take long.
LENGTHS_S = {
    "zambelli21": 30,
    "fast12": 25,
    "mbm": 20,
    "demo": 20,
    "power-loss": 13,
    "starblaze": 13,
}


@pytest.mark.parametrize("lines", sorted(pages.LINES.rglob("*.lines")), ids=lambda path: path.stem)
def test_lines_with_numbers_of_pages_that_are_read_as_they_stand(lines: Path) -> None:
    filled = pages.fill(lines.name, NUMBERS, lines.parent)
    assert filled.broken == ()
    page = (ROOT / lines.relative_to(pages.LINES)).with_suffix("").read_text(encoding="utf-8")
    missing = [line for line in filled.text.splitlines() if line not in page.splitlines()]
    assert not missing


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.seconds(LENGTHS_S.get(name, 0))) for name in SAMPLES],
)
def test_what_is_recorded_is_of_this_program(name: str) -> None:
    recorded: dict[str, Any] = json.loads((pages.DATA / f"{name}.json").read_text(encoding="utf-8"))
    again = SAMPLES[name](recorded)
    assert again == recorded["sample"], f"results have moved: run `make figures STUDY={name}`"


def test_every_study_is_recorded_and_nothing_else_is() -> None:
    assert {path.stem for path in pages.DATA.glob("*.json")} == set(STUDIES)
    assert all((ROOT / "docs/figures" / name).exists() for one in STUDIES.values()
               for name in one.pictures.values())  # fmt: skip


def test_every_cell_of_the_simulators_has_a_source_and_ours_are_keys() -> None:
    table: dict[str, Any] = NUMBERS["simulators"]
    keys = sections.schema()
    for feature in table["features"]:
        assert set(feature) == {"name", *table["simulators"]}, feature["name"]
        for cell in (feature[name] for name in table["simulators"]):
            assert cell["is"] in ("yes", "part", "dead", "no") and cell["source"], feature["name"]
        for section, key in re.findall(r"\b(\w+)\.(\w+)", feature["reprieve"]["source"]):
            assert key in keys[section], feature["name"]


TEMPLATE = (
    '{% set claims = {"a is the smaller": n.a < n.b} %}\n'
    "# Page\n\n| a | b |\n{% for x in n.values() %}\n{{ x | n(1) }} |\n{% endfor %}\n"
)


def filled(folder: Path, template: str, **numbers: Any) -> str:
    """Fill a template of the test's own."""
    (folder / "page.md").write_text(template, encoding="utf-8")
    return pages.fill("page.md", numbers, folder).text


def test_a_page_is_filled_and_its_claims_are_weighed(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(TEMPLATE, encoding="utf-8")
    page = pages.fill("page.md", {"n": {"a": 0.25, "b": -1234.56}}, tmp_path)
    assert page.text == "# Page\n\n| a | b |\n0.3 |\n−1,234.6 |\n"
    assert page.broken == ("a is the smaller",)
    assert pages.fill("page.md", {"n": {"a": 1.0, "b": 2.0}}, tmp_path).broken == ()


def test_a_number_that_is_not_recorded_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="has no attribute 'b'"):
        filled(tmp_path, "{{ n.b | n }}", n={"a": 1})


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ 41.96 | n }}, {{ 41.96 | n(1) }}, {{ -0.2 | n }}", "42, 42.0, 0"),
        ("{{ 2247 | n }}", "2,247"),
        ("{{ -1.26 | signed(1) }}, {{ 3 | signed }}", "−1.3, +3"),
        ("{{ 26.34 | sig }}, {{ 149.3 | sig }}, {{ 0.0861 | sig(2) }}, {{ 1012 | sig(2) }}",
         "26.3, 149, 0.086, 1,000"),
        ("{{ [0.703, 0.0581] | pm }}", "0.703 ± 0.058"),
        ("{{ [2.96, 1.04, 3.01] | span }}, {{ [2.96, 3.01] | span(1) }}, {{ [3, 3] | span }}",
         "1 to 3, 3.0, 3"),
        ("{{ [{'a': {'b': 1}}, {'a': {'b': 2}}] | col('a', 'b') | sum }}", "3"),
        ("{{ word(8) }}, {{ word(0) }}, {{ word(11) }}", "eight, none, 11"),
        ("{{ none | n(2) }}", "–"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_the_pages_have_them(
    template: str, text: str, tmp_path: Path
) -> None:
    assert filled(tmp_path, template) == text
