"""The reproduction of Starblaze's slides: arithmetic, job files, what is measured, its claims."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reprieve import rig
from reprieve_studies.runs import bench
from reprieve_studies.starblaze import claims, runs
from reprieve_studies.starblaze.claims import Outcome
from reprieve_studies.starblaze.runs import (
    BASE,
    CASES,
    DATA,
    LOADS,
    SETTINGS,
    Plan,
    Spot,
    job_file,
    little,
    slides,
    write_jobs,
)

from .drive import Reprieve

FIO = shutil.which("fio")
FIRST, LAST = "2rr1rw_1thread", "5rr4rw_2thread"


def test_littles_law_by_hand() -> None:
    # 5803 × 126.01 + 3076 × 17.05 = 783,681.8 µs a second; after 5803 × 102.53 + 3076 × 16.28.
    # A request every 112.6253 µs, of which 88.2624 are its latency; 72.6500 after.
    pause_us, iops_after = little(FIRST)
    assert pause_us == pytest.approx(24.363, abs=2e-3)
    assert iops_after == pytest.approx(1e6 / (24.363 + 72.650), rel=1e-4)


def test_every_rate_of_the_slides_is_their_bandwidth_in_4_kib() -> None:
    bandwidth_kb_per_s = {
        "2rr1rw_1thread": (23215, 12302), "5rr4rw_1thread": (15130, 12950),
        "2rr1rw_2thread": (28708, 14770), "5rr4rw_2thread": (26057, 21100),
    }  # fmt: skip
    for case, pair in bandwidth_kb_per_s.items():
        for kind, kb_per_s in zip(("read", "write"), pair, strict=True):
            assert kb_per_s / slides(case, kind, "iops") == pytest.approx(4, abs=2e-3)


def test_a_job_file() -> None:
    assert job_file("paced", LAST, 60, 0, 1, ["ioengine=nbd"]) == (
        "[global]\nbs=4k\ndirect=1\nnorandommap\ngroup_reporting\ntime_based\nruntime=60s\n"
        "ramp_time=0s\nioengine=nbd\n[5rr4rw_2thread]\nrw=randrw\nrwmixread=55\nnumjobs=2\n"
        "iodepth=1\nrate_iops=3257,2638\n"
    )
    thinking = job_file("think", FIRST, 1, 0)
    assert thinking.endswith("[2rr1rw_1thread]\nrw=randrw\nrwmixread=66\nnumjobs=1\niodepth=1\n"
                             "thinktime=24us\n")  # fmt: skip
    apart = job_file("jobs", LAST, 1, 0)
    # Ten readers for 6514 a second, eight writers for 5276.
    assert "rw=randread\nnumjobs=10\niodepth=1\nrate_iops=651\n" in apart
    assert "rw=randwrite\nnumjobs=8\niodepth=1\nrate_iops=659\n" in apart


@pytest.mark.parametrize("load", LOADS)
def test_fio_takes_every_job_file(load: str, tmp_path: Path) -> None:
    if FIO is None:
        pytest.skip("there is no fio on this machine: it was not asked about the job files")
    for case in CASES:
        path = tmp_path / f"{case}.fio"
        text = job_file(load, case, 1, 0)
        path.write_text(text.replace("[global]", "[global]\nioengine=null\nsize=64m"))
        done = subprocess.run(
            [FIO, "--parse-only", str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


class Fake:
    """A result of which only the jobs are asked for."""

    def __init__(self, *jobs: tuple[int, float, float, int]) -> None:
        """Take of each job the reads, their mean and longest in µs, and its time in seconds."""
        nothing = {"count": 0, "latency_ns": {"mean": 0.0, "max": 0, "p99_9": 0}}
        self.summary: dict[str, Any] = {
            "flows": {
                str(number): {
                    "requests": {
                        "read": {"count": count,
                                 "latency_ns": {"mean": 1e3 * mean, "max": 1e3 * longest,
                                                "p99_9": 500 * longest}},
                        "write": nothing,
                    },
                    "active_ns": seconds * 10**9,
                }
                for number, (count, mean, longest, seconds) in enumerate(jobs)
            }
        }  # fmt: skip


def test_a_row_is_of_all_jobs_and_seeds() -> None:
    two: Any = Fake((100, 50, 900, 2), (300, 90, 700, 2))
    one: Any = Fake((200, 100, 1500, 1))
    other: Any = Fake((7, 7, 7, 7))
    found_runs = {
        Spot("joint", "none", FIRST, 1): two,
        Spot("joint", "none", FIRST, 2): one,
        Spot("joint", "both", FIRST, 1): other,
    }
    found = Outcome(Plan(60, 5, [1, 2]), found_runs).row("none", FIRST, "read")
    # 400 in 2 s at (100 × 50 + 300 × 90) / 400 = 80; 200 in 1 s at 100.
    assert (found.iops, found.mean_us) == (200, 90)
    assert (found.us_max_least, found.us_max, found.us_max_most) == (900, 1200, 1500)
    # The longer p99.9 of two jobs, 450 and 350, and the mean with that of the other seed, 750.
    assert (found.p999_us, found.requests) == (600, 200)


def test_a_read_behind_an_erase_is_the_sum_of_the_slides() -> None:
    """Of their part, in µs: 10 ms and 67, two commands of 0.1, one page of 40.96."""

    def completion_us(program: str) -> float:
        commands = [(0, "erase", 0, 0, 0), (101, "read", 1, 1, 0)]
        rows = rig("fast12-mlc", commands, part="tlc3d-starblaze", scheduling__policy="rps",
                   suspension__program=program, suspension__erase=program != "none")  # fmt: skip
        return rows[1].completion_ns / 1e3

    assert completion_us("none") == pytest.approx(10_067 + 41.16)
    # Suspended at once: 20 µs of voltages, 30 of overhead, then the read by itself.
    assert 67 + 41.06 < completion_us("iteration") < 67 + 41.16 + 20 + 30 + 1


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it one channel of four dies, so that all runs take seconds."""
    monkeypatch.setitem(DATA["drive"]["geometry"], "channels", 1)


