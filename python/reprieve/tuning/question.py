"""Problem of a tuning: keys that vary, bounds to meet, and a number to maximise or minimise."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

from reprieve import words
from reprieve._native import UserError
from reprieve.confidence import FIGURES
from reprieve.experiments.plan import RANGE_MAX, Axis, Range, Value
from reprieve.latency import KINDS
from reprieve.scenario import toml_value

_FIGURE = re.compile(r"(?P<op>read|write|total)\.(?P<figure>mean|min|max|p\d+(_\d+)?)")
_BOUND = re.compile(
    r"(?P<field>[\w.]+)\s*(?P<sign><=|>=|<|>)\s*(?P<number>[-+.\deE]+)\s*(?P<unit>\S*)"
)
_TIMES_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_FACTORS = {"": 1.0, "%": 0.01, "k": 1e3, "M": 1e6, "G": 1e9}
_FINE, _FINE_NS = 1e3, 1e5
"""Below these a number is shown with more digits."""
_NAMES = {"iops": "device_iops", "bandwidth": "device_bandwidth_bytes_per_s", "waf": "flash_waf"}
"""Short names of numbers of a summary."""
ARM = "arm"
"""Axis whose values are names of several overrides each."""


@dataclass(frozen=True)
class Field:
    """A number of the summary."""

    said: str
    """As the question has it."""
    column: str
    """As the flat summary has it."""

    @property
    def is_time(self) -> bool:
        """Whether it is a time in ns."""
        return "_ns" in self.column

    def of(self, summary: Mapping[str, Any]) -> float:
        """Return its value in a flat summary; raises UserError if that has no such number."""
        if self.column not in summary:
            near = difflib.get_close_matches(self.said, short_names(), 1)
            near = near or difflib.get_close_matches(self.column, summary, 1)
            hint = f"did you mean {near[0]}?" if near else "see the columns of `reprieve sweep`"
            raise UserError(f"{self.said}: the summary has no such number; {hint}")
        value = summary[self.column]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise UserError(f"{self.said}: has no value here; ask for what every run has")
        return float(value)

    def show(self, value: float) -> str:
        """Write a value for people: times in µs."""
        if self.is_time:
            digits = 0 if abs(value) >= _FINE_NS else 1
            return f"{value / 1000:,.{digits}f} µs"
        return f"{value:,.0f}" if abs(value) >= _FINE else f"{value:.4g}"


@dataclass(frozen=True)
class Bound:
    """A number that may not be larger, or smaller, than a limit."""

    field: Field
    is_upper: bool
    limit: float
    said: str = dataclass_field(default="", compare=False)
    """As the question has it."""

    def excess(self, value: float) -> float:
        """Return by which share of the limit a value is beyond it; negative: within."""
        beyond = value - self.limit if self.is_upper else self.limit - value
        return beyond / abs(self.limit) if self.limit else beyond

    def __str__(self) -> str:
        """Write the bound for people."""
        return f"{self.field.said} {'<=' if self.is_upper else '>='} {self.field.show(self.limit)}"


@dataclass(frozen=True)
class Question:
    """Keys to vary, bounds and goal."""

    axes: tuple[Axis, ...]
    bounds: tuple[Bound, ...]
    goal: Field
    is_max: bool
    indifferent: float = 0.02
    """Points whose goals differ by less than this share of the best are as good."""
    arms: Mapping[str, tuple[str, ...]] = dataclass_field(default_factory=dict)
    """Overrides `KEY=VALUE` of each value of the axis `arm`, which is no key of a scenario."""

    def sets(self, values: Iterable[tuple[str, Value]]) -> list[str]:
        """Return the overrides that make a point."""
        found: list[str] = []
        for key, value in values:
            own = self.arms.get(value) if key == ARM else None
            found += [f"{key}={toml_value(value)}"] if own is None else own
        return found

    def freed(self) -> list["Question"]:
        """Return the question without each of its bounds."""
        return [
            replace(self, bounds=tuple(other for other in self.bounds if other is not bound))
            for bound in self.bounds
        ]

    def violation(self, summary: Mapping[str, Any]) -> float:
        """Return the sum of what is beyond the bounds, each as a share of its limit."""
        return sum(max(0.0, each.excess(each.field.of(summary))) for each in self.bounds)

    def cost(self, summary: Mapping[str, Any]) -> float:
        """Return the goal, so that less is better."""
        value = self.goal.of(summary)
        return -value if self.is_max else value


def short_names() -> list[str]:
    """List the short names of numbers."""
    return [*(f"{op}.{figure}" for op in KINDS for figure in (*FIGURES, "min", "max")), *_NAMES]


def field(said: str) -> Field:
    """Read the name of a number: `read.p99_9`, `iops`, or a path in the summary."""
    figure = _FIGURE.fullmatch(said)
    if figure:
        return Field(said, f"{figure['op']}_latency_ns_{figure['figure']}")
    return Field(said, _NAMES.get(said, said.replace(".", "_").removeprefix("requests_")))


def bound(text: str) -> Bound:
    """Read `read.p99_9 <= 400us`; UserError for anything else."""
    found = _BOUND.fullmatch(text.strip())
    if not found:
        raise UserError(f'--where "{text}": must be FIELD <= NUMBER or FIELD >= NUMBER')
    what, unit = field(found["field"]), found["unit"]
    number = words.number(found["number"])
    factors = _TIMES_NS if what.is_time else _FACTORS
    if not math.isfinite(number) or unit not in factors:
        units = "ns, us, ms or s" if what.is_time else "nothing, k, M, G or %"
        raise UserError(f'--where "{text}": must have a number and, as its unit, {units}')
    return Bound(what, found["sign"][0] == "<", number * factors[unit], text.strip())


def axis(text: str) -> Axis:
    """Read `KEY=LO..HI`, with `:log` behind it for equal factors, or `KEY=A,B,C`."""
    key, _, values = text.partition("=")
    if not key or not values:
        raise UserError(f"--vary {text}: must be KEY=LO..HI, KEY=LO..HI:log or KEY=A,B,C")
    # A path of a policy may begin with two dots.
    if ".." not in values or "/" in values:
        choices = tuple(_value(part) for part in values.split(","))
        if len(set(map(str, choices))) != len(choices):
            raise UserError(f"--vary {text}: has a value twice")
        return Axis(key.strip(), choices)
    span, _, scale = values.partition(":")
    low, _, high = span.partition("..")
    ends = [_value(low), _value(high)]
    if scale not in ("", "log") or not all(
        type(end) in (int, float) and abs(end) < RANGE_MAX for end in ends
    ):
        raise UserError(f"--vary {text}: must be KEY=LO..HI with two numbers, or KEY=LO..HI:log")
    first, last = ends
    if not first < last or (scale == "log" and first <= 0):
        why = "the smaller first" if not first < last else "both above 0 for log"
        raise UserError(f"--vary {text}: must be two numbers, {why}")
    return Axis(key.strip(), Range(first, last, scale == "log"))


def said(axis: Axis) -> str:
    """Write a key and its values as they are given."""
    span = axis.values
    if isinstance(span, Range):
        return f"{axis.key}={span.low}..{span.high}{':log' if span.is_log else ''}"
    words = (str(value).lower() if isinstance(value, bool) else str(value) for value in span)
    return f"{axis.key}={','.join(words)}"


def question(
    vary: Sequence[str],
    where: Sequence[str],
    most: str | None,
    least: str | None,
    indifferent: float = 0.02,
    arms: Mapping[str, tuple[str, ...]] | None = None,
) -> Question:
    """Read a whole question; raises UserError if it is none."""
    if (most is None) == (least is None):
        raise UserError("tune: give one of --max and --min: what is to be large, or small")
    axes = tuple(axis(text) for text in vary)
    axes = (*axes, Axis(ARM, tuple(arms))) if arms else axes
    if not axes:
        raise UserError("tune: --vary is missing; name a key and its values, KEY=LO..HI or KEY=A,B")
    keys = [each.key for each in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise UserError(f"--vary {key}: is given twice; must be given once")
    goal = field(most if most is not None else str(least))
    if not 0 <= indifferent < 1:
        raise UserError(
            f"--indifferent {indifferent:g}: must be a share from 0 to below 1, or in %"
        )
    bounds = tuple(bound(text) for text in where)
    return Question(axes, bounds, goal, most is not None, indifferent, arms or {})


def share(text: str) -> float:
    """Read a share, `2 %` or `0.02`; UserError for anything else."""
    number, percent, _ = text.strip().partition("%")
    try:
        return float(number) / (100 if percent else 1)
    except ValueError:
        raise UserError(f'--indifferent "{text}": must be a share such as 2% or 0.02') from None


def _value(text: str) -> Any:
    word = text.strip()
    return word == "true" if word in ("true", "false") else words.value(word)
