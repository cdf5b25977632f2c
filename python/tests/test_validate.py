"""`reprieve validate`: its formulas, its statistics, and that wrong models fail."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reprieve.cli import main
from reprieve.simulation import Watch
from reprieve_studies import theory as validation
from reprieve_studies.theory import amplification, batches, transforms
from reprieve_studies.theory import formulas as theory
from reprieve_studies.theory.checks import Check, Experiment, Family
from reprieve_studies.theory.families import FAMILIES
from reprieve_studies.theory.formulas import Class, Suspension, with_load
from reprieve_studies.theory.models import Sets
from reprieve_studies.theory.statistics import (
    BATCHES,
    Estimate,
    Series,
    Tail,
    batch_means,
    ratio,
)
from reprieve_studies.verdicts import AT_LEAST

from .die_by_hand import play
from .drive import Reprieve
from .vega import check_charts

READS, WRITES = with_load(0.15, 30.0), with_load(0.45, 160.0)
MANY = 10_000_000
"""Phases of an operation that can stop anywhere."""


# ---- Formulas, against numbers of a table that was made without this program --------------------


@pytest.mark.parametrize(("load", "wait"), [(0.3, 6.429), (0.6, 22.50), (0.9, 135.0)])
def test_wait_of_reads_alone(load: float, wait: float) -> None:
    assert theory.fifo_wait(with_load(load, 30.0)) == pytest.approx(wait, abs=0.001)


def test_waits_of_two_classes() -> None:
    assert theory.fifo_wait(READS, WRITES) == pytest.approx(95.62, abs=0.01)
    reads, writes = theory.cobham_waits(READS, WRITES)
    assert (reads, writes + 160) == pytest.approx((45.00, 272.5), abs=0.01)


def test_suspension_without_cost() -> None:
    model = Suspension(READS, WRITES, MANY)
    assert model.read_wait() + 30 == pytest.approx(32.65, abs=0.01)
    assert theory.preemptive_latency(READS, WRITES) == pytest.approx(300.7, abs=0.1)
    assert model.suspensions() == pytest.approx(0.800, abs=0.001)
    assert model.share() == pytest.approx(1 - math.exp(-0.8), abs=1e-6)
    assert model.completion() == pytest.approx(160 / 0.85, abs=0.001)


@pytest.mark.parametrize(
    ("length", "between", "segments", "completion"),
    [(20, 400, 1, 22.56), (140, 400, 1, 184.4), (1500, 400, 1, 18269), (3000, 1000, 6, 4048)],
)
def test_operations_that_begin_again(
    length: float, between: float, segments: int, completion: float
) -> None:
    got = theory.repeat_completion(length, 40.0, 1 / between, segments)
    assert got == pytest.approx(completion, rel=3e-4)


@pytest.mark.parametrize(("between", "completion"), [(400.0, 2720), (100.0, 15517)])
def test_progress_with_a_loss(between: float, completion: float) -> None:
    # Reads whose busy period is 40 µs: service B / (1 + λB).
    reads = Class(1 / between, 40 / (1 + 40 / between))
    assert theory.busy_period(reads) == pytest.approx(40)
    model = Suspension(reads, Class(0.0, 1500.0), MANY, restore=200.0, atomic=False)
    assert model.completion() == pytest.approx(completion, rel=2e-4)


def test_rest_of_a_phase() -> None:
    assert theory.phase_wait(20, 8) == pytest.approx(8.2857, abs=1e-4)
    assert theory.phase_wait(20, 24) == pytest.approx(11.0909, abs=1e-4)
    assert theory.cancel_wait(20, 8, 4) == pytest.approx(3.4286, abs=1e-4)
    assert theory.cancel_wait(20, 24, 4) == pytest.approx(3.6364, abs=1e-4)


def test_closed_networks_and_channels() -> None:
    for depth, share in ((16, 0.1119), (64, 0.3351)):
        assert theory.closed_throughput(128, depth, 1.0) / 128 == pytest.approx(share, abs=1e-4)
    assert [theory.channel_share(dies, 20, 140) for dies in (1, 4, 8, 9)] == [0.125, 0.5, 1, 1]


def test_what_is_left_of_an_interval() -> None:
    # Rare arrivals are uniform: half, and a third of the square. Frequent ones come at once.
    assert theory.remainder(1e-5, 6.0) == pytest.approx((3.0, 12.0), rel=1e-4)
    assert theory.remainder(100.0, 6.0) == pytest.approx((5.99, 5.99**2), rel=1e-4)
    assert theory.remainder(1.0, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("alpha", "fifo", "greedy", "two", "ten"),
    [
        (1.07, 7.817, (7.010, 7.392, 7.597, 7.760), 10.28, 7.323),
        (1 / 0.93, 7.318, (6.616, 6.945, 7.124, 7.268), 9.635, 6.894),
        (1 / 0.85, 3.519, (3.354, 3.434, 3.476, 3.508), 4.648, 3.464),
        (1.28, 2.481, (2.403, 2.441, 2.461, 2.476), 3.245, 2.471),
        (1.30, 2.364, (2.293, 2.328, 2.346, 2.360), 3.085, 2.357),
        (1 / 0.7, 1.876, (1.833, 1.854, 1.865, 1.873), 2.413, 1.880),
    ],
)
def test_write_amplification(
    alpha: float, fifo: float, greedy: tuple[float, ...], two: float, ten: float
) -> None:
    assert amplification.fifo(alpha) == pytest.approx(fifo, rel=3e-4)
    for pages, known in zip((64, 128, 256, 1024), greedy, strict=True):
        assert amplification.greedy(alpha, pages) == pytest.approx(known, rel=3e-4)
    # The table has the victim taken from which nothing is gained.
    assert amplification.d_choices(alpha, 64, 2, again=False) == pytest.approx(two, rel=3e-4)
    assert amplification.d_choices(alpha, 64, 10, again=False) == pytest.approx(ten, rel=3e-4)


def test_one_choice_that_is_drawn_again() -> None:
    # A block that is filled again and again until it is drawn: by hand for one page a block. Each
    # victim is without its page, and gains one: no page is ever moved.
    assert amplification.d_choices(1.5, 1, 1) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "model",
    [
        Suspension(READS, WRITES, MANY, entry=10.0, restore=3.0),
        Suspension(READS, WRITES, MANY, entry=20.0, restore=80.0),
        Suspension(READS, WRITES, MANY, 20.0, 80.0, False, entry_of_restore=20.0),
        Suspension(READS, WRITES, MANY, 10.0, 80.0, False),
    ],
)
def test_suspension_at_a_cost_is_as_played_by_hand(model: Suspension) -> None:
    played = play(model, 150_000, seed=5)
    for values, formula in (
        (played.read_waits, model.read_wait()),
        (played.completions, model.completion()),
    ):
        found = batch_means(np.array(values))
        assert found.error is not None and found.error < 0.015 * formula
        assert abs(found.mean - formula) < 4 * found.error
    suspensions = played.suspensions / len(played.completions)
    assert suspensions == pytest.approx(model.suspensions(), rel=0.03)


def test_latency_of_the_preempted_is_as_played_by_hand() -> None:
    played = play(Suspension(READS, WRITES, MANY), 150_000, seed=6)
    found = batch_means(np.array(played.write_latencies))
    formula = theory.preemptive_latency(READS, WRITES)
    assert found.error is not None and abs(found.mean - formula) < 4 * found.error < 0.1 * formula


# ---- Distributions, against other formulas -------------------------------------------------------


def crommelin(reads: Class, time: float) -> float:
    """P(W > time) of M/D/1 (Crommelin 1932), in the form of Franx that has no cancellation."""
    load, k = reads.load, math.floor(time / reads.service) + 1
    # P(n in the system at a departure), by the recursion of the embedded Markov chain.
    come = [math.exp(-load) * load**j / math.factorial(j) for j in range(k + 1)]
    at = [1 - load]
    for n in range(k):
        known = at[0] * come[n] + sum(at[j] * come[n - j + 1] for j in range(1, n + 1))
        at.append((at[n] - known) / come[0])
    # Not more than n + 1 in the system: not more than n in the queue.
    at_most = [sum(at[: n + 2]) for n in range(k)]
    x = reads.rate * (k * reads.service - time)
    terms = (at_most[k - 1 - j] * x**j / math.factorial(j) for j in range(k))
    return 1 - math.exp(-x) * sum(terms)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99, 0.999, 0.9999])
@pytest.mark.parametrize("load", [0.6, 0.8])
def test_inversion_gives_what_crommelin_sums(load: float, level: float) -> None:
    reads = with_load(load, 30.0)
    time = transforms.percentile(transforms.fifo(reads), level)
    assert crommelin(reads, time) == pytest.approx(1 - level, rel=2e-3)


def test_means_of_the_transforms_are_those_of_the_closed_forms() -> None:
    cost = Suspension(READS, with_load(0.25, 160.0), 1000, 10.0, 60.0)
    paused = transforms.Paused(cost.reads, cost.writes, 1000, 10.0, 60.0)
    means = [
        (transforms.fifo(READS, WRITES), theory.fifo_wait(READS, WRITES)),
        (transforms.priority_first(READS, WRITES), theory.cobham_waits(READS, WRITES)[0]),
        (transforms.priority_second(READS, WRITES), theory.cobham_waits(READS, WRITES)[1]),
        (transforms.resumed(READS, WRITES), theory.preemptive_latency(READS, WRITES)),
        (paused.read_wait(), cost.read_wait()),
        (paused.completion(), cost.completion()),
    ]
    for transform, mean in means:
        (near_zero,) = transform(np.array([1e-6 + 0j]))
        assert (1 - near_zero.real) / 1e-6 == pytest.approx(mean, rel=1e-3)


def test_reads_that_are_held_for_no_time_are_those_of_ideal_suspension() -> None:
    held = batches.read_wait(READS, WRITES, 1000, pairs=False, oldest=0.0)
    ideal = transforms.Paused(READS, WRITES, 1000).read_wait()
    # Without the rest of a phase of 0.16 µs.
    for level in (0.9, 0.99, 0.999):
        ours, other = (transforms.percentile(each, level) for each in (held, ideal))
        assert ours == pytest.approx(other, abs=0.16)


def test_percentile_of_independent_samples() -> None:
    # Exponential of mean 1: p90 is ln 10, and its error is √(0.9 · 0.1 / n) / 0.1.
    sample = Tail()
    sample.begin()
    sample.add(np.random.default_rng(4).exponential(size=400_000))
    (found,) = sample.percentiles([0.9])
    error = 3 / math.sqrt(found.samples)
    assert found.mean == pytest.approx(math.log(10), abs=4 * error)
    assert found.error == pytest.approx(error, rel=0.5)


def test_tail_of_one_run_is_that_of_all_its_samples() -> None:
    values = np.random.default_rng(5).exponential(size=200_000)
    whole, tail = Tail(), Tail(floor=4.0)
    for each in (whole, tail):
        each.begin()
        for piece in np.array_split(values, 77):
            each.add(piece)
    levels = [0.99, 0.999, 0.9999]
    assert tail.percentiles(levels) == whole.percentiles(levels)


def test_tail_of_several_runs_leaves_the_start_of_each_out() -> None:
    # Of each run the first twentieth is far too high; what is left are the whole numbers up to
    # 190,000, of which 0.1 % are above 189,810.
    order = np.random.default_rng(6).permutation(190_000) + 1.0
    tail = Tail(floor=189_000.0)
    for part in np.array_split(order, 20):
        tail.begin()
        tail.add(np.concatenate([np.full(500, 1e9), part]))
    (found,) = tail.percentiles([0.999])
    assert (found.mean, found.samples) == (189_810.0, 190_000)


def test_tail_says_no_more_than_its_floor() -> None:
    tail = Tail(floor=10.0)
    tail.begin()
    tail.add(np.arange(10_000.0) % 10)
    assert tail.percentiles([0.99]) == [Estimate(10.0, 0.0, 9_500)]
    check = Check("c", 12.0, "µs", "q", "s")
    assert check.verdict(tail.percentiles([0.99])[0]).reproduced is False


# ---- Statistics ----------------------------------------------------------------------------------


def test_batch_means_leave_the_start_out() -> None:
    # Of 2000 values the first hundred are left out; the rest are forty batches of 47.
    values = np.concatenate([np.full(100, 1e6), np.tile([1.0, 3.0], 950)])
    found = batch_means(values)
    assert found.samples == 40 * 47
    assert found.mean == pytest.approx(2.0, abs=0.001)
    # Means of 47 are by turns 2 − 1/47 and 2 + 1/47.
    assert found.error == pytest.approx(1 / 47 * math.sqrt(40 / 39) / math.sqrt(40))


def test_error_of_correlated_values() -> None:
    # x' = 0.9 x + e: the mean of n has a variance of 1 / (1 − 0.9)² / n for n → ∞. Of forty batches
    # the standard deviation is known to a ninth (1/√78): half is four and a half times that.
    noise = np.random.default_rng(1).normal(size=400_000)
    values = np.empty_like(noise)
    value = 0.0
    for index, each in enumerate(noise):
        value = 0.9 * value + each
        values[index] = value
    found = batch_means(values)
    assert found.error == pytest.approx(10 / math.sqrt(found.samples), rel=0.5)
    series = Series()
    for piece in np.array_split(values, 977):
        series.add(piece)
    blocks = series.estimate()
    assert found.error is not None
    assert blocks.mean == pytest.approx(found.mean, abs=0.3 * found.error)
    assert blocks.error == pytest.approx(found.error, rel=0.3)


def test_too_few_values_have_no_mean() -> None:
    assert math.isnan(batch_means(np.ones(BATCHES)).mean)
    assert math.isnan(Series().estimate().mean)
    assert math.isnan(ratio(np.ones(3), np.ones(3)).mean)


def test_ratio_of_counts() -> None:
    # Exactly three to one, whatever the pieces: no error.
    wholes = np.random.default_rng(2).integers(1, 9, 400).astype(float)
    exact = ratio(3 * wholes, wholes)
    assert exact.mean == pytest.approx(3.0) and exact.error == pytest.approx(0.0, abs=1e-12)
    # The first twenty are left out, and what does not fill forty batches of nine.
    assert exact.samples == wholes[20:380].sum()
    # Poisson counts of mean 2 for each of 400 pieces: an error of √(2 / 400) = 0.07.
    parts = np.random.default_rng(3).poisson(2.0, 400).astype(float)
    found = ratio(parts, np.ones(400))
    assert found.error == pytest.approx(math.sqrt(2 / 400), rel=0.45)


# ---- Verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "error", "more", "reproduced"),
    [
        (100.9, 0.4, {}, True),  # within three errors and within 1 %
        (101.1, 0.4, {}, False),  # within three errors, beyond 1 %
        (100.7, 0.2, {}, False),  # within 1 %, beyond three errors
        (100.9, 0.51, {}, None),  # the error is above 0.5 %
        (104.0, 1.0, {}, False),  # as wide, and all the same wrong
        (100.9, None, {}, True),
        (101.1, None, {}, False),
        (100.4, 0.05, {"tolerance_share": 0.005, "is_limit": True}, True),
        (100.6, 0.05, {"tolerance_share": 0.005, "is_limit": True}, False),
        (100.1, 0.3, {"tolerance_share": 0.005, "is_limit": True}, None),
        (150.0, 0.2, {"relation": AT_LEAST}, True),
        (99.0, 0.2, {"relation": AT_LEAST}, False),
        (math.nan, math.nan, {}, None),
    ],
)
def test_verdict(
    mean: float, error: float | None, more: dict[str, Any], reproduced: bool | None
) -> None:
    check = Check("it is a hundred", 100.0, "µs", "it", "nowhere", **more)
    assert check.verdict(Estimate(mean, error, 1000)).reproduced is reproduced


# ---- Wrong models fail ---------------------------------------------------------------------------


@cache
def experiments_of(family: str) -> Sequence[Experiment]:
    """Return those of a quick run; to invert their transforms takes longer than to run them."""
    return next(each for each in FAMILIES if each.name == family).experiments(True)


def experiment_of(family: str, label: str) -> Experiment:
    """Return the experiment of a quick run whose label has these words."""
    found = experiments_of(family)
    several = "runs" in label
    (one,) = [each for each in found if label in each.label and several == ("runs" in each.label)]
    return one


def unwatched(_share: float | None, _requests: int) -> None:
    """Nobody watches."""


INSIDE = "IPC, reset at the end of the phase; verify of 8"
IPC = {"suspension.program": "ipc"}


@pytest.mark.parametrize(
    ("family", "label", "sets", "quantities"),
    [
        # In order of arrival in place of read priority, and the reverse.
        ("priority", "RPS", {"policy": "fifo"}, {"read wait", "write wait"}),
        ("fifo", "M/G/1 at 0.6", {"policy": "rps"}, {"read wait", "write wait"}),
        # A restore, or the time to stop, is forgotten.
        ("cost", "atomic", {"timing.t_buffer_us": 0}, {"read wait", "completion", "suspensions"}),
        ("cost", "atomic", {"timing.t_suspend_overhead_us": 0}, {"read wait", "completion"}),
        # The other kind of restore.
        ("cost", "atomic", {"suspension.restore": "interruptible"}, {"read wait", "completion"}),
        ("starvation", "interruptible", {"suspension.restore": "atomic"}, {"completion"}),
        # An erase that goes on where it was, or from the start.
        ("repeat", "400 µs", {"suspension.erase_resume": "exact"}, {"completion"}),
        ("repeat", "1200 µs", {"suspension.erase_resume": "restart"}, {"completion"}),
        # An erase that stops at once, and one that stops between other segments.
        ("deferred", "250", {"suspension.erase_mode": "immediate"}, {"read wait"}),
        ("deferred", "250", {"timing.erase_segments": 5}, {"read wait", "longest"}),
        # The reset outside the phase, and the other scheme.
        ("phases", INSIDE, {"suspension.reset_inside_phase": False}, {"read wait"}),
        ("phases", "IPS: to the end of the phase; verify of 8", IPC, {"read wait"}),
        # A service, a pause, a threshold or an age that is wrong moves percentiles.
        ("distributions", "in order", {"timing.t_read_us": 27}, {"read wait p90"}),
        ("distributions", "read priority", {"policy": "fifo"}, {"read wait p90", "read wait p99"}),
        ("distributions", "without cost", {"policy": "rps"}, {"write latency p50"}),
        ("distributions", "to stop", {"timing.t_buffer_us": 50}, {"completion p50"}),
        ("distributions", "the last", {"suspension.min_remaining_us": 40}, {"read wait p99"}),
        ("distributions", "of waiting", {"suspension.batch.oldest_us": 82}, {"read wait p90"}),
        ("distributions", "µs, 6 runs", {"timing.t_read_us": 31}, {"read wait p99.99"}),
        ("distributions", "two reads", {"suspension.batch.reads": 3}, {"read wait p99.9"}),
        # Suspension that is off.
        ("ideal", "ideal suspension", {"policy": "rps"}, {"read wait", "suspensions", "share"}),
        # Another victim, and spare pages that are not there.
        ("waf", "greedy, 15%", {"ftl.gc_victim": "fifo"}, {"amplification"}),
        ("waf", "greedy, 15%", {"ftl.gc_hard_free_blocks": 5}, {"amplification"}),
        # Constant service, and one die fewer.
        ("closed", "32 reads outstanding, exponential", {"timing.read_law": "fixed"}, {"between"}),
        ("closed", "32 reads outstanding, exponential", {"geometry.channels": 15}, {"between"}),
        ("saturation", "4 dies", {"timing.t_bus_us": 21}, {"busy"}),
    ],
)  # fmt: skip
def test_wrong_model_fails(
    family: str, label: str, sets: Mapping[str, Any], quantities: set[str]
) -> None:
    # Two million requests are for what is right to be sure; what is wrong shows sooner.
    fewer = {"workload.requests": 400_000} if family == "distributions" else {}
    verified = experiment_of(family, label).run(unwatched, {**sets, **fewer})
    failed = {each.check.quantity for each in verified if each.verdict.reproduced is False}
    assert failed >= quantities


# ---- The command ---------------------------------------------------------------------------------


@pytest.mark.seconds(89)
def test_quick_run_agrees_and_writes_everything(reprieve: Reprieve, tmp_path: Path) -> None:
    done = reprieve("validate", "--quick", "--out", "o")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    rows = json.loads((tmp_path / "o" / "verdicts.json").read_text())
    assert len(rows) == len({row["claim"] for row in rows})
    for row in rows:
        assert row["reproduced"] is True, row
        assert set(row) >= {"claim", "source", "paper", "ours", "difference", "tolerance", "note"}
        assert row["difference"] == pytest.approx(row["ours"] - row["paper"])
    figures = {path.name for path in (tmp_path / "o" / "figures").iterdir()}
    names = [family.name for family in FAMILIES]
    assert figures == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}
    check_charts(tmp_path / "o" / "report.html")
    page = (tmp_path / "o" / "report.html").read_text()
    assert all(family.title in page for family in FAMILIES)
    assert f"{len(rows)} agree, 0 differ" in done.stdout


class Fixed:
    """A model that has measured this."""

    def __init__(self, mean: float) -> None:
        self._mean = mean

    def measure(self, _watch: Watch, _sets: Sets) -> dict[str, Estimate]:
        """Return it."""
        return {"it": Estimate(self._mean, 0.1, 1000)}


@pytest.mark.parametrize(("mean", "status"), [(100.0, 0), (102.0, 1)])
def test_exit_status_says_whether_all_agree(
    mean: float,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = FAMILIES[0]
    check = Check("it is a hundred", 100.0, "µs", "it", "nowhere")
    model: Any = Fixed(mean)
    family = Family(
        first.name,
        first.title,
        (),
        first.axes,
        lambda _quick: [Experiment("it", model, [check])],
        first.curves,
    )
    monkeypatch.setattr(validation, "FAMILIES", (family,))
    assert main(["validate", "--out", str(tmp_path / "o")]) == status
    assert ("1 differ" in capsys.readouterr().out) == (status == 1)
    assert json.loads((tmp_path / "o" / "verdicts.json").read_text())[0]["ours"] == mean


def test_place_that_cannot_be_written_is_named(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = reprieve("validate", "--quick", "--out", "file")
    assert done.returncode == 2
    assert done.stderr.startswith("file: cannot write here") and done.stderr.count("\n") == 1
