"""The search on a drive of formulas, what is simulated for it, and what a killed run leaves."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reprieve.calibration import evaluate
from reprieve.calibration.evaluate import Evaluator
from reprieve.calibration.identify import informed
from reprieve.calibration.least_squares import polish
from reprieve.calibration.measured import Condition, Job, Measured
from reprieve.calibration.objective import Term, Weights
from reprieve.calibration.parameters import PROGRAM, STEPS, Parameter, Value
from reprieve.calibration.ranges import (
    DIES,
    READS,
    of_programs,
    shallowest,
    shows_when_shallow,
)
from reprieve.calibration.replay import Effort, Simulated, stripe_bytes, times
from reprieve.calibration.search import QUICK, Search
from reprieve.parallel import silent

SHARES = (*(each / 50 for each in range(1, 50)), 0.99, 0.995, 0.999)
"""So close that some are where reads just begin to meet programs. From those above alone, a longer
program of as many steps, whose suspension costs less, could not be told."""
TYPES = [f"timing.t_read_us_by_type[{each}]" for each in range(3)]
TRUTH: dict[str, Value] = {
    **dict(zip(TYPES, (47.0, 51.0, 62.0), strict=True)),
    "timing.t_bus_us": 26.0,
    "host.t_controller_us": 9.0,
    "host.t_controller_write_us": 23.0,
    DIES: "4x8",
    "geometry.planes_per_die": 2,
    READS: 2,
    PROGRAM: 800.0,
    STEPS: 19.0,
    "timing.t_suspend_overhead_us": 20.0,
    "timing.t_buffer_us": 30.0,
}


def job(op: str, size: int, depth: int, iops: float, rate: str = "") -> Job:
    """Return a job with the options that a search looks at."""
    options = {"rw": op, "bs": str(size), "iodepth": str(depth)}
    options |= {"rate": rate} if rate else {}
    measured = Measured(10**6, iops, "lat", {50.0: 80e3, 99.0: 90e3}, 80e3, 60e3, 99e3)
    return Job(op, options, {op.removeprefix("rand"): measured})


def condition(name: str, *jobs: Job) -> Condition:
    """Return a run of fio."""
    return Condition(name, Path(), "", jobs)


def mixed(depth: int, mib_per_s: int) -> Condition:
    """Return reads beside writes of a rate that the drive keeps up with."""
    fill = job("write", 131072, 1, 8.0 * mib_per_s, f",{mib_per_s}m")
    return condition(f"mixed-{depth}-{mib_per_s}", fill, job("randread", 4096, depth, 11e3 * depth))


CONDITIONS = [
    *(
        condition(f"read-{kib}-{depth}", job("randread", kib << 10, depth, 1e4 * depth))
        for kib in (4, 16)
        for depth in (1, 64)
    ),
    *(mixed(depth, rate) for depth in (1, 64) for rate in (50, 800)),
]


def formula(values: dict[str, Value], of: Condition, share: float) -> tuple[float, float]:
    """Return a percentile of the reads and the latency of the writes of a made-up drive, in us.

    A read finds its page type by thirds, queues for its die and for the controller, and with the
    share of time that programs take waits for the end of one's step, the suspension, and for those
    of its die that come first.
    """
    read = of.jobs[-1]
    depth, size = int(read.options["iodepth"]), int(read.options["bs"])
    number = {key: float(value) for key, value in values.items() if isinstance(value, (int, float))}
    channels, _, each = str(values[DIES]).partition("x")
    dies = int(channels) * int(each)
    sense_us = number[TYPES[min(int(3 * share), 2)]]
    bus_us = number["timing.t_bus_us"] * size / 16384
    queued = (depth - 1) / dies * -math.log(1 - share)
    latency_us = number["host.t_controller_us"] + sense_us + bus_us
    latency_us += queued * (sense_us + bus_us * int(each) / 8)
    if len(of.jobs) == 1:
        return latency_us, 0.0
    planes = number["geometry.planes_per_die"]
    rate = of.jobs[0].measured["write"].iops * 131072
    busy = rate * number[PROGRAM] * 1e-6 / (dies * planes * 49152)
    met = max(share - (1 - busy), 0.0) / busy
    step_us = number[PROGRAM] / number[STEPS]
    reads = number.get(READS, 99.0)
    behind = math.ceil(queued / reads) * (number["timing.t_buffer_us"] + step_us)
    waits_us = number["timing.t_suspend_overhead_us"] + met * step_us + behind
    write_us = number["host.t_controller_write_us"] + 50
    return latency_us + (waits_us if met else 0.0), write_us


class Formulas(Evaluator):
    """Compares with a drive of formulas in place of the simulator."""

    def compare(
        self, points: Sequence[dict[str, Value]], conditions: Sequence[Condition], effort: Effort
    ) -> list[list[Term] | None]:
        """Return terms of 3 % each."""
        self.simulated += len(points) * len(conditions)
        return [self._terms(point, conditions) for point in points]

    def _terms(self, point: dict[str, Value], conditions: Sequence[Condition]) -> list[Term]:
        found = []
        for each in conditions:
            for share in SHARES:
                truth, ours = (formula(values, each, share) for values in (TRUTH, point))
                what = f"p{100 * share:g}"
                found.append(Term(each.name, 1, "read", what, 1e3 * truth[0], 1e3 * ours[0], 0.03))
            if truth[1]:
                where = (each.name, 0, "write", "p50")
                found.append(Term(*where, 1e3 * truth[1], 1e3 * ours[1], 0.03))
        return found


def parameters() -> list[Parameter]:
    """Return ranges as they are by default, and choices that can be told apart."""
    return [
        *(Parameter(key, 20, 90, guess=50 + 10 * place) for place, key in enumerate(TYPES)),
        Parameter("timing.t_bus_us", 10, 50, guess=35),
        Parameter("host.t_controller_us", 2, 30, guess=12),
        Parameter(DIES, choices=("4x4", "4x8", "8x4", "8x8")),
        Parameter("geometry.planes_per_die", choices=(1, 2, 4)),
        Parameter(READS, choices=(1, 2, 4, 8, None)),
        Parameter("host.t_controller_write_us", 0.5, 60),
        Parameter(PROGRAM, 100.0, 10_000.0),
        Parameter(STEPS, 2, 48, guess=18),
        Parameter("timing.t_suspend_overhead_us", 0.3, 100, guess=20),
        Parameter("timing.t_buffer_us", 0.3, 150, guess=20),
    ]


def test_programs_of_a_drive_of_formulas_come_back() -> None:
    """The truth is at sum 0; programs too short whose suspension costs more are a valley beside it.

    Planes and the length of a program go together in these formulas, as they do in a drive: what is
    told is their ratio, and that of length and steps.
    """
    evaluator = Formulas({"device": "tlc-nvme"}, Weights())
    found = Search(CONDITIONS, parameters(), {}, evaluator, QUICK, silent).run()
    evaluator.close()
    values = {key: value for key, value in found.values.items() if isinstance(value, (int, float))}
    assert found.cost < 0.01
    assert (found.values[DIES], found.values[READS]) == ("4x8", 2)
    ratio = values[PROGRAM] / values["geometry.planes_per_die"]
    assert ratio == pytest.approx(400, rel=0.02)
    assert values[PROGRAM] / values[STEPS] == pytest.approx(800 / 19, rel=0.02)
    for key in ("timing.t_suspend_overhead_us", "timing.t_buffer_us", "host.t_controller_write_us"):
        truth = TRUTH[key]
        assert isinstance(truth, float)
        assert values[key] == pytest.approx(truth, rel=0.05), key


def test_shallow_loads_come_first() -> None:
    """Loads of one read at a time, or of the least depth; what shows there."""
    names = [each.name for each in shallowest(CONDITIONS)]
    assert names == ["read-4-1", "read-16-1", "mixed-1-50", "mixed-1-800"]
    deep = [mixed(4, 50), mixed(8, 50), condition("fill", job("write", 4096, 1, 10))]
    assert [each.name for each in shallowest(deep)] == ["mixed-4-50", "fill"]
    shown = {each.key for each in parameters() if shows_when_shallow(each)}
    assert shown == {
        *(*TYPES, "timing.t_bus_us", "geometry.planes_per_die", "host.t_controller_write_us"),
        *(PROGRAM, STEPS, "timing.t_suspend_overhead_us"),
    }
    assert len(of_programs(parameters())) == 7


def test_whole_stripes_are_written() -> None:
    """A wordline of each plane of 32 dies is 3 MiB; beside deep reads one such stripe will do."""
    values = {"geometry.channels": 8, "geometry.dies_per_channel": 4, "geometry.planes_per_die": 2}
    assert stripe_bytes(values) == 3 << 20
    assert stripe_bytes({"geometry.channels": 8}) == 1
    slow = condition("slow", job("write", 131072, 1, 80, ",10m"), job("randread", 4096, 64, 1e5))
    # 4,000 reads take 40 ms, and eight times as many 320: that is nearest to one stripe in 300 ms.
    ramp_s, runtime_s = times(slow, Effort(4_000, 8 << 20, 3.0), 3 << 20)
    assert runtime_s == pytest.approx(0.3)
    # Two stripes would be 600 ms: no longer than a fourth of what counts, and a little.
    assert ramp_s == pytest.approx(0.1)
    fast = condition("fast", job("write", 131072, 1, 8000, ",1000m"), job("randread", 4096, 1, 1e4))
    # 400 ms of reads, in which 133 stripes are written; the first two are not counted.
    ramp_s, runtime_s = times(fast, Effort(4_000, 8 << 20, 3.0), 3 << 20)
    assert runtime_s == pytest.approx(133 * 0.003)
    assert ramp_s == pytest.approx(0.02 + runtime_s / 4)
    # A drive that writes less than it is allowed to has a buffer to fill.
    short = condition(
        "short", job("write", 131072, 1, 7000, ",1000m"), job("randread", 4096, 1, 1e5)
    )
    assert times(short, Effort(4_000, 1 << 20, 3.0), 3 << 20)[0] == pytest.approx(0.1)


def test_deep_reads_are_simulated_for_longer() -> None:
    """20,000 reads at 100,000 a second are 200 ms; at twice a depth of 16 twice that.

    Four times that is the most; beside writes what is written decides.
    """
    for depth, runtime_s in ((1, 0.2), (16, 0.2), (32, 0.4), (64, 0.8), (256, 0.8)):
        alone = condition("alone", job("randread", 4096, depth, 1e5))
        assert times(alone, Effort(20_000))[1] == pytest.approx(runtime_s)
    beside = condition(
        "beside", job("write", 131072, 1, 800, ",100m"), job("randread", 4096, 256, 1e5)
    )
    assert times(beside, Effort(20_000, 1 << 20))[1] == pytest.approx(0.2, rel=0.01)


def test_reads_alone_are_not_simulated_for_every_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the same whatever a program takes; and what a killed run left is passed over."""
    asked = []

    def predict(of: Condition, _base: Any, values: Any, *_more: Any) -> Any:
        asked.append((of.name, values.get(PROGRAM)))
        return {
            (place, direction): Simulated(9, 5.0, {50.0: 80e3})
            for place, each in enumerate(of.jobs)
            for direction in each.measured
        }

    monkeypatch.setattr(evaluate, "predict", predict)
    # All of it is one segment, however slow the machine is.
    monkeypatch.setattr("reprieve.experiments.store._FLUSH_S", 60.0)
    store = tmp_path / "fit"
    some = [CONDITIONS[0], mixed(1, 50)]
    points = [{**TRUTH, PROGRAM: total_us} for total_us in (700.0, 800.0)]
    first = Evaluator({"device": "tlc-nvme"}, Weights(), store, 1)
    first.compare(points, some, Effort(100))
    first.close()
    assert sorted(asked, key=str) == [
        ("mixed-1-50", 700.0),
        ("mixed-1-50", 800.0),
        ("read-4-1", None),
    ]
    # A segment that lost its end is taken away, and its simulations are done again.
    (segment,) = store.glob("segments/*.parquet")
    segment.write_bytes(segment.read_bytes()[:-20])
    for simulated in (3, 0):
        again = Evaluator({"device": "tlc-nvme"}, Weights(), store, 1)
        again.compare(points, some, Effort(100))
        again.close()
        assert again.simulated == simulated