@pytest.mark.usefixtures("small")
def test_a_setting_suspends_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    plan = Plan(2, 0, [1])
    write_jobs(plan, tmp_path)
    for setting, row in SETTINGS.items():
        of, classes = (
            runs.job(Spot("joint", setting, FIRST, 1), tmp_path, BASE).setup,
            row["suspends"],
        )
        result = of.with_overrides({"geometry.pages_per_block": 512}).simulate()
        suspensions = result.summary["flash"]["suspensions"]
        assert (suspensions["erase"] > 0) == ("erase" in classes), setting
        assert (suspensions["program"] > 0) == ("program" in classes), setting


@pytest.mark.seconds(11)
@pytest.mark.usefixtures("small")
def test_every_run_is_made_and_every_claim_has_a_verdict() -> None:
    plan = Plan(1, 0, [1])
    with bench(None, None) as engine:
        outcome = Outcome(plan, runs.simulate(plan, plan.spots, engine))
    settings = [1 + len(reading.options["settings"]) for reading in DATA.readings.values()]
    assert len(outcome.runs) == len(CASES) * sum(settings)
    for spot, result in outcome.runs.items():
        if DATA.readings[spot.reading].options["load"] == "closed":
            rows = [outcome.row(spot.setting, spot.case, kind, spot.reading)
                    for kind in ("read", "write")]  # fmt: skip
            # A closed loop without pauses has as many outstanding as it has threads.
            outstanding = sum(row.iops * row.mean_us / 1e6 for row in rows)
            assert outstanding == pytest.approx(CASES[spot.case]["threads"], rel=0.02)
        assert result.summary["flows"]
    found = claims.verdicts(outcome)
    of_rows = 7 * 2 * len(CASES)
    assert len(found) == of_rows + len(CASES) + 2 + 3
    assert len({verdict.claim for verdict in found}) == len(found)
    assert [verdict.reproduced for verdict in found[-3:]] == [None] * 3


