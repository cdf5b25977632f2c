"""Other local minima: their points, and that a search goes on from the lower one."""

import math
from typing import Any

import numpy as np
import pytest

from reprieve.calibration.evaluate import Evaluator
from reprieve.calibration.least_squares import WIDE, Fit, polish
from reprieve.calibration.local_minima import other_minima
from reprieve.calibration.objective import Weights
from reprieve.calibration.parameters import OVERHEAD, PROGRAM, STEPS, Parameter, Value
from reprieve.calibration.replay import Effort
from reprieve.calibration.search import Depth, Search
from reprieve.parallel import silent

FREE = [Parameter(PROGRAM, 400, 3000), Parameter(STEPS, 2, 16, whole=True),
        Parameter(OVERHEAD, 0.5, 50)]  # fmt: skip
LONG: dict[str, Value] = {PROGRAM: 1200.0, STEPS: 8.0, OVERHEAD: 10.0}


def test_a_read_waits_as_long_in_other_minima() -> None:
    """By hand: 1,200 µs in 8 iterations and 10 µs are 160; in 9, 133.3 and 26.7; in 10, 120 and 40.

    In 7 an iteration alone is 171.4 µs; in 12 the suspension would cost 60 µs, out of its range.
    """
    found = other_minima(LONG, FREE)
    assert [each[STEPS] for each in found] == [9.0, 10.0]
    assert [each[OVERHEAD] for each in found] == pytest.approx([160 - 1200 / 9, 40.0])
    assert all(each[PROGRAM] == 1200.0 for each in found)


@pytest.mark.parametrize("fixed", [STEPS, OVERHEAD])
def test_what_is_not_free_has_no_other_minimum(fixed: str) -> None:
    assert other_minima(LONG, [each for each in FREE if each.key != fixed]) == []


class TwoMinima(Evaluator):
    """A wait of 160 µs and a program of 1,200 µs, and minima at 8 and at 13 iterations.

    The second is lower: there the last residual is 0, and in the first it is 1.
    """

    def residuals(self, points: Any, conditions: Any, effort: Any) -> Any:
        """Return three residuals a point."""
        return [np.array(self._residuals(point)) for point in points]

    def _residuals(self, point: Any) -> list[float]:
        total_us, steps, cost_us = (float(point[key]) for key in (PROGRAM, STEPS, OVERHEAD))
        first = math.hypot(1, 30 * math.log(steps / 8))
        second = 30 * abs(math.log(steps / 13))
        wait = 20 * math.log((total_us / steps + cost_us) / 160)
        return [wait, 20 * math.log(total_us / 1200), min(first, second)]


def search(evaluator: Evaluator, free: list[Parameter]) -> Search:
    """Return a search that is at its last steps."""
    return Search([], free, {}, evaluator, Depth(), silent)


def test_a_search_goes_on_from_the_lower_minimum() -> None:
    minima = TwoMinima({"device": "tlc-nvme"}, Weights())
    free = [*FREE[:1], Parameter(STEPS, 2, 48, whole=True), Parameter(OVERHEAD, 0.5, 100)]
    begin: dict[str, Value] = {PROGRAM: 1300.0, STEPS: 8.0, OVERHEAD: 8.0}
    first = polish(minima, free, begin, [], 8, Effort(9), lambda _done: None, 1, WIDE)
    assert first.values[STEPS] == 8.0
    assert first.cost == pytest.approx(0.5, abs=0.02)
    found = search(minima, free).finish(begin)
    minima.close()
    assert found.values[STEPS] == 13.0
    assert found.cost == pytest.approx(0.0, abs=0.02)
    # 1,200 µs in 13 iterations are 92.3 µs each.
    assert found.values[OVERHEAD] == pytest.approx(160 - 1200 / 13, rel=0.05)


class Tens(Evaluator):
    """A drive whose cost is half the square of how far its iterations are from ten."""

    def residuals(self, points: Any, conditions: Any, effort: Any) -> Any:
        """Return one residual a point."""
        return [np.array([float(point[STEPS]) - 10]) for point in points]


def test_what_is_no_better_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Value] = []
    costs: list[float] = []

    def ends_at(_evaluator: Any, _free: Any, begin: dict[str, Value], *_: Any) -> Fit:
        begun.append(begin[STEPS])
        return Fit(begin, costs.pop(0))

    monkeypatch.setattr("reprieve.calibration.search.polish", ends_at)
    tens = Tens({"device": "tlc-nvme"}, Weights())
    costs += [5.0, 5.0]
    assert search(tens, FREE).finish(LONG) == Fit(LONG, 5.0)
    costs += [5.0, 4.0]
    assert search(tens, FREE).finish(LONG).cost == 4.0
    # Steps are taken from the better of 9 and 10 alone.
    assert begun == [8.0, 10.0, 8.0, 10.0]
    # And from none where no drive can be built.
    monkeypatch.setattr(tens, "residuals", lambda points, *_: [None for _ in points])
    costs += [5.0]
    assert search(tens, FREE).finish(LONG).cost == 5.0
    tens.close()
