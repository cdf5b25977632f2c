"""Numbers for a reader: a name without its unit, and the number with one that suits its size."""

from __future__ import annotations

_TIMES = ((86_400e9, "d"), (3600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"))
_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def humane(name: str, value: object) -> tuple[str, str]:
    """Return a field's name without its unit, and its value with one: `span_ns` in hours."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return name.replace("_", " "), str(value)
    for ending, said in (("_ns", time), ("_bytes", size), ("_share", share)):
        if f"{ending}_" in f"{name}_" or f"{ending}." in name:
            kept = " share" if ending == "_share" else ""
            return name.replace(ending, kept, 1).replace("_", " "), said(value)
    return name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def time(ns: float) -> str:
    """Return a time in the largest unit of which it has one at least."""
    return _in(ns, _TIMES, "ns")


def size(count: float) -> str:
    """Return a number of bytes in the largest binary unit of which it has one at least."""
    return _in(count, _SIZES, "B")


def share(of_one: float) -> str:
    """Return a share as a percentage."""
    return f"{of_one:.1%}".replace("%", " %")


def _in(value: float, units: tuple[tuple[float, str], ...], least: str) -> str:
    for unit, name in units:
        if value >= unit:
            return f"{_short(value / unit)} {name}"
    return f"{_short(value)} {least}"


def _short(value: float) -> str:
    """Write whole numbers as such, others with four digits that count."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
