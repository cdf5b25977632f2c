"""Policies in Python: the same as built-in ones to the nanosecond, and what they do wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve import _native

from .drive import SMALL
from .own_policies import Always, Fifo, Patient, Rps, Threshold

# Full, so that blocks are collected while it runs.
BUSY = rp.Scenario.from_toml(SMALL).replace(
    scheduling__policy="rps",
    suspension__program="ipc",
    suspension__erase=True,
    workload__requests=3000,
    workload__read_fraction=0.6,
    workload__rate_iops=2500,
    buffer__bytes=131072,
    ftl__precondition="steady",
)
# Nothing is collected.
EMPTY = BUSY.replace(ftl__precondition="none", workload__requests=400)
STEPS = ["host_read after_us=100", "gc_read", "gc_program", "erase", "host_write", "resume"]


def found(result: rp.Result) -> tuple[Any, Any]:
    """Return all that a run gave but for the names of its policies and the time it took.

    Causes of waits are left out, too: a policy in Python says no, and not because of which limit.
    """
    summary = {key: part for key, part in result.summary.items() if key not in ("run", "blame")}
    rows = result.requests.to_pylist()
    return summary, [{k: v for k, v in row.items() if not k.startswith("by_")} for row in rows]


NEVER = {"suspension.policy": "threshold", "suspension.max_suspended_us": 0}
THRESHOLD = {
    "suspension.policy": "threshold",
    "suspension.min_remaining_us": 300,
    "suspension.max_suspended_us": 150,
}
FIFO = {"scheduling.policy": "fifo"}
RPS = {"scheduling.policy": "rps"}
MICROCODE = {"scheduling.policy": "microcode", "scheduling.steps": STEPS}


@pytest.mark.parametrize(
    ("scenario", "built_in", "own", "other"),
    [
        (BUSY, {}, {"suspension_policy": Always()}, NEVER),
        (BUSY, THRESHOLD, {"suspension_policy": Threshold(300_000, 150_000)}, NEVER),
        (BUSY, RPS, {"scheduler": Rps()}, FIFO),
        (BUSY, FIFO, {"scheduler": Fifo()}, RPS),
        (EMPTY, MICROCODE, {"scheduler": Patient(100_000)}, RPS),
        (BUSY, {}, {"scheduler": Rps(), "suspension_policy": Always()}, FIFO | NEVER),
    ],
    ids=["always", "threshold", "rps", "fifo", "microcode", "both"],
)
def test_built_in_policy_written_in_python_gives_the_same(
    scenario: rp.Scenario, built_in: dict[str, Any], own: dict[str, Any], other: dict[str, Any]
) -> None:
    expected = found(rp.run(scenario.replace(**built_in), requests=True))
    # If Python were not asked, what the scenario names would decide, which is another policy.
    named = scenario.replace(**other)
    assert found(rp.run(named, requests=True)) != expected
    for _ in range(2):
        assert found(rp.run(named, requests=True, check=True, **own)) == expected


def test_result_says_that_python_decided(tmp_path: Path) -> None:
    result = rp.run(BUSY, suspension_policy=Always(), scheduler=Rps(), out=tmp_path)
    here = Always.__module__
    assert result.summary["run"]["python_policies"] == {
        "suspension.policy": f"{here}.Always",
        "scheduling.policy": f"{here}.Rps",
    }
    written = (tmp_path / "scenario.toml").read_text()
    head = (
        f"# The run asked a Python policy in place of suspension.policy: {here}.Always\n"
        f"# The run asked a Python policy in place of scheduling.policy: {here}.Rps\n"
    )
    assert written == result.scenario
    result.report(tmp_path / "report.html")
    assert f"in place of suspension.policy: {here}.Always" in (tmp_path / "report.html").read_text()
    assert written.startswith(head)
    assert rp.Scenario.from_toml(written).seed == 7
    assert "python_policies" not in rp.run(EMPTY).summary["run"]
    assert not rp.run(EMPTY).scenario.startswith("#")


class Failing(Rps):
    """Raises at its third decision."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.asked: list[int] = []

    def choose(self, view: rp.DieView) -> rp.Choice:
        self.asked.append(view.now_ns)
        if len(self.asked) == 3:
            raise self.error
        return super().choose(view)


def test_exception_ends_the_run_and_says_when(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = Failing(KeyError("mine"))
    with pytest.raises(KeyError, match="mine") as caught:
        rp.run(BUSY, scheduler=policy, out=tmp_path / "o", requests=True)
    assert caught.value is policy.error
    assert len(policy.asked) == 3
    (note,) = caught.value.__notes__
    assert note.startswith(
        f"raised by Failing.choose at {policy.asked[-1]} ns of the simulated time, for die "
    )
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-1] == "choose"
    assert not (tmp_path / "o").exists()
    assert capfd.readouterr().err == ""


