"""Pages with recorded numbers: expressions stand on the page, and the site has the numbers.

A page of `docs` has `{{ expressions }}` in place of numbers. What they abbreviate stands in
`docs/figures/terms`, in a file of the page's name: numbers given by hand, definitions, and claims
without a printed number, an order or "half", as `{% set claims = {"the claim": it holds} %}`.
README and first run are read as they stand: `docs/figures/lines` has their lines with numbers.
"""

import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
LINES = HERE / "lines"
TERMS = "docs/figures/terms"
"""Where the definitions of pages are, by the path of the page."""
_PAGE_MARK = "{# The page. #}\n"
"""Stands between definitions that the page needs, and claims that need those of the page."""
DATA = HERE / "data"
BENCH = ROOT / "benches/results"


@dataclass(frozen=True)
class Page:
    """A page as its template and the recorded numbers have it."""

    path: str
    """From the root of the project."""
    text: str
    broken: tuple[str, ...]
    """Statements that the numbers contradict."""


def names() -> list[str]:
    """Return the pages of `docs` that have expressions."""
    return [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if is_template(path.read_text(encoding="utf-8"))
    ]


def is_template(text: str) -> bool:
    """Return whether a page has expressions."""
    return "{{ " in text or "{% " in text


@cache
def recorded() -> dict[str, Any]:
    """Return the numbers that are recorded, by study; `bench`: of `make bench`; `simulators`."""
    found = {
        path.stem.replace("-", "_"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(DATA.rglob("*.json"))
    }
    latest = max(BENCH.glob("*.json"))
    found["simulators"] = tomllib.loads((HERE / "simulators.toml").read_text(encoding="utf-8"))
    found["bench"] = {"date": latest.stem, **json.loads(latest.read_text(encoding="utf-8"))}
    return found


def fill(path: str, numbers: Mapping[str, Any], folder: Path = ROOT) -> Page:
    """Return a page, or lines of one, with its numbers."""
    before, after = terms_of(path, folder)
    text = before + (folder / path).read_text(encoding="utf-8") + after
    module = environment().from_string(text).make_module(dict(numbers))
    claims: Mapping[str, bool] = getattr(module, "claims", {})
    broken = tuple(words for words, holds in claims.items() if not holds)
    return Page(path, str(module).lstrip("\n"), broken)


def terms_of(path: str, folder: Path = ROOT) -> tuple[str, str]:
    """Return the definitions before a page and the claims after it; nothing if it has none."""
    file = folder / TERMS / f"{path}.jinja"
    if not file.is_file():
        return "", ""
    before, _, after = file.read_text(encoding="utf-8").partition(_PAGE_MARK)
    return before, after


def environment() -> Environment:
    """Return what reads templates: a name that no number has is an error."""
    made = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown is not HTML
    )
    made.filters |= {
        "n": plain,
        "signed": signed,
        "sig": significant,
        "pm": with_interval,
        "span": span,
        "col": column,
        "multiply": lambda value, by: value * by,
    }
    made.globals |= {"word": word, "all": all, "any": any, "zip": zip, "len": len}
    return made


def plain(value: float | None, digits: int = 0) -> str:
    """Write a number with so many decimals, thousands apart, and a true minus; – for none."""
    if value is None:
        return "–"
    return f"{_rounded(value, digits):,}".replace("-", "−")


def signed(value: float, digits: int = 0) -> str:
    """Write the same with its sign."""
    return f"{_rounded(value, digits):+,}".replace("-", "−")


def significant(value: float | None, digits: int = 3) -> str:
    """Write a number with so many significant digits."""
    if value is None:
        return "–"
    places = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    return plain(round(value, places), max(places, 0))


def with_interval(estimate: tuple[float, float], digits: int = 3) -> str:
    """Write a mean and half its interval."""
    mean, half = estimate
    return f"{plain(mean, digits)} ± {plain(half, digits)}"


def span(values: Iterable[float | None], digits: int = 0, word: str = "to") -> str:
    """Write the least and the greatest of some numbers, or one where they look alike."""
    known = [value for value in values if value is not None]
    least, most = plain(min(known), digits), plain(max(known), digits)
    return least if least == most else f"{least} {word} {most}"


def column(rows: Mapping[str, Any] | list[Any], *keys: Any) -> list[Any]:
    """Return one value of every row, by the keys that lead to it."""
    found = []
    for row in rows.values() if isinstance(rows, Mapping) else rows:
        value = row
        for key in keys:
            value = value[key]
        found.append(value)
    return found


_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def word(count: float) -> str:
    """Write a small count as a word."""
    whole = round(count)
    return _WORDS[whole] if 0 <= whole < len(_WORDS) else f"{whole:,}"


def _rounded(value: float, digits: int) -> Decimal:
    """Round, halves away from zero, and leave no sign on a zero."""
    rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return abs(rounded) if rounded == 0 else rounded
