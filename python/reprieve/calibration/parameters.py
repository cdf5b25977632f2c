"""Parameters of a fit: scenario keys with their ranges, and quantities that stand for several."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reprieve import words
from reprieve._native import UserError

Value = float | int | str | None
Values = Mapping[str, Value]

PROGRAM = "program.t_total_us"
"""Array time of an undisturbed program; with the next it stands for three keys of [timing]."""
STEPS = "program.steps"
"""Number of iterations, at whose ends the program can be suspended."""
OVERHEAD = "timing.t_suspend_overhead_us"
"""Time that a suspension takes from the end of an iteration on."""

_PULSE_SHARE = 0.3
"""Share of a stretch that is the pulse. Latencies cannot separate the pulse from the verify."""

_INDEXED = re.compile(r"(?P<key>.+)\[(?P<index>\d+)\]")
_BY_TYPE = "timing.t_read_us_by_type"


@dataclass(frozen=True)
class Parameter:
    """A quantity that is fitted: between two bounds, or one of several values."""

    key: str
    """Key of the scenario; `KEY[2]` is the third value of a list."""
    low: float = 0.0
    high: float = 0.0
    choices: tuple[Value, ...] = ()
    """Values without order, or whole numbers, of which one is taken; empty: it is continuous."""
    whole: bool = False
    """Continuous between its bounds, and rounded."""
    guess: float | None = None
    """Where the search begins; None: in the middle."""
    other_guess: float | None = None
    """Where it begins as well, if another mechanism may be behind what the guess follows from."""

    def __post_init__(self) -> None:
        """Refuse bounds that hold nothing."""
        if not self.choices and not 0 < self.low < self.high:
            raise UserError(
                f"--free {self.key}={self.low:g}..{self.high:g}: must be two numbers above 0, "
                "the smaller first"
            )

    def at(self, position: float) -> float:
        """Value at a position on the logarithmic scale on which it is searched."""
        value = math.exp(position)
        return float(round(value)) if self.whole else value

    def start(self) -> float:
        """Return the position of the guess, or the middle."""
        low, high = self.positions()
        middle = (low + high) / 2
        return middle if self.guess is None else min(max(math.log(self.guess), low), high)

    def middle(self) -> float:
        """Return the value where the search begins."""
        return self.at(self.start())

    def positions(self) -> tuple[float, float]:
        """Return the bounds on that scale."""
        return math.log(self.low), math.log(self.high)


def parse_free(text: str) -> Parameter:
    """Read `KEY=LO..HI` or `KEY=A|B|C`; UserError for anything else."""
    key, _, range_ = text.partition("=")
    if not key or not range_:
        raise UserError(f"--free {text}: must be KEY=LO..HI, or KEY=A|B|C")
    if "|" in range_:
        return Parameter(key, choices=tuple(_value(part) for part in range_.split("|")))
    low, dots, high = range_.partition("..")
    bounds = (words.number(low), words.number(high))
    if not dots or not all(map(math.isfinite, bounds)):
        raise UserError(f"--free {text}: must be KEY=LO..HI with two numbers, or KEY=A|B|C")
    return Parameter(key, *bounds, whole=_is_whole(key))


def parse_fix(text: str) -> tuple[str, Value]:
    """Read `KEY=VALUE`; UserError for anything else."""
    key, _, value = text.partition("=")
    if not key or not value:
        raise UserError(f"--fix {text}: must be KEY=VALUE")
    return key, _value(value)


def merge(
    default: Iterable[Parameter], free: Iterable[Parameter], fixed: Mapping[str, Value]
) -> tuple[Parameter, ...]:
    """Return the parameters by default with those given in their place, less what is fixed."""
    parameters = {parameter.key: parameter for parameter in default}
    for parameter in free:
        if parameter.key in fixed:
            raise UserError(f"{parameter.key}: is given with --free and with --fix; must be one")
        parameters[parameter.key] = parameter
    return tuple(each for key, each in parameters.items() if key not in fixed)


def overrides(values: Values) -> dict[str, object]:
    """Return the keys of a scenario that have these values of parameters."""
    keys: dict[str, object] = {}
    lists: dict[str, dict[int, float]] = {}
    for key, value in values.items():
        indexed = _INDEXED.fullmatch(key)
        if indexed:
            lists.setdefault(indexed["key"], {})[int(indexed["index"])] = _number(key, value)
        elif key not in (PROGRAM, STEPS):
            keys[key] = _rounded(key, value)
    for key, by_index in lists.items():
        keys[key] = [_us(by_index[index]) for index in sorted(by_index)]
    if _BY_TYPE in lists:
        times = lists[_BY_TYPE].values()
        keys["timing.t_read_us"] = _us(sum(times) / len(times))
        keys["timing.page_types"] = len(times)
    if PROGRAM in values:
        keys |= _program(_number(PROGRAM, values[PROGRAM]), _number(STEPS, values[STEPS]))
    return keys


def _program(total_us: float, steps: float) -> dict[str, object]:
    each_us = total_us / round(steps)
    return {
        "timing.program_iterations": round(steps),
        "timing.t_program_pulse_us": _us(each_us * _PULSE_SHARE),
        "timing.t_verify_us": _us(each_us - _us(each_us * _PULSE_SHARE)),
        "timing.t_voltage_reset_us": 0,
    }


def _number(key: str, value: Value) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    raise UserError(f"{key} = {value}: must be a number")


def _rounded(key: str, value: Value) -> object:
    if isinstance(value, float):
        return round(value) if _is_whole(key) else _us(value) if key.endswith("_us") else value
    return "none" if value is None else value


def _us(value: float) -> float:
    """Round to whole nanoseconds."""
    return round(value, 3)


def _is_whole(key: str) -> bool:
    ending = key.rpartition(".")[2]
    return not ending.startswith("t_") and not ending.endswith(("_us", "_share", "_factor"))


_WORDS: dict[str, Value] = {"none": None, "true": True, "false": False}


def _value(text: str) -> Value:
    return _WORDS[text] if text in _WORDS else words.value(text)
