"""The pages have the numbers that are recorded, and what is recorded is of this program."""

import json
from pathlib import Path
from typing import Any

import page_figures.__main__
import pytest
from page_figures import pages
from page_figures.samples import SAMPLES
from page_figures.studies import STUDIES

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = pages.recorded()


@pytest.mark.parametrize("path", pages.names())
def test_page_has_the_numbers_that_are_recorded(path: str) -> None:
    page = pages.fill(path, NUMBERS)
    assert page.broken == (), "what the page says is no longer so: change its template"
    assert (ROOT / path).read_text(encoding="utf-8") == page.text, "change its template; make pages"


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_recorded_is_of_this_program(name: str) -> None:
    recorded: dict[str, Any] = json.loads((pages.DATA / f"{name}.json").read_text(encoding="utf-8"))
    again = SAMPLES[name](recorded)
    assert again == recorded["sample"], f"results have moved: run `make figures STUDY={name}`"


def test_every_study_is_recorded_and_nothing_else_is() -> None:
    assert {path.stem for path in pages.DATA.glob("*.json")} == set(STUDIES)
    assert all((ROOT / "docs/figures" / name).exists() for one in STUDIES.values()
               for name in one.pictures.values())  # fmt: skip


TEMPLATE = (
    '{% set claims = {"a is the smaller": n.a < n.b} %}\n'
    "# Page\n\n| a | b |\n{% for x in n.values() %}\n{{ x | n(1) }} |\n{% endfor %}\n"
)


def filled(folder: Path, template: str, **numbers: Any) -> str:
    """Fill a template of the test's own."""
    (folder / "page.jinja").write_text(template, encoding="utf-8")
    return str(pages.environment(folder).get_template("page.jinja").make_module(numbers))


def test_a_page_is_filled_and_its_claims_are_weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "TEMPLATES", tmp_path)
    (tmp_path / "page.md.jinja").write_text(TEMPLATE, encoding="utf-8")
    page = pages.fill("page.md", {"n": {"a": 0.25, "b": -1234.56}})
    assert page.text == "# Page\n\n| a | b |\n0.3 |\n−1,234.6 |\n"
    assert page.broken == ("a is the smaller",)
    assert pages.fill("page.md", {"n": {"a": 1.0, "b": 2.0}}).broken == ()
    assert pages.names() == ["page.md"]


def test_what_was_written_into_a_page_is_taken_into_its_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = "# Page\n\nIt takes {{ n | n(1) }} µs.\n\nA.\n\nB.\n\nIt is so.\n"
    for module in (pages, page_figures.__main__):
        monkeypatch.setattr(module, "TEMPLATES", tmp_path)
    monkeypatch.setattr(page_figures.__main__, "ROOT", tmp_path)
    (tmp_path / "page.md.jinja").write_text(template, encoding="utf-8")
    changed = "# Page\n\nIt takes 2.5 µs.\n\nA.\n\nB.\n\nIt is not so.\n"
    (tmp_path / "page.md").write_text(changed, encoding="utf-8")
    assert not page_figures.__main__.adopt("page.md", {"n": 2.5})
    taken = (tmp_path / "page.md.jinja").read_text(encoding="utf-8")
    assert taken == template.replace("It is so", "It is not so")
    # A line with a number is nobody's to merge.
    (tmp_path / "page.md").write_text(changed.replace("takes", "lasts"), encoding="utf-8")
    assert page_figures.__main__.adopt("page.md", {"n": 2.5})
    assert "<<<<<<< template" in (tmp_path / "page.md.jinja").read_text(encoding="utf-8")


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