class Two(Evaluator):
    """A residual of at least 3 about a link of 1.2 GB/s, and in a narrow valley at 5 GB/s none."""

    def residuals(
        self, points: Sequence[dict[str, Value]], conditions: Sequence[Condition], effort: Effort
    ) -> list[NDArray[np.float64] | None]:
        """Return it, by the logarithm of the link."""
        found: list[NDArray[np.float64] | None] = []
        for point in points:
            link = math.log(float(str(point["host.link_bytes_per_s"])) / 1e9)
            wide, narrow = 3 + 4 * (link - 0.2) ** 2, 12 * (link - math.log(5))
            found.append(np.array([narrow if abs(narrow) < wide else wide]))
        return found


def test_a_second_guess_is_followed_though_it_is_worse_at_first() -> None:
    """3.7 GB/s are off by 12 ln(5 / 3.7) = 3.6, a link near 1.2 GB/s by 3: only steps tell."""
    reads = [condition("reads", job("randread", 4096, 16, 1e5))]
    costs = []
    for other in (None, 3.7e9):
        evaluator = Two({"device": "tlc-nvme"}, Weights())
        link = Parameter("host.link_bytes_per_s", 1e9, 8e9, guess=1.3e9, other_guess=other)
        costs.append(Search(reads, [link], {}, evaluator, QUICK, silent).reads_alone().cost)
        evaluator.close()
    assert costs == pytest.approx([4.5, 0], abs=0.01)


