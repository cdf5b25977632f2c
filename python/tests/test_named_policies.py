"""Policies in Python that a scenario names: in runs, comparisons and sweeps, here and elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.scenario import Source

from . import own_policies
from .drive import SMALL, Reprieve

# Full, so that blocks are collected while it runs.
BUSY = rp.Scenario.from_toml(SMALL).replace(
    suspension__program="ipc",
    suspension__erase=True,
    workload__requests=3000,
    workload__read_fraction=0.6,
    workload__rate_iops=2500,
    buffer__bytes=131072,
    ftl__precondition="steady",
)
MINE = Path(own_policies.__file__).read_text() + (
    "\n\ndef of_300_us() -> Threshold:\n    return Threshold(300_000, 150_000)\n"
)
ALONE = """
import reprieve as rp


class First(rp.SuspensionPolicy):
    def __init__(self):
        self.left = 10

    def decide(self, view):
        if view.is_suspended or not self.left:
            return rp.Decision.LEAVE
        self.left -= 1
        return rp.Decision.SUSPEND


left = [10]


class Shared(rp.SuspensionPolicy):
    def decide(self, view):
        if view.is_suspended or not left[0]:
            return rp.Decision.LEAVE
        left[0] -= 1
        return rp.Decision.SUSPEND


class Fails(rp.SuspensionPolicy):
    def decide(self, view):
        raise KeyError(view.now_ns, view.die)
"""
KEY = "suspension.policy"
NOTHING = [(0, False), (None, False)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of a busy scenario and two files of policies."""
    (tmp_path / "s.toml").write_text(BUSY.to_toml())
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "alone.py").write_text(ALONE)
    return tmp_path


def found(summary: dict[str, Any]) -> dict[str, Any]:
    """Leave out the time that a run took, the name of its policy and why requests waited."""
    return {key: part for key, part in summary.items() if key not in ("run", "blame")}


THRESHOLD = {
    KEY: "threshold",
    "suspension.min_remaining_us": 300,
    "suspension.max_suspended_us": 150,
}


@pytest.mark.parametrize(
    ("key", "name", "built_in", "other"),
    [
        (KEY, "Always", {KEY: "always"}, THRESHOLD),
        (KEY, "of_300_us", THRESHOLD, {KEY: "always"}),
        ("scheduling.policy", "Fifo", {"scheduling.policy": "fifo"}, {"scheduling.policy": "rps"}),
    ],
)
def test_same_rule_gives_the_same_in_run_compare_and_sweep(
    folder: Path, key: str, name: str, built_in: dict[str, Any], other: dict[str, Any]
) -> None:
    place = folder / "s.toml"
    expected = rp.run(place, requests=True, **built_in)
    wrong = rp.run(place, requests=True, **other)
    assert found(wrong.summary) != found(expected.summary)

    own: dict[str, Any] = {key: f"mine.py:{name}"}
    mine = rp.run(place, requests=True, **own)
    assert found(mine.summary) == found(expected.summary)
    columns = ["id", "arrival_ns", "completion_ns", "die"]
    assert mine.requests.select(columns) == expected.requests.select(columns)
    assert mine.summary["run"]["python_policies"] == {key: f"mine.py:{name}"}

    same = {k: v for k, v in built_in.items() if k != key}
    runs = rp.compare(place, {key: [built_in[key], f"mine.py:{name}"]}, **same)
    assert list(runs) == [built_in[key], name]
    for run in runs.values():
        assert found(run.summary) == found(expected.summary)
    # The same requests in the same batches: not even a difference of rounding.
    for measure in runs.paired(name).values():
        assert (measure["mean_difference"], measure["decided"]) in NOTHING

    axes = {key: [built_in[key], f"mine.py:{name}"]}
    document = {"scenario": str(place), "design": "grid", "seeds": [7], "set": same, "axes": axes}
    rows = rp.sweep(document).runs.to_pylist()
    column = key.replace(".", "_")
    assert [row.pop(column) for row in rows] == [built_in[key], name]
    of_policies = f"run_python_policies_{column}"
    assert [row.pop(of_policies) for row in rows] == [None, f"mine.py:{name}"]
    assert (
        rows[0]["read_latency_ns_mean"]
        == expected.summary["requests"]["read"]["latency_ns"]["mean"]
    )
    first, second = (
        {k: v for k, v in row.items() if k not in ("run", "point") and not k.startswith("blame")}
        for row in rows
    )
    assert first == second


