"""Reading what fio measured: hand-made files, real ones, and fio itself where it is installed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve import UserError
from reprieve.calibration.fio_results import read_results
from reprieve.calibration.plan import job_files, runs
from reprieve.calibration.replay import Effort, ignored_places, job_file, times


def direction(**more: Any) -> dict[str, Any]:
    """Return what fio prints of a direction: 100 requests of 80 us on average, one at a time."""
    percentiles = {"1.000000": 70_000, "50.000000": 80_000, "99.000000": 99_000}
    latency = {"min": 60_000, "max": 120_000, "mean": 80_000.0, "percentile": percentiles}
    return {"total_ios": 100, "iops": 12_000.0, "lat_ns": latency, **more}


def output(*jobs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a whole output of fio."""
    options = {"ioengine": "spdk", "iodepth": "1", "bs": "4k"}
    return {"fio version": "fio-3.32", "global options": options, "jobs": list(jobs), **more}


def job(name: str = "read", **more: Any) -> dict[str, Any]:
    """Return a job that reads."""
    options = {"rw": "randread"}
    return {"jobname": name, "error": 0, "job options": options, "read": direction(), **more}


def written(folder: Path, content: object, name: str = "run.json") -> Path:
    """Write a file of fio."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_job_has_its_options_over_the_global_ones(tmp_path: Path) -> None:
    """Of several kinds of jobs each has its own figures; what did nothing is left out."""
    fill = job("fill", write=direction(total_ios=7), read=direction(total_ios=0))
    fill["job options"] = {"rw": "write", "bs": "128k"}
    [found] = read_results([written(tmp_path, output(fill, job()))])
    assert (found.name, found.fio_version) == ("run", "fio-3.32")
    assert [each.name for each in found.jobs] == ["fill", "read"]
    assert found.jobs[0].options == {
        "ioengine": "spdk",
        "iodepth": "1",
        "bs": "128k",
        "rw": "write",
    }
    assert list(found.jobs[0].measured) == ["write"]
    read = found.jobs[1].measured["read"]
    assert (read.count, read.iops, read.latency, read.mean_ns) == (100, 12_000.0, "lat", 80_000.0)
    assert read.percentile_ns == {1.0: 70_000.0, 50.0: 80_000.0, 99.0: 99_000.0}


def test_completion_latencies_serve_where_whole_ones_have_no_percentiles(tmp_path: Path) -> None:
    """Runs with clat_percentiles, and those of fio 2, in microseconds."""
    figures = {"min": 60.0, "max": 120.0, "mean": 80.0, "percentile": {"50.000000": 79}}
    old = direction(clat=figures)
    del old["lat_ns"]
    [found] = read_results([written(tmp_path, output(job(read=old)))])
    read = found.jobs[0].measured["read"]
    assert (read.latency, read.percentile_ns, read.mean_ns) == ("clat", {50.0: 79_000.0}, 80_000.0)


def test_a_histogram_serves_where_there_are_no_percentiles(tmp_path: Path) -> None:
    """The output of json+ has latencies and how many requests took each.

    Of 1,000 reads the 10th, 500th and 990th take 60, 70 and 90 us; the 1,000th takes 400.
    """
    bins = {"90000": 495, "60000": 10, "70000": 490, "400000": 5}
    found = direction(lat_ns={"mean": 80e3, "bins": bins}, total_ios=1000)
    (condition,) = read_results([written(tmp_path, output(job(read=found)))])
    measured = condition.jobs[0].measured["read"]
    picked = {percent: measured.percentile_ns[percent] for percent in (1.0, 50.0, 99.0, 99.99)}
    assert picked == {1.0: 60e3, 50.0: 70e3, 99.0: 90e3, 99.99: 400e3}

    found = direction(lat_ns={"mean": 80e3, "bins": {"60000": -3}}, total_ios=1000)
    with pytest.raises(UserError, match=r'job "read": read.lat_ns.bins.60000 = -3: must be'):
        read_results([written(tmp_path, output(job(read=found)), "bad.json")])


def test_a_percentile_between_two_bins_is_that_of_fio(tmp_path: Path) -> None:
    """A percentage is a double to fio: 99.95 asks for the 49,976th of 50,000, not the 49,975th.

    99.5 is exact: the 49,750th.
    """
    bins = {"100": 49_750, "199": 225, "203": 25}
    found = direction(lat_ns={"mean": 100.5, "bins": bins}, total_ios=50_000)
    (condition,) = read_results([written(tmp_path, output(job(read=found)))])
    measured = condition.jobs[0].measured["read"].percentile_ns
    assert (measured[99.5], measured[99.9], measured[99.95]) == (100.0, 199.0, 203.0)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_percentiles_of_a_histogram_are_those_of_fio(tmp_path: Path) -> None:
    """Bins of fio have the percentiles that it prints."""
    path = tmp_path / "null.json"
    command = [
        *("fio", "--name=null", "--ioengine=null", "--size=1g", "--rw=randread", "--bs=4k"),
        *("--number_ios=50000", "--lat_percentiles=1", "--output-format=json+"),
    ]
    subprocess.run([*command, f"--output={path}"], check=True, capture_output=True, cwd=tmp_path)
    content = json.loads(path.read_text())
    (told,) = read_results([path])
    del content["jobs"][0]["read"]["lat_ns"]["percentile"]
    (counted,) = read_results([written(tmp_path, content, "bins.json")])
    expected = told.jobs[0].measured["read"].percentile_ns
    assert counted.jobs[0].measured["read"].percentile_ns == expected


def test_lines_before_and_objects_behind(tmp_path: Path) -> None:
    """Lines before fio's output are passed over; of a status interval the last object counts."""
    later = output(job(read=direction(total_ios=200)))
    text = f"fio: note\n{json.dumps(output(job()))}\n{json.dumps(later)}\n"
    [found] = read_results([written(tmp_path, text)])
    assert found.jobs[0].measured["read"].count == 200


