"""The calibration's arithmetic by hand, and a small fit of a drive that is known."""

import json
import math
import tomllib
from pathlib import Path

import pytest

from reprieve import UserError
from reprieve.calibration.calibrate import Task, split
from reprieve.calibration.evaluate import expand
from reprieve.calibration.fio_results import read_results
from reprieve.calibration.measured import Condition, Job, Measured
from reprieve.calibration.objective import FIO_BIN, Term, Weights, residuals, terms
from reprieve.calibration.parameters import (
    PROGRAM,
    STEPS,
    Parameter,
    Value,
    merge,
    overrides,
    parse_fix,
    parse_free,
)
from reprieve.calibration.ranges import DIES, default_parameters, program_range
from reprieve.calibration.replay import Effort, Simulated

from .drive import Reprieve
from .fio_output import in_bin, measure


def reads(size: str, depth: int, iops: float, percentile_ns: dict[float, float]) -> Condition:
    """Return random reads alone, as measured."""
    options = {"rw": "randread", "bs": size, "iodepth": str(depth)}
    measured = Measured(10_000, iops, "lat", percentile_ns, 80e3, 60e3, 120e3)
    job = Job("read", options, {"read": measured})
    return Condition(f"read-{size}-{depth}", Path("x.json"), "fio-3.32", (job,))


def test_ranges_and_values_are_read() -> None:
    """Bounds, choices and fixed values; what is neither is refused in a sentence."""
    assert parse_free("timing.t_bus_us=10..40") == Parameter("timing.t_bus_us", 10, 40)
    assert parse_free("host.outstanding=64..256").whole
    parameter = parse_free("suspension.reads_per_suspension=1|2|none")
    assert parameter.choices == (1, 2, None)
    assert parse_fix("buffer.bytes=16777216") == ("buffer.bytes", 16_777_216)
    assert parse_fix("suspension.program=none") == ("suspension.program", None)
    assert parse_fix("ftl.gc_background=false")[1] is False
    assert parse_free("ftl.gc_background=true|false").choices == (True, False)
    for wrong in ("timing.t_bus_us", "timing.t_bus_us=10", "a=b..c", "timing.t_bus_us=40..10"):
        with pytest.raises(UserError, match="--free"):
            parse_free(wrong)
    with pytest.raises(UserError, match="--fix x: must be KEY=VALUE"):
        parse_fix("x")
    with pytest.raises(UserError, match="is given with --free and with --fix"):
        merge((), [parse_free("timing.t_bus_us=10..40")], {"timing.t_bus_us": 20.0})


def test_quantities_become_keys() -> None:
    """A program of 2.1 ms in steps of 100 us has 21 of them; a list has its mean beside it."""
    keys = overrides(
        expand(
            {
                DIES: "8x4",
                "timing.t_read_us_by_type[0]": 40.0004,
                "timing.t_read_us_by_type[1]": 50.0,
                "timing.t_read_us_by_type[2]": 60.0,
                PROGRAM: 2100.0,
                STEPS: 21.0,
                "host.outstanding": 170.0,
                "suspension.reads_per_suspension": None,
            }
        )
    )
    assert keys == {
        "geometry.channels": 8,
        "geometry.dies_per_channel": 4,
        "geometry.chips_per_channel": 1,
        "timing.t_read_us_by_type": [40.0, 50.0, 60.0],
        "timing.t_read_us": 50.0,
        "timing.page_types": 3,
        "timing.program_iterations": 21,
        "timing.t_program_pulse_us": 30.0,
        "timing.t_verify_us": 70.0,
        "timing.t_voltage_reset_us": 0,
        "host.outstanding": 170,
        "suspension.reads_per_suspension": "none",
    }