class Slow(Evaluator):
    """8x4 dies fit, and get there by a third a step; any others leave a rest of .1 at once."""

    def residuals(
        self, points: Sequence[dict[str, Value]], conditions: Sequence[Condition], effort: Effort
    ) -> list[NDArray[np.float64] | None]:
        """Return it: the cube of the logarithm of the link, over that where the search begins."""
        found: list[NDArray[np.float64] | None] = []
        for point in points:
            off = math.log(float(str(point["host.link_bytes_per_s"])) / 4e9) / math.log(2)
            found.append(np.array([2000 * off**3 if point[DIES] == "8x4" else 0.1]))
        return found


def test_reads_follow_each_number_of_dies_to_its_end() -> None:
    """A step of Gauss and Newton leaves (2/3)^3 of a cube: 9 % after two, and .006 % after eight.

    No point that is screened is as near as .1, which the others have from the beginning.
    """
    evaluator = Slow({"device": "tlc-nvme"}, Weights())
    link = Parameter("host.link_bytes_per_s", 1e9, 8e9, guess=2e9)
    dies = Parameter(DIES, choices=("4x4", "4x8", "8x4", "8x8"))
    reads = [condition("reads", job("randread", 4096, 16, 1e5))]
    found = Search(reads, [link, dies], {}, evaluator, QUICK, silent).reads_alone()
    evaluator.close()
    assert found.values[DIES] == "8x4"
    assert found.cost < 0.01**2