def suspended(row: dict[str, Any]) -> int:
    """Return how often something was suspended in a row of a sweep."""
    return int(row["flash_suspensions_program"] + row["flash_suspensions_erase"])


def test_every_run_begins_with_a_new_object(folder: Path) -> None:
    """A policy that has ten suspensions to give, or its file, gives ten in every run."""
    document: dict[str, Any] = {
        "scenario": str(folder / "s.toml"),
        "design": "grid",
        "seeds": 4,
        "set": {"workload.requests": 500, "ftl.precondition": "none"},
        "axes": {KEY: ["always", "alone.py:First", "alone.py:Shared"]},
    }
    rows = rp.sweep(document).runs.to_pylist()
    for name in ("First", "Shared"):
        assert [suspended(row) for row in rows if row["suspension_policy"] == name] == [10] * 4
    assert all(suspended(row) > 10 for row in rows if row["suspension_policy"] == "always")
    axes: dict[str, list[Any]] = {KEY: ["alone.py:First"], "seed": [1, 2, 3]}
    sets = document["set"]
    for run in rp.compare(folder / "s.toml", axes, **sets).values():
        assert sum(run.summary["flash"]["suspensions"].values()) == 10


def test_command_line_takes_a_policy_wherever_it_takes_a_value(
    reprieve: Reprieve, folder: Path
) -> None:
    axis = f"{KEY}=always,mine.py:Always,mine.py:of_300_us"
    done = reprieve("compare", "s.toml", "--axis", axis, "--out", "c", "--allow-python")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (folder / "c").iterdir() if path.is_dir()} == {
        "always",
        "Always",
        "of_300_us",
    }
    written = folder / "c/of_300_us/scenario.toml"
    assert tomllib.loads(written.read_text())["suspension"]["policy"].endswith("mine.py:of_300_us")
    # What a run leaves repeats it, and it is not what the policy stands in place of.
    summaries = {}
    for name, arguments in {
        "again": (written,),
        "set": ("s.toml", "--set", f"{KEY}=mine.py:of_300_us"),
        "built_in": ("s.toml", *(w for k, v in THRESHOLD.items() for w in ("--set", f"{k}={v}"))),
        "always": ("s.toml",),
    }.items():
        done = reprieve("run", *arguments, "--out", name, "--allow-python")
        assert (done.returncode, done.stderr) == (0, "")
        summaries[name] = found(rp.run(folder / name / "scenario.toml").summary)
    assert summaries["again"] == summaries["set"] == summaries["built_in"] != summaries["always"]


