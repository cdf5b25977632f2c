"""Runs that go on until an interval is as narrow as asked, or a budget ends."""

import math
import re
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from reprieve._native import UserError
from reprieve.confidence import FIGURES
from reprieve.latency import KINDS
from reprieve.result import Result
from reprieve.scenario import Source

_AIM = re.compile(r"(?P<op>\w+)\.(?P<figure>\w+)\s+(?P<share>[\d.]+)\s*(?P<percent>%?)")
_GROWTH = (1.5, 8.0)
"""Least and most that a run is made longer at a time."""
_UNKNOWN = 4.0
"""Growth where there are too few requests for an interval."""
_SPARE = 1.1
_MOST_TIMES = 4096
"""Times as long as the scenario says, beyond which a run is not made."""

Made = TypeVar("Made")


@dataclass(frozen=True)
class Aim:
    """A figure of a latency, and half the width of its interval as a share that is enough."""

    op: str
    figure: str
    share: float

    @classmethod
    def parse(cls, text: str) -> "Aim":
        """Parse `read.p99 2%`; raises UserError for anything else."""
        found = _AIM.fullmatch(text.strip())
        if found and found["op"] in KINDS and found["figure"] in FIGURES:
            share = float(found["share"]) / (100 if found["percent"] else 1)
            if 0 < share < 1:
                return cls(found["op"], found["figure"], share)
        raise UserError(
            f'--until-decided "{text}": must be a figure and a share, such as "read.p99 2%"; '
            f"figures are those of {', '.join(KINDS)}: {', '.join(FIGURES)}"
        )

    def __str__(self) -> str:
        """Name the figure in sentences."""
        return f"{self.op} {FIGURES[self.figure]}"

    def half_width(self, result: Result) -> float | None:
        """Return half the interval of a run as a share; None if there are too few requests."""
        group = result.summary["requests"][self.op]
        ends, value = group["confidence"].get(self.figure), group["latency_ns"][self.figure]
        return None if ends is None or not value else (ends[1] - ends[0]) / 2 / value


@dataclass(frozen=True)
class Narrowed(Generic[Made]):
    """The last run of several, each longer, and what is said of it."""

    made: Made
    sentence: str
    is_met: bool


def narrowed(
    source: Source,
    aim: Aim,
    minutes: float | None,
    run: Callable[[Source], Made],
    half_width: Callable[[Made], float | None],
    results: Callable[[Made], Iterable[Result]],
) -> Narrowed[Made]:
    """Run a scenario, each time with more requests, until an interval is as narrow as asked.

    It ends with the trace, when the next run would begin after `minutes`, or would be 4,096 times
    as long as the first. Raises UserError if the number of requests is no key of the scenario.
    """
    resolved = tomllib.loads(source.resolve())
    key, first = _length(resolved)
    count, until_s = first, None if minutes is None else time.monotonic() + 60 * minutes
    while True:
        began_s = time.monotonic()
        made = run(source if count == first else source.with_sets([f"{key}={count}"]))
        took_s, width = time.monotonic() - began_s, half_width(made)
        width = None if width is None or math.isinf(width) else width
        known = "has too few requests for an interval"
        if width is not None:
            known = f"is known to ±{100 * width:.2g} % at 95 %"
        text = f"{aim} {known} after {count:,} requests"
        if width is not None and width <= aim.share:
            return Narrowed(made, text, is_met=True)
        growth = _UNKNOWN if width is None else _SPARE * (width / aim.share) ** 2
        needs = "" if width is None else f"; about {count * growth:,.0f} would do"
        text = f"{text}, not to the ±{100 * aim.share:g} % that were asked for{needs}"
        growth = min(max(growth, _GROWTH[0]), _GROWTH[1])
        if any("partial" in result.summary for result in results(made)):
            return Narrowed(made, text, is_met=False)
        served = (result.summary["workload"]["requests"] for result in results(made))
        if "trace" in resolved["workload"] and all(each < count for each in served):
            return Narrowed(made, f"{text}: the trace has no more", is_met=False)
        if until_s is not None and time.monotonic() + growth * took_s > until_s:
            return Narrowed(made, f"{text}: a longer run takes more time", is_met=False)
        if count * growth > first * _MOST_TIMES:
            return Narrowed(made, f"{text}: that is too many", is_met=False)
        count = round(count * growth)


Kept = tuple[Result, list[Path]]
"""A run, and the files that it has written."""


def decided(
    source: Source, asked: str | None, minutes: float | None, run: Callable[[Source], Kept]
) -> tuple[Kept, str]:
    """Run once, or until an interval is as narrow as asked; return also what is said of that."""
    if asked is None:
        return run(source), ""
    aim = Aim.parse(asked)
    found = narrowed(
        source, aim, minutes, run, lambda made: aim.half_width(made[0]), lambda made: [made[0]]
    )
    return found.made, found.sentence


def _length(scenario: Mapping[str, Any]) -> tuple[str, int]:
    """Return the key that says how many requests a run has, and its value."""
    workload = scenario.get("workload", {})
    for key in ("requests", "max_requests"):
        if isinstance(count := workload.get(key), int):
            return f"workload.{key}", count
    raise UserError(
        "--until-decided: the load must have a number of requests to make longer: "
        "workload.requests, or workload.max_requests of a trace"
    )