class Answers(rp.Scheduler, rp.SuspensionPolicy):
    """Answers the same to whatever it is asked."""

    def __init__(self, answer: Any, again: Any = None) -> None:
        self.answer = answer
        self.again = again

    def choose(self, view: rp.DieView) -> rp.Choice:
        return self.answer  # type: ignore[no-any-return]

    def decide(self, view: rp.OperationView) -> rp.Decision:
        return self.answer  # type: ignore[no-any-return]


class Hesitates(Rps):
    """Lets nothing suspend, and answers with what it was given."""

    def __init__(self, lets: Any, again: Any) -> None:
        self.lets = lets
        self.again = again

    def lets_suspend(self, view: rp.SuspendView) -> bool:
        return self.lets  # type: ignore[no-any-return]

    def asks_again(self, view: rp.SuspendView) -> int | None:
        return self.again  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"scheduler": Answers(3)}, r"Answers\.choose returned 3 at \d+ ns .*; must be Choice\."),
        ({"scheduler": Answers(None)}, r"Answers\.choose returned None at .*must be Choice\."),
        (
            {"scheduler": Answers(rp.Choice.READ)},
            r"choose returned Choice\.READ .*; must be Choice\.(WRITE|GC|WAIT)",
        ),
        ({"scheduler": Answers(rp.Choice.WAIT)}, r"returned Choice\.WAIT .*must be Choice\.READ"),
        (
            {"suspension_policy": Answers(rp.Decision.RESUME)},
            r"decide returned Decision\.RESUME .*must be Decision\.SUSPEND or Decision\.LEAVE, "
            "as the operation runs",
        ),
        (
            {"suspension_policy": Answers(rp.Decision.SUSPEND)},
            r"decide returned Decision\.SUSPEND .*must be Decision\.RESUME or Decision\.LEAVE, "
            "as the operation is suspended",
        ),
        ({"suspension_policy": Answers(True)}, r"Answers\.decide returned True"),
        ({"scheduler": Hesitates("no", None)}, r"lets_suspend returned 'no' .*True or False"),
        ({"scheduler": Hesitates(False, 5)}, r"asks_again returned 5 .*None, or a time in whole"),
        ({"scheduler": Rps}, r"scheduler = Rps: is a class; must be an object of it, Rps\(\)"),
        ({"scheduler": Always()}, r"scheduler = .*: has no method choose; must be an object with"),
        ({"suspension_policy": Rps()}, r"has no method decide; must be an object with decide"),
    ],
)
def test_wrong_answer_is_a_sentence(own: dict[str, Any], sentence: str) -> None:
    with pytest.raises(rp.UserError, match=sentence):
        rp.run(BUSY, **own)


def test_wrong_flag_is_a_sentence() -> None:
    policy = Rps()
    policy.suspends = 1  # type: ignore[assignment]
    with pytest.raises(rp.UserError, match=r"Rps\.suspends = 1: must be True or False"):
        rp.run(BUSY, scheduler=policy)


def test_two_runs_go_on_side_by_side() -> None:
    """Each waits inside a decision for the other to come to its own, twenty times over."""
    barrier = threading.Barrier(2)

    class Meeting(Rps):
        def __init__(self) -> None:
            self.met = 0

        def choose(self, view: rp.DieView) -> rp.Choice:
            if self.met < 20:
                self.met += 1
                barrier.wait()
            return super().choose(view)

    policies = [Meeting(), Meeting()]
    results: list[rp.Result | None] = [None, None]

    def work(index: int) -> None:
        results[index] = rp.run(BUSY, scheduler=policies[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [policy.met for policy in policies] == [20, 20]
    first, second = results
    assert first is not None and second is not None
    assert first.summary["requests"] == second.summary["requests"]


def test_interpreter_is_free_while_the_model_runs() -> None:
    """No thread gives the interpreter up but where it has nothing to do with it."""
    simulation = _native.Simulation(EMPTY.to_toml(), "<test>", ["workload.requests=200000"])
    while not simulation.is_preconditioned():
        simulation.step(1)
    begins, ended = threading.Event(), threading.Event()

    def work() -> None:
        begins.set()
        simulation.step(10**9)
        ended.set()

    before_s = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        begins.wait()
        ended_meanwhile = ended.is_set()
        thread.join()
    finally:
        sys.setswitchinterval(before_s)
    assert not ended_meanwhile


def _hears_interrupts() -> None:
    """Undo what a background job inherits."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_interrupt_stops_a_run_inside_a_policy(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import reprieve as rp\n"
        "class Policy(rp.SuspensionPolicy):\n"
        "    asked = 0\n"
        "    def decide(self, view):\n"
        "        self.asked += 1\n"
        "        if self.asked == 100:\n"
        "            print('well under way', flush=True)\n"
        "        return rp.Decision.LEAVE\n"
        f"scenario = rp.Scenario.from_toml({BUSY.to_toml()!r})\n"
        "try:\n"
        "    rp.run(scenario, suspension_policy=Policy(), workload__requests=1_000_000_000)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_hears_interrupts,  # noqa: PLW1509
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "well under way\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate()[0] == "interrupted\n"
    assert process.returncode == 0