class Parabola(Evaluator):
    """One residual, u + 20 u², of the logarithm u of a program over 800 us."""

    def residuals(
        self, points: Sequence[dict[str, Value]], conditions: Sequence[Condition], effort: Effort
    ) -> list[NDArray[np.float64] | None]:
        """Return it, and one of the link that never changes."""
        off = [math.log(float(str(point[PROGRAM])) / 800) for point in points]
        return [np.array([each + 20 * each**2, 0.0]) for each in off]


def test_least_squares_take_more_than_one_short_step() -> None:
    """A step of 2 % is no end, though the point with a link of 2 GB/s is 22 long in logarithms.

    From u = 0.03 the first step of Gauss and Newton is -0.048 / 2.2 and leaves 0.8 %; two more
    leave nothing.
    """
    evaluator = Parabola({"device": "tlc-nvme"}, Weights())
    link = Parameter("host.link_bytes_per_s", 1e9, 4e9)
    total = Parameter(PROGRAM, 400, 1600)
    start: dict[str, Value] = {PROGRAM: 800 * math.exp(0.03), link.key: 2e9}
    found = polish(evaluator, [link, total], start, [], 6, Effort(100), lambda _done: None)
    evaluator.close()
    assert found.values[PROGRAM] == pytest.approx(800, rel=0.001)
    assert found.values[link.key] == pytest.approx(2e9)


def test_what_other_seeds_do_not_confirm_is_no_information() -> None:
    """By hand: slopes that are the same, that turn round, that stand out of noise too little."""
    same = np.array([[2.0, 0.0], [0.0, 1.0]])
    information, onto = informed([same, same])
    np.testing.assert_allclose(information, [[4, 0], [0, 1]])
    np.testing.assert_allclose(onto, np.eye(2))
    # Each alone has a square of 1 there; their product is -1.
    turned = np.array([[2.0, 0.0], [0.0, -1.0]])
    information, onto = informed([same, turned])
    np.testing.assert_allclose(information, [[4, 0], [0, 0]])
    np.testing.assert_allclose(onto, [[1, 0], [0, 0]])
    # Products 1 - 0.5 = 0.5; squares (2 + 1.25) / 2, of which 1.125 are noise: three standard
    # deviations over three rows are 3 x 1.125 / 1.73 = 1.95.
    first = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    second = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, -0.5]])
    information, _ = informed([first, second])
    np.testing.assert_allclose(information, [[4, 0], [0, 0]])
    # Forty times as many numbers that say the same: 20 stand out of 3 x 45 / 10.95 = 12.3.
    many = [np.vstack([each] * 40) for each in (first, second)]
    information, _ = informed(many)
    np.testing.assert_allclose(information, [[160, 0], [0, 20]])
