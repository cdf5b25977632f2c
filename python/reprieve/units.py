"""Numbers for a reader: in a unit that suits their size, or all of a column in the same form."""

import math
from collections.abc import Iterable, Sequence

_TIMES = ((86_400e9, "d"), (3600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"))
_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))

NOTHING = "–"
"""Placeholder of a missing number."""


def time(ns: float) -> str:
    """Return a time in the largest unit of which it has one at least."""
    return _in(ns, _TIMES, "ns")


def size(count: float) -> str:
    """Return a number of bytes in the largest binary unit of which it has one at least."""
    return _in(count, _SIZES, "B")


def share(of_one: float, digits: int = 1) -> str:
    """Return a share as a percentage with `digits` decimals."""
    return f"{100 * of_one:,.{digits}f} %"


def times(ns: Sequence[float]) -> tuple[str, list[str]]:
    """Return the unit that suits the longest of some times, and all of them in it."""
    return _all_in(ns, _TIMES, "ns")


def sizes(counts: Sequence[float]) -> tuple[str, list[str]]:
    """Return the unit that suits the largest of some numbers of bytes, and all of them in it."""
    return _all_in(counts, _SIZES, "B")


def alike(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """Return the numbers of a column, all with the same decimals.

    The largest has `digits` digits, or fewer if none needs more.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    places = decimals(known, digits=digits)
    while places and all(f"{value:.{places}f}".endswith("0") for value in known):
        places -= 1
    return [NOTHING if value is None else f"{value:,.{places}f}" for value in values]


def decimals(
    values: Sequence[float], widths: Iterable[float] = (), most: int | None = None, digits: int = 4
) -> int:
    """Return how many decimals the numbers of a column have: none if all are whole.

    The largest number has `digits` digits; or all have `most` decimals.
    `widths`: of their intervals. The narrowest has two digits; more would be noise.
    """
    spread = [width for width in widths if width > 0]
    if all(value == int(value) for value in values) and not spread:
        return 0
    found = [_to_digits(max(map(abs, values)), digits) if most is None else most]
    if spread:
        found.append(_to_digits(min(spread), 2))
    return max(0, min(found))


def _to_digits(value: float, digits: int) -> int:
    """Return the decimals with which a number has `digits` digits."""
    return digits - 1 - math.floor(math.log10(value))


def _all_in(
    values: Sequence[float], units: tuple[tuple[float, str], ...], least: str
) -> tuple[str, list[str]]:
    most = max(values, default=0)
    unit, name = next((each for each in units if most >= each[0]), (1, least))
    return name, alike([value / unit for value in values])


def _in(value: float, units: tuple[tuple[float, str], ...], least: str) -> str:
    unit, name = next((each for each in units if value >= each[0]), (1, least))
    return f"{_short(value / unit)} {name}"


def _short(value: float) -> str:
    """Write whole numbers as such, others with four digits that count."""
    is_whole = value == int(value) or value >= 1000  # noqa: PLR2004 (four digits)
    return f"{value:,.0f}" if is_whole else f"{value:,.4g}"
