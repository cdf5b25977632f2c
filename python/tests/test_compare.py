"""`reprieve compare`, and the cross product behind it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import reprieve as rp
from reprieve import Result, UserError
from reprieve.cli.compare import microseconds
from reprieve.comparison import Axis, plan
from reprieve.report.tables import measured
from reprieve.scenario import Source

from .drive import SMALL, Reprieve

POLICIES = ("FIFO", "RPS", "PES-IPC")


def test_runs_each_value_side_by_side(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    done = reprieve("compare", small, "--axis", f"policy={','.join(POLICIES)}", "--jobs", "2")
    assert (done.returncode, done.stderr) == (0, "")
    out = tmp_path / "out" / "small-compare"
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*POLICIES, "compare.json", "report.html"]
    )
    assert (out / "FIFO" / "series.parquet").exists()
    document = json.loads((out / "compare.json").read_text())
    assert document["schema"] == 1
    assert document["axes"] == [{"key": "policy", "values": list(POLICIES)}]
    for run, policy in zip(document["runs"], POLICIES, strict=True):
        assert (run["label"], run["directory"]) == (policy, policy)
        assert run["sets"] == [f"policy={policy}"]
        assert run["summary"] == json.loads((out / policy / "summary.json").read_text())


def test_table_is_normalised_to_the_first(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    done = reprieve("compare", small, "--axis", "policy=RPS,PES-IPC", "--out", "o")
    lines = cells(done.stdout)
    runs = json.loads((tmp_path / "o" / "compare.json").read_text())["runs"]
    # About 2,100 reads have a p99, 900 writes none, and neither has a p99.9.
    metrics = [("read", "mean"), ("read", "p99"), ("write", "mean")]
    first, second = (
        [run["summary"]["requests"][op]["latency_ns"][key] for op, key in metrics] for run in runs
    )
    assert lines["policy"][1:] == [
        *("read", "mean", "read", "p99", "write", "mean", "suspensions", "WAF")
    ]
    assert lines["RPS,"][1:] == ["µs", *(microseconds(ns) for ns in first)]
    assert [microseconds(ns) for ns in (76_049, 999_949, 1_156_320)] == ["76.0", "999.9", "1,156"]
    assert lines["RPS"][1:4] == ["1.000", "1.000", "1.000"]
    document = json.loads((tmp_path / "o" / "compare.json").read_text())
    measures = document["paired"][0]["measures"]
    pairs = [measures[f"{op}_latency_ns_{key}"] for op, key in metrics]
    marks = ["" if pair["decided"] else "?" if "reason" in pair else "~" for pair in pairs]
    both = zip(marks, second, first, strict=True)
    assert lines["PES-IPC"][1:4] == [f"{mark}{ours / base:.3f}" for mark, ours, base in both]
    told = {
        "~": "~ not significant: at 95 % it may be the same as of RPS",
        "?": "? too few requests to tell whether it differs from RPS",
    }
    assert len({*marks}) > 1, "the load shows more than one kind"
    for mark, sentence in told.items():
        assert (sentence in done.stdout.splitlines()) == (mark in marks)
    flash = runs[1]["summary"]["flash"]
    suspensions = flash["suspensions"]["program"] + flash["suspensions"]["erase"]
    assert lines["PES-IPC"][4:6] == [f"{suspensions:,}", f"{flash['waf']:.3f}"]


def cells(stdout: str) -> dict[str, list[str]]:
    """Return the cells of each row, of all parts of a table, by the first."""
    found: dict[str, list[str]] = {}
    for line in stdout.splitlines():
        first, *rest = line.split() or [""]
        found.setdefault(first, [first]).extend(rest)
    return found


def test_many_runs_are_summed_up(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    axis = ("--axis", "timing.t_read_us=25,50,100,200", "--set", "measure.from_request=100")
    done = reprieve("compare", small, *axis, "--out", "o")
    assert done.stderr == ""
    words = " ".join(done.stdout.split())
    runs = json.loads((tmp_path / "o" / "compare.json").read_text())["runs"]
    begins = [run["summary"]["measure"]["from_ns"] for run in runs]
    assert len(set(begins)) == 1, "an open load arrives when it does"
    assert words.count("measured from ") == 1
    assert "excluded are the first 100 requests of each (from_request = 100)" in words
    assert f"measured from {begins[0] / 1e6:.4g} ms on" in words
    assert " against 25: " not in words
    assert "compare.json has the interval of each difference, run against run" in words
    assert max(map(len, done.stdout.splitlines())) <= 80


def measure(from_ns: int, count: int, reason: str) -> Result:
    summary = {
        "measure": {
            "from_ns": from_ns,
            "requests_excluded": count,
            "reason": reason,
            "warning": None,
        }
    }
    return cast("Result", SimpleNamespace(summary=summary))


def test_what_is_excluded_is_said_once_for_all_that_are_alike() -> None:
    auto = 'warmup = "auto": by MSER-5 the transient ends latest in the WAF, before request'
    runs = {
        "a": measure(911_384, 50, f"{auto} 50 of 900"),
        "b": measure(1_361_000, 1200, f"{auto} 1200 of 9000"),
    }
    said = (
        "measured from 911.4 µs to 1.361 ms on; excluded are the first 50 to 1,200 requests of "
        'each (warmup = "auto")'
    )
    assert measured(runs) == [said]
    runs["c"] = measure(0, 0, "nothing is excluded")
    assert measured(runs) == [f"a and b: {said}"]
    assert measured({"c": runs["c"]}) == []


def test_threads_do_not_change_results(reprieve: Reprieve, small: Path, tmp_path: Path) -> None:
    axis = ("--axis", f"policy={','.join(POLICIES)}")
    assert reprieve("compare", small, *axis, "--jobs", "3", "--out", "c").returncode == 0
    for policy in POLICIES:
        assert reprieve("run", small, "--set", f"policy={policy}", "--out", policy).returncode == 0
        side_by_side, alone = tmp_path / "c" / policy, tmp_path / policy
        assert (side_by_side / "summary.json").read_text() == (alone / "summary.json").read_text()
        assert (side_by_side / "scenario.toml").read_text() == (alone / "scenario.toml").read_text()


def small_source(*sets: str) -> Source:
    return Source(SMALL, "small.toml", sets)


def test_axes_cross_with_the_last_fastest() -> None:
    runs = plan(
        small_source(),
        [Axis.parse("policy=FIFO,RPS"), Axis.parse("timing.t_read_us=25, 50")],
    )
    assert [run.label for run in runs] == [
        "policy=FIFO t_read_us=25",
        "policy=FIFO t_read_us=50",
        "policy=RPS t_read_us=25",
        "policy=RPS t_read_us=50",
    ]
    assert runs[0].directory == "policy=FIFO_t_read_us=25"
    assert runs[3].sets == ("policy=RPS", "timing.t_read_us=50")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("k=1,2", ("1", "2")),
        ('k="a,b",c', ('"a,b"', "c")),
        ("k='a,b',\"it's\"", ("'a,b'", '"it\'s"')),
        ("k=[1, 2],[3]", ("[1, 2]", "[3]")),
        ("k=[[4096, 0.5], [8192, 0.5]]", ("[[4096, 0.5], [8192, 0.5]]",)),
        ("k=a=b", ("a=b",)),
    ],
)
def test_commas_inside_quotes_and_brackets_stay(text: str, values: tuple[str, ...]) -> None:
    assert Axis.parse(text) == Axis("k", values)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("policy", "--axis policy: must be KEY=V1,V2,…, such as policy=FIFO,RPS"),
        ("=FIFO", "--axis =FIFO: must be KEY=V1,V2,…, such as policy=FIFO,RPS"),
        ("k=[1,2", "--axis k=[1,2: a quote or bracket is not closed"),
        ('k="a', '--axis k="a: a quote or bracket is not closed'),
        ("k=1,2]", "--axis k=1,2]: a quote or bracket is not closed"),
    ],
)
def test_malformed_axis_is_named(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        Axis.parse(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("sets", "axes", "sentence"),
    [
        ((), ["seed=1,,2"], "--axis seed: a value is empty; must be KEY=V1,V2,…"),
        (("seed=3",), ["seed=1,2"], "--axis seed: the key is also set elsewhere; give it once"),
        ((), ["seed=1", "seed=2"], "--axis seed: the key is also set elsewhere; give it once"),
        (
            (),
            ["policy=FIFO,RPS,FIFO"],
            "--axis: policy=FIFO and policy=FIFO would share the directory FIFO; "
            "give each value once",
        ),
        ((), [], "compare: no axis is given; add one, such as --axis policy=FIFO,RPS"),
    ],
)
def test_axes_that_contradict_are_named(
    sets: tuple[str, ...], axes: list[str], sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        plan(small_source(*sets), [Axis.parse(text) for text in axes])
    assert str(caught.value) == sentence


def test_wrong_value_stops_before_anything_runs(
    reprieve: Reprieve, small: Path, tmp_path: Path
) -> None:
    done = reprieve("compare", small, "--axis", "seed=1,x", "--out", "o")
    assert done.returncode == 2
    assert "seed" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_values_of_an_axis_are_a_list(small: Path) -> None:
    with pytest.raises(rp.UserError, match="axes policy: a value is empty"):
        rp.compare(small, {"policy": []})
    with pytest.raises(rp.UserError, match=r"axes: policy = 'rps': must be a list of values"):
        rp.compare(small, {"policy": "rps"})


def test_a_percentile_is_in_per_cent(small: Path) -> None:
    latency = rp.run(small).latency()
    with pytest.raises(rp.UserError, match=r"must be in per cent: 99 and not 0\.99"):
        latency.percentile(0.99)
    assert latency.percentile(1) <= latency.percentile(99) <= latency.percentile(100)


def test_arms_override_several_keys(tmp_path: Path, reprieve: Reprieve) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        'device = "fast12-mlc"\n[geometry]\nchannels = 2\nblocks_per_plane = 32\n[workload]\n'
        'generator = "mixed"\nrequests = 60000\nread_fraction = 0.8\nqueue_depth = 8\n'
    )
    arms = ("first policy=RPS", "cancel policy=PES-IPC", "bound policy=PE0")
    late = "late policy=PES-IPC suspension.policy=deadline suspension.deadline.read_slo_us=900"
    given = [option for arm in (*arms, late) for option in ("--arm", arm)]
    done = reprieve("compare", scenario, *given, "--out", "o")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "o" / "compare.json").read_text())
    assert found["axes"] == [{"key": "arm", "values": ["first", "cancel", "bound", "late"]}]
    written = tomllib.loads((tmp_path / "o" / "late" / "scenario.toml").read_text())
    assert written["suspension"]["deadline"]["read_slo_us"] == 900
    assert written["suspension"]["program"] == "ipc"
    # Its p99 is below the objective, and that of the arm that suspends at once is below it.
    text = " ".join(done.stdout.split())
    assert re.search(r"read p99 is shortest under cancel: ×0\.\d+ of first's \(0\.", text)


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        ("policy=RPS", "--arm policy=RPS: must be NAME KEY=VALUE …"),
        ("one RPS", "--arm one RPS: must be NAME KEY=VALUE …"),
        ("one 'policy=RPS", "--arm one 'policy=RPS: a quote is not closed"),
        ("one policy=RPX", "--arm one: policy = "),
        ("one seed=1 seed=2", "--arm one seed=1 seed=2: has seed twice; give it once"),
    ],
)
def test_wrong_arms_are_said(arm: str, message: str, reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('device = "fast12-mlc"\n[workload]\ngenerator = "mixed"\n')
    done = reprieve("compare", "s.toml", "--arm", arm, "--out", "o")
    assert done.returncode == 2
    assert done.stderr.startswith(message), done.stderr
    assert not (tmp_path / "o").exists()


def test_no_name_of_an_arm_leads_out_of_the_folder(tmp_path: Path, reprieve: Reprieve) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(
        'device = "fast12-mlc"\n[geometry]\nchannels = 1\nblocks_per_plane = 32\n[workload]\n'
        'generator = "mixed"\nrequests = 20\nread_fraction = 0.8\nqueue_depth = 8\n'
    )
    before = scenario.read_text()
    arms = [f"{name} policy=RPS" for name in ("..", "compare.json", "report.html", "../../x")]
    done = reprieve("compare", scenario, *(word for arm in arms for word in ("--arm", arm)))
    assert done.returncode == 0, done.stderr
    assert scenario.read_text() == before
    assert {one.name for one in tmp_path.iterdir()} == {"scenario.toml", "out"}
    assert {one.name for one in (tmp_path / "out" / "scenario-compare").iterdir()} == {
        "_.", "compare_json", "report_html", "_._.._x", "compare.json", "report.html"
    }  # fmt: skip
