"""Runs that a calibration saves: drives filled again, slopes anew, keys without effect."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reprieve as rp
from reprieve.calibration.evaluate import Evaluator, expand
from reprieve.calibration.filled_drives import FilledDrives
from reprieve.calibration.hypotheses import ASSUMPTIONS, judge
from reprieve.calibration.least_squares import ROUGH, WIDE, Fit, Slopes, polish
from reprieve.calibration.objective import Term, Weights
from reprieve.calibration.parameters import PROGRAM, STEPS, Parameter, Value, overrides
from reprieve.calibration.ranges import DIES, READS
from reprieve.calibration.replay import Effort
from reprieve.calibration.search import QUICK, Search
from reprieve.parallel import silent

from .test_calibration_search import CONDITIONS, parameters

JOBS = """[fill]
rw=write
bs=128k
rate=,200m
[read]
rw=randread
bs=4k
iodepth=4
"""
LIMIT = "suspension.max_per_program"
POINT: dict[str, Value] = {
    DIES: "2x2",
    "geometry.planes_per_die": 2,
    "timing.t_bus_us": 20.0,
    PROGRAM: 900.0,
    STEPS: 9.0,
    READS: 2,
    "buffer.bytes": 2 << 20,
}


@pytest.mark.parametrize("precondition", ["sequential", "steady"])
def test_a_state_gives_what_filling_the_drive_gives(precondition: str, tmp_path: Path) -> None:
    """To the last bit, for other times and buffers; a drive in steady state is made anew."""
    base = {
        "device": "tlc-nvme",
        "geometry": {"blocks_per_plane": 16, "pages_per_block": 48},
        "ftl": {"over_provisioning": 0.5, "precondition": precondition},
        "workload": {},
    }
    jobs = tmp_path / "jobs.fio"
    jobs.write_text(f"[global]\ntime_based\nruntime=20ms\nsize=100%\nnorandommap=1\n{JOBS}")
    others: list[dict[str, Value]] = [{}, {PROGRAM: 1500.0, "buffer.bytes": 1 << 20, READS: None}]
    drives = FilledDrives()
    for changed in others:
        keys = {**overrides(expand({**POINT, **changed})), "seed": 3}
        found = drives.requests(base, keys, jobs)
        given: dict[str, Any] = {key.replace(".", "__"): value for key, value in keys.items()}
        whole = rp.run(base, requests=True, workload__fio=str(jobs), **given)
        assert len(found) > 100
        for column in ("arrival_ns", "completion_ns"):
            assert (found.array(column) == whole.column(column)).all()
    assert drives.filled == (1 if precondition == "sequential" else 2)
    # Another number of planes is another drive; so is another seed, which may draw bad blocks.
    keys = overrides(expand(POINT))
    for another in ({**keys, "geometry.planes_per_die": 1}, {**keys, "seed": 4}):
        before = drives.filled
        drives.requests(base, another, jobs)
        assert drives.filled == before + 1
    drives.close()


def test_slopes_account_for_the_step_that_was_taken() -> None:
    """By hand: a step of 2 changed the first residual by 3 where 2 was expected, the other not."""
    at_start = Slopes(np.zeros(2), np.array([1.0, 2.0]), np.eye(2))
    moved = at_start.moved(np.array([2.0, 0.0]), np.array([4.0, 2.0]))
    assert moved.by == pytest.approx(np.array([[1.5, 0.0], [0.0, 1.0]]))
    assert list(moved.at) == [2.0, 0.0]
    still = moved.moved(np.array([2.0, 0.0]), np.array([4.0, 2.0]))
    assert still.by == pytest.approx(moved.by)


FREE = [Parameter("a", 10, 200), Parameter("b", 10, 200)]


class Bowl(Evaluator):
    """Two residuals, bent a little, of the logarithms of two times; counts its points."""

    asked = 0

    def residuals(self, points: Any, conditions: Any, effort: Any) -> Any:
        """Return them."""
        self.asked += len(points)
        places = [np.log([float(point[key]) / 50 for key in ("a", "b")]) for point in points]
        return [np.array([2 * x + 0.3 * x * y, y + 0.2 * x * x]) for x, y in places]


def test_derivatives_once_in_three_steps_end_at_the_same_point() -> None:
    """Both residuals are 0 at 50 alone; between differences a step costs one point each."""
    for wide in (ROUGH, WIDE):
        asked = []
        for every in (1, 3):
            bowl = Bowl({"device": "tlc-nvme"}, Weights())
            start: dict[str, Value] = {"a": 80.0, "b": 30.0}
            found = polish(bowl, FREE, start, [], 12, Effort(9), lambda _done: None, every, wide)
            bowl.close()
            assert [found.values["a"], found.values["b"]] == pytest.approx([50.0, 50.0], rel=0.002)
            asked.append(bowl.asked)
        assert asked[1] < asked[0]


class Rough(Evaluator):
    """Three residuals of the logarithms of two times over 50, with ripples of 0.5 on each."""

    def residuals(self, points: Any, conditions: Any, effort: Any) -> Any:
        """Return them."""
        places = [np.log([float(point[key]) / 50 for key in ("a", "b")]) for point in points]
        smooth = [np.array([6 * x + 2 * y, 2 * x + 6 * y, 4 * x]) for x, y in places]
        phase = [np.array([150 * x, 150 * y, 110 * (x - y)]) for x, y in places]
        return [each + 0.5 * np.sin(at) for each, at in zip(smooth, phase, strict=True)]


@pytest.mark.parametrize("start_us", [(80, 30), (30, 80), (120, 100), (20, 25)])
def test_the_last_steps_get_over_ripples(start_us: tuple[float, float]) -> None:
    """Of two residuals, 8 u along x = y and 4 u across it, a ripple of 0.5 is at most 1/8 of u."""
    rough = Rough({"device": "tlc-nvme"}, Weights())
    start: dict[str, Value] = dict(zip("ab", map(float, start_us), strict=True))
    found = polish(rough, FREE, start, [], 8, Effort(9), lambda _done: None, 1, WIDE)
    if start_us == (120, 100):
        other = polish(rough, FREE, start, [], 8, Effort(9), lambda _done: None)
        assert float(str(other.values["a"])) > 60, "the others do as well"
    rough.close()
    assert [found.values["a"], found.values["b"]] == pytest.approx([50.0, 50.0], rel=0.13)


def test_assumptions_count_what_has_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without suspension neither steps nor its price do; slices begin where suspensions ended.

    BIC: twice the cost of 0.5 is nothing beside the parameters, each of which is ln(3 x 2 jobs).
    """
    seen: dict[str, tuple[set[str], list[str]]] = {}

    def begin(self: Search, _known: dict[str, Value], near: Any = ()) -> None:
        name = str(len(seen))
        self.shallow = [Fit({"from": name}, 0.0)]
        seen[name] = ({each.key for each in self.parameters}, [f.values["from"] for f in near])

    monkeypatch.setattr(Search, "begin_programs", begin)
    monkeypatch.setattr(Search, "programs", lambda _self, known: Fit(known, 0.0))
    monkeypatch.setattr(Search, "reads_alone", lambda _self: Fit({"timing.t_bus_us": 20.0}, 0.0))

    class Same(Evaluator):
        def compare(self, points: Any, conditions: Any, effort: Any) -> Any:
            return [[Term("mixed", 0, "read", "p50", 80e3, 80e3, 0.03)] for _ in points]

    evaluator = Same({"device": "tlc-nvme"}, Weights())
    mixed = CONDITIONS[-1:]
    answer = judge(mixed, parameters(), {}, evaluator, QUICK, silent)
    evaluator.close()
    order = {each.name: str(place) for place, each in enumerate(ASSUMPTIONS)}
    of_suspension = {STEPS, "timing.t_suspend_overhead_us", "timing.t_buffer_us"}
    for name in ("none", "pages"):
        assert not seen[order[name]][0] & of_suspension
    assert seen[order["suspend"]][0] > of_suspension
    assert [seen[order[each.name]][1] for each in ASSUMPTIONS] == [[], [], [], [], ["2"]]
    counts = {each.assumption.name: each.parameters for each in answer.judged}
    assert counts["suspend"] - counts["none"] == 3
    assert counts["slices"] == counts["limit"] == counts["suspend"] + 1
    criteria = {each.assumption.name: each.criterion[0] for each in answer.judged}
    expected = {name: count * np.log(3 * 2) for name, count in counts.items()}
    assert criteria == pytest.approx(expected)