def test_a_difference_counts_by_its_errors() -> None:
    """One percentile of 10,000 requests, 10 % too high; by hand."""
    percentiles = {10.0: 70e3, 50.0: 80e3, 90.0: 100e3}
    condition = reads("4k", 1, 12_000, percentiles)
    simulated = Simulated(10_000, 12_000.0, {**percentiles, 50.0: 88e3})
    found = terms(condition, {(0, "read"): simulated}, Weights(0.03))
    assert [term.what for term in found] == ["p10", "p50", "p90", "iops"]
    # The logarithm of the quantile rises by ln(100/70) over 0.8 of the requests.
    slope = math.log(100 / 70) / 0.8
    sampling = 0.5 * slope * math.sqrt(2 / 10_000)
    sigma = math.sqrt(0.03**2 + FIO_BIN**2 + sampling**2)
    assert found[1].sigma == pytest.approx(sigma)
    standard = math.log(1.1) / sigma
    # Three percentiles count for two numbers, and what is far off for less than its square.
    expected = math.sqrt(2 / 3) * 3 * math.asinh(standard / 3)
    assert residuals(found) == pytest.approx([0, expected, 0, 0])
    assert found[1].difference == pytest.approx(0.1)


def test_requests_that_wait_together_are_fewer_observations() -> None:
    """Of 10,000 reads at a depth of 64 as much is known as of 156 at a depth of 1."""
    percentiles = {10.0: 70e3, 50.0: 80e3, 90.0: 100e3}
    simulated = Simulated(10_000, 12_000.0, percentiles)
    sampling = []
    for depth in (1, 64):
        condition = reads("4k", depth, 12_000, percentiles)
        found = terms(condition, {(0, "read"): simulated}, Weights(0.03))
        sampling.append(found[1].sigma ** 2 - 0.03**2 - FIO_BIN**2)
    assert sampling[1] == pytest.approx(64 * sampling[0])


def test_extreme_percentiles_are_not_fitted() -> None:
    """p99.99 is compared and does not count."""
    term = Term("run", 0, "read", "p99.99", 100.0, 200.0, 0.1)
    assert len(residuals([term])) == 0


def test_ranges_follow_from_the_measurements() -> None:
    """By hand: the channel from two sizes, the open commands by Little, the dies by the rate."""
    shallow = reads("4k", 1, 13_000, {1.0: 66e3, 50.0: 70e3, 99.0: 82e3})
    longer = reads("16k", 1, 9_800, {1.0: 95e3, 50.0: 100e3, 99.0: 111e3})
    deep = reads("4k", 256, 400_000, {1.0: 266e3, 50.0: 500e3, 99.0: 1.5e6})
    found = {each.key: each for each in default_parameters([shallow, longer, deep])}
    # A page of the slowest type takes less than the slowest reads, which are 82 us.
    assert found["timing.t_read_us_by_type[2]"].high == pytest.approx(1.1 * 82)
    # 12 KiB take 30 us, and 16 KiB 40; the link has its share.
    assert found["timing.t_bus_us"].guess == pytest.approx(0.8 * 40)
    # All wait 200 us at 400,000 a second: 80 wait, and 176 are in the drive.
    assert found["host.outstanding"].guess == pytest.approx(176)
    # 400,000 a second of 70 us are 28 dies at work.
    assert found[DIES].choices == (
        "4x4",
        "4x8",
        "4x16",
        "8x2",
        "8x4",
        "8x8",
        "16x1",
        "16x2",
        "16x4",
    )
    assert found["host.t_command_us"].high == 2.5
    assert PROGRAM not in found


def test_a_program_is_no_longer_than_what_was_written_allows() -> None:
    """32 dies of two planes write 96 KiB each in a program; 750 MiB/s are one every 4 ms."""
    options = {"rw": "write", "bs": "128k", "iodepth": "1", "rate": ",750m"}
    write = Measured(1000, 6000.0, "lat", {50.0: 75e3}, 75e3, 70e3, 90e3)
    job = Job("fill", options, {"write": write})
    condition = Condition("mixed", Path("x.json"), "fio-3.32", (job,))
    found = program_range([condition], dies=32, planes=2)
    assert found.high == pytest.approx(1.15 * 4000)


def test_files_are_held_out_by_their_stems() -> None:
    """A pattern that matches nothing is a mistake, and so is one that leaves nothing."""
    runs = [reads("4k", depth, 1.0, {50.0: 1.0}) for depth in (1, 2)]
    fitted, held = split(runs, ["*-2"])
    assert [each.name for each in fitted + held] == ["read-4k-1", "read-4k-2"]
    with pytest.raises(UserError, match="matches no file"):
        split(runs, ["*-3"])
    with pytest.raises(UserError, match="leaves nothing to fit"):
        split(runs, ["*"])