def test_bad_files_are_refused_by_name(tmp_path: Path) -> None:
    """One sentence with the file and what would be right."""
    slow = direction(iops=100.0)
    high = {"50.000000": 80_000, "99.990000": 17_179_869_184}
    slow["lat_ns"] = {**slow["lat_ns"], "percentile": high}
    polled = job(read=slow)
    polled["job options"] = {"rw": "randread", "hipri": "1", "sqthread_poll": "1"}
    bare = direction()
    bare["lat_ns"] = {"min": 1, "max": 2, "mean": 1.5}
    falling = direction()
    falling["lat_ns"] = {**falling["lat_ns"], "percentile": {"50.000000": 9, "99.000000": 8}}
    for content, sentence in (
        ("", "has no JSON"),
        (json.dumps(output(job()))[:-20], "the file has been cut off"),
        ({"jobs": []}, "its list of jobs is empty"),
        ({"job": []}, 'has no "jobs"'),
        (output(job(error=5)), 'job "read": ended with error 5'),
        (output(job(read=direction(total_ios=0))), "no job has completed a request"),
        (output(job(read=bare)), "fio must run with lat_percentiles=1"),
        (output(job(read=falling)), "decrease"),
        (output(polled), "take 17.2 s: fio measures so with hipri and sqthread_poll"),
        (output(job(read=direction(iops=50_000.0))), "need 4 requests at a time"),
    ):
        path = written(tmp_path, content)
        with pytest.raises(UserError) as error:
            read_results([path])
        assert sentence in str(error.value)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
    path = written(tmp_path, output(job()))
    with pytest.raises(UserError, match="each must have its own"):
        read_results([path, path])
    with pytest.raises(UserError, match="cannot be read"):
        read_results([tmp_path / "missing.json"])


def test_a_planned_job_file_runs_in_the_simulator(tmp_path: Path) -> None:
    """Every file of the plan is one that `workload.fio` takes."""
    files = job_files(run_s=1)
    assert len(files) == len(runs()) + 1
    for name, text in files.items():
        if not name.endswith(".fio"):
            continue
        short = text.replace("runtime=1s", "runtime=2ms").replace("ramp_time=5s", "ramp_time=1ms")
        path = written(tmp_path, short.replace("rate=,1000m", "rate=,10m"), name)
        drive = {"device": "tlc-nvme", "geometry": {"blocks_per_plane": 32}}
        drive["ftl"] = {"over_provisioning": 0.2, "precondition": "none"}
        result = rp.run(drive, workload__fio=str(path))
        assert "read" in result.summary["flows"]


def test_a_condition_becomes_a_job_file(tmp_path: Path) -> None:
    """Options of the load stay, those of the host go, and zones are named and left out."""
    zoned = job()
    zoned["job options"] = {"rw": "randread", "offset": "0", "size": "400z", "iodepth": "8"}
    [found] = read_results([written(tmp_path, output(zoned))])
    assert ignored_places(found) == ["size=400z"]
    assert job_file(found, 0.5, 2.0).splitlines() == [
        "[global]",
        "time_based",
        "ramp_time=500000us",
        "runtime=2000000us",
        "",
        "[job0]",
        "ioengine=spdk",
        "bs=4k",
        "rw=randread",
        "offset=0",
        "iodepth=8",
        "norandommap=1",
    ]
    # 12,000 requests a second: 6,000 take half a second, and a fourth of it comes before.
    assert times(found, Effort(6_000)) == (0.02 + 0.125, 0.5)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_what_fio_writes_is_read(tmp_path: Path) -> None:
    """A planned job, run by the fio of this machine on its engine that does nothing."""
    text = job_files(engine="null", run_s=1)["read-4k-depth1.fio"].replace("ramp_time=5s\n", "")
    jobs = written(tmp_path, text.replace("size=100%", "size=1g"), "read.fio")
    out = tmp_path / "read.json"
    command = ["fio", "--output-format=json", f"--output={out}", str(jobs)]
    subprocess.run(command, check=True, env={"DEVICE": "none", "PATH": "/usr/bin:/bin"})
    [found] = read_results([out])
    content = json.loads(out.read_text())["jobs"][0]["read"]
    read = found.jobs[0].measured["read"]
    assert (read.count, read.iops) == (content["total_ios"], content["iops"])
    assert set(read.percentile_ns) >= {1.0, 50.0, 99.0, 99.9, 99.99}
    assert read.percentile_ns[50.0] == content["lat_ns"]["percentile"]["50.000000"]