def swept(reprieve: Reprieve, *arguments: str) -> str:
    """Run a sweep, and return how many runs it did."""
    done = reprieve("sweep", "sweep.toml", "--out", "o", "--allow-python", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    counted = re.search(r"(\d+) runs, of which (\d+) were done now", done.stdout)
    assert counted is not None
    return counted[0]


SWEEP = """
scenario = "s.toml"
design = "grid"
seeds = 2
set = { "workload.requests" = 300, "ftl.precondition" = "none" }
axes."suspension.policy" = ["always", "alone.py:First"]
"""


def test_resumed_sweep_runs_a_changed_policy_again_and_nothing_else(
    reprieve: Reprieve, folder: Path
) -> None:
    (folder / "sweep.toml").write_text(SWEEP)
    assert swept(reprieve) == "4 runs, of which 4 were done now"
    assert swept(reprieve) == "4 runs, of which 0 were done now"
    policy = folder / "alone.py"
    policy.write_text(ALONE.replace("self.left = 10", "self.left = 11"))
    assert swept(reprieve) == "4 runs, of which 2 were done now"
    rows = rp.Sweep(folder / "o").runs.to_pylist()
    assert [suspended(row) for row in rows[2:]] == [11, 11]
    # Where the file lies does not matter, and the old text is the old policy.
    (folder / "elsewhere").mkdir()
    policy.write_text(ALONE)
    policy.rename(folder / "elsewhere/alone.py")
    (folder / "sweep.toml").write_text(SWEEP.replace("alone.py", "elsewhere/alone.py"))
    assert swept(reprieve) == "4 runs, of which 0 were done now"


def test_what_a_policy_raises_is_a_sentence_in_every_command(
    reprieve: Reprieve, folder: Path
) -> None:
    (folder / "sweep.toml").write_text(SWEEP.replace(":First", ":Fails"))
    line = 1 + ALONE.splitlines().index("        raise KeyError(view.now_ns, view.die)")
    raised = re.compile(
        r'(suspension\.policy=Fails seed=1: |policy=Fails: |)suspension\.policy = ".*alone.py:Fails'
        rf'": KeyError: \((\d+), (\d)\) at .*alone\.py:{line}, raised by Fails\.decide at (\d+) ns '
        r"of the simulated time, for die (\d), asked whether to suspend the operation that runs\n"
    )
    for command in (
        ("run", "s.toml", "--set", f"{KEY}=alone.py:Fails"),
        ("compare", "s.toml", "--axis", f"{KEY}=always,alone.py:Fails"),
        ("sweep", "sweep.toml"),
    ):
        done = reprieve(*command, "--out", "out", "--allow-python")
        if command[0] == "sweep":  # a failed run is a row
            assert done.returncode == 0
            assert done.stderr.startswith("sweep.toml: 2 of 4 runs failed, first policy=Fails: ")
            told = raised.search(done.stderr)
        else:
            assert (done.returncode, done.stdout) == (2, "")
            told = raised.fullmatch(done.stderr)
        assert told is not None, done.stderr
        assert (told[2], told[3]) == (told[4], told[5])
    with pytest.raises(rp.UserError) as caught:
        rp.run(folder / "s.toml", suspension__policy="alone.py:Fails")
    assert isinstance(caught.value.__cause__, KeyError)


WRONG = {
    "object": ("one = First()\n", "one", "is of First and has no method decide; must be a class"),
    "arguments": (
        "def f(x) -> First: pass\n",
        "f",
        "missing a required argument: 'x'; must be a class or",
    ),
    "making": ("def f() -> First: return 1 / 0\n", "f", "ZeroDivisionError: division by zero at "),
    "leaving": ("def f() -> First: raise SystemExit(0)\n", "f", "SystemExit: 0 at "),
    "nothing": (
        "def f() -> First: pass\n",
        "f",
        "None has no method decide; must make an object with decide",
    ),
    "unsaid": ("def f(): open('called', 'w')\n", "f", "a function that says by `->` that it"),
    "foreign": ("from os import abort\n", "abort", "is of builtin_function_or_method and has no"),
    "other": ("class Other: pass\n", "Other", "is a class and has no method decide; must be a"),
    "missing": ("", "Last", "has no Last; it has First, Shared, Fails"),
    "loading": ("1 / 0\n", "First", "ZeroDivisionError: division by zero at "),
    "syntax": ("def\n", "First", "SyntaxError: invalid syntax at "),
    "name": ("", "", "must be FILE.py:NAME or MODULE:NAME"),
}


@pytest.mark.parametrize("what", WRONG)
def test_policy_that_is_none_is_a_sentence(reprieve: Reprieve, folder: Path, what: str) -> None:
    more, name, sentence = WRONG[what]
    (folder / "alone.py").write_text(ALONE + more)
    done = reprieve("run", "s.toml", "--set", f"{KEY}=alone.py:{name}", "--allow-python")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f'{KEY} = "')
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("none.py:First", "cannot read the file: No such file or directory"),
        ("nomodule:First", "cannot be imported: No module named 'nomodule'; must be FILE.py:NAME"),
        ("json:First", "json has no First; it has no class"),
        ("a b:First", "must be FILE.py:NAME or MODULE:NAME"),
    ],
)
def test_place_that_has_no_policy_is_a_sentence(folder: Path, value: str, sentence: str) -> None:
    with pytest.raises(rp.UserError, match=re.escape(sentence)):
        rp.run(folder / "s.toml", suspension__policy=value)
    with pytest.raises(rp.UserError, match=re.escape(sentence)):
        rp.compare(folder / "s.toml", {KEY: ["always", value]})