def test_the_bins_are_those_of_fio() -> None:
    """Values that fio 3.32 wrote are the middles of their bins."""
    for value in (69_120, 80_384, 132_096, 399_360, 4_145_152, 127, 63):
        assert in_bin(value) == value
    assert in_bin(69_000) == 69_120
    assert in_bin(69_633) == 70_144


PAGES_PER_BLOCK = ("geometry.pages_per_block", 96)
"""An eighth of the part's, as half of a run went to filling its drive: latencies of reads do not
depend on its size while nothing is collected."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return fio's output of a drive with a read of 50 us and a link of 1 GB/s."""
    folder = tmp_path_factory.mktemp("fio")
    truth: dict[str, Value] = {
        **{f"timing.t_read_us_by_type[{each}]": 50.0 for each in range(3)},
        "host.t_controller_us": 6.0,
        "host.t_command_us": 0.3,
        "host.link_bytes_per_s": 1_000_000_000,
        PAGES_PER_BLOCK[0]: PAGES_PER_BLOCK[1],
    }
    base = Task((), start="tlc-nvme").base()
    paths = []
    for size, depth in (("4k", 1), ("16k", 16)):
        jobs = [("read", {"rw": "randread", "bs": size, "iodepth": str(depth)})]
        content = measure(f"{size}-{depth}", jobs, base, truth, Effort(20_000), 12_000.0 * depth)
        paths.append(folder / f"{size}-{depth}.json")
        paths[-1].write_text(json.dumps(content))
    return paths


@pytest.mark.seconds(40)
def test_two_values_of_a_known_drive_come_back(
    measured: list[Path], tmp_path: Path, reprieve: Reprieve
) -> None:
    """By the command: values, a device that runs, and what is known of them."""
    fixed = ("timing.t_bus_us=40.96", "host.t_controller_us=6", "host.t_command_us=0.3")
    given = [f"--fix={each}" for each in (*fixed, "geometry.dies=8x4")]
    given.append("--fix={}={}".format(*PAGES_PER_BLOCK))
    given += [f"--free=timing.t_read_us_by_type[{each}]=30..90" for each in range(3)]
    out = tmp_path / "fit"
    command = ("calibrate", *measured, "--quick", "--out", out, *given)
    done = reprieve(*command)
    assert done.returncode == 0, done.stderr
    found = json.loads((out / "calibration.json").read_text())
    times = [found["values"][f"timing.t_read_us_by_type[{each}]"] for each in range(3)]
    assert sum(times) / 3 == pytest.approx(50, rel=0.05)
    assert found["values"]["host.link_bytes_per_s"] == pytest.approx(1e9, rel=0.05)
    device = tomllib.loads((out / "device.toml").read_text())
    assert device["host"]["t_command_us"] == 0.3
    assert "percentiles.svg" in {path.name for path in out.iterdir()}
    # Started again, it simulates nothing anew.
    before = [path.stat().st_mtime_ns for path in sorted(out.glob("segments/*"))]
    assert before
    again = reprieve(*command)
    assert again.returncode == 0, again.stderr
    assert [path.stat().st_mtime_ns for path in sorted(out.glob("segments/*"))] == before


def test_mistakes_end_in_one_sentence(
    measured: list[Path], tmp_path: Path, reprieve: Reprieve
) -> None:
    """Status 2, and nothing written."""
    out = tmp_path / "never"
    for arguments, sentence in (
        ((), "no results of fio are given"),
        ((str(tmp_path / "no.json"),), "cannot be read"),
        ((str(measured[0]), "--question", "wear"), "--question wear: must be suspension"),
        ((str(measured[0]), "--start", "tlc-nvm"), "tlc-nvm"),
        ((str(measured[0]), "--free", "x"), "--free x"),
        (
            (str(measured[0]), "--free", "buffer.bytes=1e6..1e7"),
            "--free buffer.bytes: no measurement to fit has writes",
        ),
        ((str(measured[0]), "--hold-out", "y*"), "--hold-out y*: matches no file"),
    ):
        done = reprieve("calibrate", *arguments, "--out", out)
        assert done.returncode == 2, done.stdout
        assert sentence in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not out.exists()


def test_files_that_were_read_keep_their_jobs(measured: list[Path]) -> None:
    """Results written as fio's output are read again."""
    found = read_results(measured)
    assert [each.jobs[0].options["iodepth"] for each in found] == ["1", "16"]