@pytest.mark.parametrize(
    ("shallow", "all_loads", "finished", "suspends"),
    [
        # Who waits is behind by 100 with the shallow loads alone: one fit decides.
        ({"none": 60, "pages": 55, "suspend": 2}, {"suspend": 6}, ["suspend"], True),
        # Deep loads put it behind; slices, which begin where it did, are ahead of all.
        (
            {"none": 20, "pages": 90, "suspend": 2, "slices": 3},
            {"suspend": 60, "none": 45, "slices": 4},
            ["suspend", "none", "slices"],
            True,
        ),
        # Who waits is ahead, and each suspension is behind by its shallow loads.
        (
            {"none": 3, "pages": 90, "suspend": 50, "slices": 50, "limit": 40},
            {"none": 5},
            ["none"],
            False,
        ),
    ],
)
def test_what_cannot_change_the_answer_is_not_fitted(
    shallow: dict[str, float],
    all_loads: dict[str, float],
    finished: list[str],
    suspends: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By hand, half sums of squares: their doubles differ by more than 20 and the parameters'."""
    done = []

    def name(search: Search) -> str:
        keys = {each.key for each in search.parameters if each.choices}
        if search.fixed.get("timing.wordline_pages") == 1:
            return "pages"
        if search.fixed["suspension.program"] == "none":
            return "none"
        return "slices" if READS in keys else "limit" if LIMIT in keys else "suspend"

    def begin(self: Search, _known: dict[str, Value], near: Any = ()) -> None:
        self.shallow = [Fit({}, shallow[name(self)])]

    def programs(self: Search, known: dict[str, Value]) -> Fit:
        done.append(name(self))
        return Fit({"name": done[-1]}, all_loads[done[-1]])

    monkeypatch.setattr(Search, "begin_programs", begin)
    monkeypatch.setattr(Search, "programs", programs)
    monkeypatch.setattr(Search, "reads_alone", lambda _self: Fit({}, 0.0))

    class Known(Evaluator):
        def residuals(self, points: Any, conditions: Any, effort: Any) -> Any:
            return [np.array([(2 * all_loads[str(point["name"])]) ** 0.5]) for point in points]

    evaluator = Known({"device": "tlc-nvme"}, Weights())
    answer = judge(CONDITIONS[-1:], parameters(), {}, evaluator, QUICK, silent, stops=True)
    evaluator.close()
    assert done == finished
    assert answer.suspends is suspends
    assert answer.is_least is (len(finished) == 1)
    assert answer.unfinished == 5 - len(finished)
