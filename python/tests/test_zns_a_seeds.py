"""The predictions of the real drive by seed: what is summed up, and that the seed counts."""

from __future__ import annotations

import statistics

from reprieve.calibration import Effort, Evaluator, Task
from reprieve_studies.zns_a import seeds
from reprieve_studies.zns_a.measurements import measurements

EFFORT = Effort(2_000, 1 << 20, 1.0)


def test_each_seed_has_its_errors() -> None:
    _, held = measurements()
    some = [condition for condition in held if "write10-" in condition.name][:2]
    assert len(some) == 2
    found = seeds.run(some, EFFORT, (1, 2))
    assert found["seeds"] == [1, 2]
    assert found["p99.99"]["median"][0] != found["p99.99"]["median"][1]
    # The median by hand, of what is measured against what is simulated.
    task = Task((), start="zns-a")
    evaluator = Evaluator(task.base(), task.weights)
    (terms,) = evaluator.compare([{}], some, EFFORT)
    evaluator.close()
    assert terms is not None
    off = [
        abs(term.simulated / term.measured - 1)
        for term in terms
        if term.direction == "read" and term.what in ("p50", "p90", "p99")
    ]
    assert len(off) == 6
    assert found["body"]["median"][0] == statistics.median(off)
