"""Measurements as tables: small ones by hand, each mistake by its sentence."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reprieve import UserError
from reprieve.calibration.figure import depth_of, load_of
from reprieve.calibration.measured import Condition
from reprieve.calibration.measured_tables import read_table
from reprieve.calibration.objective import Weights, terms
from reprieve.calibration.ranges import has_writes
from reprieve.calibration.replay import Effort, Simulated, job_file, times

RUNS = """# Reads by a probe beside two writers.
measured_with = "fio-3.35"

[global]
bs = "4k"
iodepth = 8
runtime = "10s"

[jobs.probe]
rw = "randread"
lat_percentiles = true

[jobs.writer]
rw = "randwrite"
numjobs = 2
rate_process = "poisson"

[condition.slow.jobs]
probe = { rate_iops = 500 }
writer = { rate_iops = 1000 }

[condition.alone.jobs]
probe = { iodepth = 1 }
"""
HEAD = "condition,job,op,metric,value"
ROWS = """slow,probe,read,p99.9_us,410
slow,probe,read,p50_us,70.5
slow,probe,read,mean_us,80
slow,all,write,iops,1900
alone,probe,read,p50_ns,64000
alone,probe,read,p99_ms,0.25
alone,probe,read,iops,14000
alone,probe,read,count,140001
"""


def table(folder: Path, rows: str = ROWS, runs: str = RUNS, head: str = HEAD) -> Path:
    """Write a table with its conditions."""
    (folder / "some.toml").write_text(runs)
    path = folder / "some.csv"
    path.write_text(f"{head}\n{rows}")
    return path


@pytest.fixture
def slow(tmp_path: Path) -> Condition:
    """Return the condition with figures of a probe, and totals."""
    return read_table(table(tmp_path))[0]


def test_a_table_has_its_conditions_in_order(tmp_path: Path) -> None:
    slow, alone = read_table(table(tmp_path))
    assert (slow.name, slow.fio_version, slow.path) == (
        "slow", "fio-3.35", tmp_path / "some.toml",
    )  # fmt: skip
    assert alone.name == "alone"
    (probe,) = alone.jobs
    # A job's options over those of its name, and these over the global ones.
    assert probe.options == {
        "bs": "4k",
        "iodepth": "1",
        "runtime": "10s",
        "rw": "randread",
        "lat_percentiles": "1",
    }
    read = probe.measured["read"]
    assert (read.count, read.iops, read.has_rate, read.latency) == (140_001, 14_000, True, "lat")
    assert read.percentile_ns == {50.0: 64_000.0, 99.0: 250_000.0}


def test_without_iops_and_count_the_options_say_both(slow: Condition) -> None:
    """500 reads a second for ten seconds, not compared as a rate."""
    read = slow.jobs[0].measured["read"]
    assert (read.iops, read.count, read.has_rate, read.mean_ns) == (500, 5000, False, 80_000)
    assert list(read.percentile_ns.items()) == [(50.0, 70_500.0), (99.9, 410_000.0)]


def test_clones_are_jobs_of_their_own(slow: Condition) -> None:
    assert [job.name for job in slow.jobs] == ["probe", "writer.0", "writer.1"]
    first, second = slow.jobs[1:]
    assert first.options == second.options
    assert first.options["numjobs"] == "1"
    assert (first.measured, first.rate("write"), first.rate("read")) == ({}, 1000, None)
    assert has_writes(slow)
    text = job_file(slow, 0.1, 1)
    assert text.count("rate_iops=1000") == 2
    assert (load_of(slow), depth_of(slow)) == ("4 KiB reads, 2,000 writes/s", 8)


def test_totals_are_a_job_more(slow: Condition) -> None:
    figures = [(number, op, of.iops) for number, op, of in slow.figures()]
    assert figures == [(0, "read", 500), (3, "write", 1900)]
    assert [slow.job_name(each) for each in (0, 3)] == ["probe", "all"]
    prediction = {
        (0, "read"): Simulated(100, 500, {50.0: 141_000.0, 99.9: 410_000.0}),
        (3, "write"): Simulated(100, 950, {}),
    }
    compared = terms(slow, prediction, Weights())
    assert [(each.job, each.what) for each in compared] == [(0, "p50"), (0, "p99.9"), (3, "iops")]
    assert [each.difference for each in compared] == pytest.approx([1.0, 0.0, -0.5])
    # 500 reads a second of 80 us each are hardly ever two at a time, whatever the depth:
    # the sampling error of p50 is that of 5,000 and 100 independent reads.
    slope = math.log(410 / 70.5) / 0.499
    sampling = (0.5 * slope) ** 2 * (1 / 5000 + 1 / 100)
    assert compared[0].sigma ** 2 == pytest.approx(0.03**2 + (1 / 64) ** 2 / 12 + sampling)


def test_time_follows_from_the_measured_job_and_the_totals(tmp_path: Path, slow: Condition) -> None:
    """1,000 reads at 500 a second; 1,900 writes of 4 KiB are 7.8 MB a second."""
    assert times(slow, Effort(1000, 1))[1] == pytest.approx(2.0, abs=1e-3)
    assert times(slow, Effort(1000, 3 * 7_782_400))[1] == pytest.approx(3.0)
    # 1,900 of 2,000 writes: the drive did not keep up, and its buffer has to fill.
    assert times(slow, Effort(1, 1))[0] == 0.1
    rows = ROWS.replace("iops,1900", "iops,2000")
    kept_up = read_table(table(tmp_path, rows))[0]
    assert times(kept_up, Effort(1, 1))[0] < 0.1
    # Without totals the writers do as they are allowed to.
    rows = "\n".join(row for row in ROWS.splitlines() if ",all," not in row)
    assert times(read_table(table(tmp_path, rows))[0], Effort(1, 1))[0] < 0.1


def test_parquet_is_a_table_too(tmp_path: Path) -> None:
    path = table(tmp_path)
    rows = [line.split(",") for line in ROWS.splitlines()]
    columns = dict(zip(HEAD.split(","), zip(*rows, strict=True), strict=True))
    typed = {**columns, "value": [float(value) for value in columns["value"]]}
    pq.write_table(pa.table(typed), tmp_path / "some.parquet")
    assert read_table(tmp_path / "some.parquet") == read_table(path)
    (tmp_path / "some.parquet").write_text("none")
    with pytest.raises(UserError, match=r"some\.parquet: cannot be read"):
        read_table(tmp_path / "some.parquet")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("slow,probe,read,p50_us", "some.csv:2: must have 5 values: condition,job,op,metric,value"),
        ("fast,probe,read,p50_us,1", 'condition = "fast": must be one of slow, alone'),
        ("slow,prob,read,p50_us,1", 'some.csv:2: job = "prob": must be one of probe, writer, all'),
        ("slow,probe,raed,p50_us,1", 'op = "raed": must be one of read, write, trim'),
        ("slow,probe,write,p50_us,1", 'some.csv:2: op = "write": must be a direction of rw'),
        ("slow,probe,read,p50,1", "metric = p50: must be one such as p50_us, p99.9_us"),
        ("slow,probe,read,p101_us,1", "metric = p101_us: must be one such as"),
        ("slow,probe,read,p50_us,fast", "value = fast: must be a finite number above 0"),
        ("slow,probe,read,p50_us,0", "value = 0: must be a finite number above 0"),
        ("slow,probe,read,p50_us,nan", "value = nan: must be a finite number above 0"),
        (
            "slow,probe,read,p50_us,1\nslow,probe,read,p50_ns,1",
            "some.csv:3: metric = p50_ns: is there twice; must be once",
        ),
        ("slow,probe,read,p90_us,1", "some.csv:2: its reads have no median; must have p50_us"),
        (
            "slow,probe,read,p50_us,2\nslow,probe,read,p90_us,1",
            "some.csv:2: its percentiles of reads decrease; must increase",
        ),
        (
            "slow,writer,write,p50_us,2",
            'condition.slow.jobs.writer: numjobs = 2 clones must have no figures, which must be '
            'of job "all"',
        ),
        (
            "slow,probe,read,p50_us,2",
            "some.toml: condition.alone has no figures; must have some in a table",
        ),
        (
            "slow,probe,read,p50_us,2\nalone,probe,read,p50_us,2",
            "some.csv:3: has no iops; must have it, or its job rate or rate_iops",
        ),
    ],
)  # fmt: skip
def test_a_wrong_row_is_named(tmp_path: Path, rows: str, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        read_table(table(tmp_path, rows))
    assert str(refused.value).startswith(str(tmp_path))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[global]", "[globl]", "globl is no key here; must be one of measured_with, global, jobs"),
        ("[condition.slow.jobs]", "[condition.slow]", "slow.probe is no key here; must be one of"),
        ("bs = ", "bs = = ", ".toml:5:6: not TOML: "),
        ('bs = "4k"', "bs = [4]", "global.bs = [4]: must be a text or a number, as fio takes it"),
        ('bs = "4k"', "bs = 1979-05-27", "global.bs = 1979-05-27: must be a text or a number"),
        ("[global]", "global = 3\n[other]", "other is no key here"),
        ('"randread"', '"readrand"', "condition.slow.jobs.probe: rw=readrand: must be"),
        (
            "{ rate_iops = 1000 }",
            "{}",
            "jobs.writer: has no figures; must have rows in a table, or",
        ),
        (
            "numjobs = 2",
            'numjobs = 2\noffset_increment = "1m"',
            "jobs.writer: numjobs = 2 clones must have no offset_increment",
        ),
        ('runtime = "10s"', "", "some.csv:2: has no count; must have it, or its job runtime"),
        ("writer =", "all = {}\nwriter =", "condition.slow.jobs.all: must not be named all"),
    ],
)
def test_a_wrong_file_of_conditions_is_named(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    assert old in RUNS
    with pytest.raises(UserError) as refused:
        read_table(table(tmp_path, runs=RUNS.replace(old, new, 1)))
    assert str(refused.value).startswith(str(tmp_path))
    assert sentence in str(refused.value)


def test_a_table_needs_its_columns_and_its_conditions(tmp_path: Path) -> None:
    path = table(tmp_path, head="condition,job,op,metric,ns")
    with pytest.raises(UserError, match=r"some\.csv:1: columns = .*,ns: must be condition,job,op"):
        read_table(path)
    (tmp_path / "some.toml").unlink()
    with pytest.raises(UserError, match=r"some\.toml: cannot be read: No such file"):
        read_table(path)