def test_a_verdict_compares_with_the_slides() -> None:
    def of_setting(setting: str, mean_us: float, longest_us: float) -> dict[Spot, Any]:
        job = Fake((348_180, mean_us, longest_us, 60))
        group = job.summary["flows"]["0"]["requests"]
        group["write"] = {
            "count": 184_560,
            "latency_ns": {"mean": 16_280, "max": 117_000, "p99_9": 99_000},
        }
        none = {"increase_mean": 0.0}
        job.summary["flash"] = {"suspended_operations": {"program": none, "erase": none}}
        return {
            Spot(reading, setting, case, seed): job
            for reading in ("joint", "think")
            for case in CASES
            for seed in (1, 2, 3, 4, 5)
        }

    outcome = Outcome(
        Plan(60, 5, [1, 2, 3, 4, 5]),
        of_setting("none", 126.01, 9970) | of_setting("both", 88, 2300),
    )
    of = {verdict.claim: verdict for verdict in claims.verdicts(outcome)}
    assert of[f"{FIRST}, reads: IOPS"].difference == 0
    assert of[f"{FIRST}, reads: mean latency before"].reproduced
    # 15 % of 102.53 are 15.38, of 2047 307; 88 is 14.5 below, 2300 is 253 above.
    assert of[f"{FIRST}, reads: mean latency after"].reproduced
    assert of[f"{FIRST}, reads: maximum latency after"].reproduced
    # −30.2 % for −18.6, tolerance 5 points.
    assert of[f"{FIRST}, reads: change of the mean latency"].reproduced is False
    assert of[f"{LAST}, reads: IOPS"].reproduced is False
    # If suspension had no effect, the latency before would be that after: 23.5 above 102.5.
    assert of[f"{FIRST}, reads: mean latency after"].null == pytest.approx(126.01)
    assert of[f"{FIRST}, reads: mean latency after"].null_model is False
    assert of[f"{FIRST}, writes: mean latency after"].null_model is True
    # Reads are better in four rows, writes equal in four.
    assert of["average latencies are better than original"].ours == 4


def test_the_files_beside_the_report_run_by_themselves(reprieve: Reprieve, tmp_path: Path) -> None:
    for path, text in runs.files(Plan(1, 0, [1])).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    scenario = tmp_path / "jobs" / f"{FIRST}-both.toml"
    smaller = ["--set", "geometry.channels=1", "--set", "geometry.pages_per_block=512"]
    done = reprieve("run", str(scenario), *smaller, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert list(summary["flows"]) == [FIRST]


def test_what_does_not_belong_to_the_slides_is_refused(reprieve: Reprieve) -> None:
    done = reprieve("reproduce", "starblaze", "--requests", "5")
    assert done.returncode != 0
    assert "--requests 5: the runs of this study have lengths of their own" in done.stderr
    done = reprieve("reproduce", "starblaze", "--trace", "F1=x.spc")
    assert done.returncode != 0
    assert "--trace F1=x.spc" in done.stderr


def test_the_chosen_reading_has_every_setting() -> None:
    assert {"none", *BASE.options["settings"]} == set(SETTINGS)
    assert DATA["plan"]["full"]["runtime_s"] == 60


def test_a_candidate_changes_the_drive_of_every_judged_reading() -> None:
    sets = {"geometry.dies_per_channel": 4, "ftl.over_provisioning": 0.4}
    plan = Plan(1, 0, [7], base=replace(BASE, sets=sets), claims_only=True)
    assert {name: one.sets for name, one in plan.readings.items()} == {
        "joint": sets, "think": sets,
    }  # fmt: skip
    assert {spot.setting for spot in plan.spots} == {"none", "both"}
    assert {spot.seed for spot in plan.spots} == {7}