def test_class_is_a_value_like_its_name(folder: Path) -> None:
    place = folder / "s.toml"
    text = f"{own_policies.__name__}:Always"
    runs = rp.compare(place, {KEY: [own_policies.Always, "always"]})
    assert list(runs) == ["Always", "always"]
    assert runs.to_arrow().column(KEY).to_pylist() == [text, "always"]
    scenario = BUSY.replace(suspension__policy=own_policies.Always)
    assert scenario.suspension.policy == text
    assert scenario.timing.t_read_us == 25
    assert scenario.resolve().suspension.policy == text
    with pytest.raises(rp.UserError, match="an object is given for it, too; give one of them"):
        rp.run(scenario, suspension_policy=own_policies.Always())


def test_class_that_nobody_finds_again_is_refused(folder: Path) -> None:
    class Inside(own_policies.Always):
        pass

    with pytest.raises(rp.UserError, match=r"<locals>\.Inside: module .* has no such name; must"):
        rp.compare(folder / "s.toml", {KEY: ["always", Inside]})
    two = {KEY: ["mine.py:Always", own_policies.Always]}
    with pytest.raises(rp.UserError, match="different classes different names"):
        rp.compare(folder / "s.toml", two)
    document = {"scenario": str(folder / "s.toml"), "design": "grid", "axes": two}
    with pytest.raises(rp.UserError, match='has "Always" twice; give each value once'):
        rp.sweep(document)


def test_class_of_the_program_itself_is_compared_but_goes_to_no_cluster(folder: Path) -> None:
    """It has no file here, so that a sweep would not notice if it changed."""
    program = ALONE + (
        "print(*rp.compare('s.toml', {'suspension.policy': ['always', First]}))\n"
        "sweep = {'scenario': 's.toml', 'design': 'grid', 'axes': {'suspension.policy': [First]}}\n"
        "try:\n"
        "    rp.sweep(sweep)\n"
        "except rp.UserError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-"], input=program, cwd=folder, capture_output=True, text=True, check=True
    )
    labels, refused = done.stdout.splitlines()
    assert labels == "always First"
    assert "its source cannot be read, so that a changed policy would not be noticed" in refused
    source = Source.of(BUSY, {KEY: "__main__:First"})
    with pytest.raises(rp.UserError, match=r"workers .* cannot import; must be in a file, as FILE"):
        source.split().check_travels()


def test_policy_may_have_the_keys_of_that_in_whose_place_it_is(folder: Path) -> None:
    """In a file those beside it say which; an override comes after the policy it replaces."""
    (folder / "slo.py").write_text(
        "import reprieve as rp\n"
        "seen = set()\n"
        "class Sees(rp.SuspensionPolicy):\n"
        "    def decide(self, view):\n"
        "        raise ValueError(view.read_slos_ns[0])\n"
    )
    text = BUSY.to_toml().replace("[suspension]\n", '[suspension]\npolicy = "slo.py:Sees"\n')
    text = text.replace("[workload]\n", "[workload]\nread_slo_us = 321\n")
    own = folder / "own.toml"
    own.write_text(f"{text}\n[suspension.deadline]\nread_slo_us = 500\n")
    with pytest.raises(rp.UserError, match="ValueError: 321000 at "):
        rp.run(own)
    resolved = rp.Scenario.from_file(own).resolve()
    assert resolved.suspension.deadline.read_slo_us == 500
    assert resolved.resolve() == resolved
    sets = [f"{KEY}=deadline", "suspension.deadline.read_slo_us=500", f"{KEY}=slo.py:Sees"]
    source = Source.read(folder / "s.toml", [*sets, "workload.read_slo_us=123"])
    assert "read_slo_us = 123" in source.resolve()
    # The last one counts.
    assert source.with_sets([f"{KEY}=deadline"]).split().named == {}
