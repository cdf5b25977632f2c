"""Results of a real fio (3.33): each is read as it was run, or refused by its true cause."""

import copy
import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reprieve import UserError
from reprieve.calibration.candidates import candidates
from reprieve.calibration.figure import load_of
from reprieve.calibration.filled_drives import FilledDrives
from reprieve.calibration.fio_results import read_results
from reprieve.calibration.measured import Condition
from reprieve.calibration.ranges import default_parameters
from reprieve.calibration.replay import Effort, job_file, predict, times

from .drive import Reprieve
from .fio_runs import CLIENTS, COMMANDS, FILES, RECORDED
from .mutations import mutated

RUNS = {run["name"]: run["output"] for run in json.loads(RECORDED.read_text())}

# By job: direction, sizes, depth and clones as its command has them, and the requests that follow
# from them by hand: 8 MiB in requests of that size, `number_ios`, or a second at the rate. None:
# as many as a second allows.
K = 1024
READ: dict[str, list[tuple[str, list[int], int, int, int | None]]] = {
    "null-read": [("read", [4 * K], 1, 1, 2000)],
    "sync-read": [("read", [4 * K], 1, 1, 600)],
    "psync-write": [("write", [8 * K], 1, 1, 600)],
    "psync-mix": [("read write", [4 * K, 16 * K], 1, 1, None)],
    "libaio-read": [("read", [4 * K], 8, 1, 2000)],
    "libaio-write": [("write", [64 * K], 4, 1, 128)],
    "libaio-mix": [("read write", [4 * K, 4 * K], 16, 1, 2048)],
    "uring-read": [("read", [16 * K], 32, 1, 512)],
    "uring-split": [("read", [4 * K, 16 * K], 4, 1, None)],
    "uring-rate": [("write", [64 * K], 1, 1, 128)],
    # Three entries of one clone each, and one of three.
    "clones-apart": [("read", [4 * K], 1, 1, None)] * 3,
    "clones-grouped": [("read", [4 * K], 1, 3, None)],
    "clones-grouped-deep": [("read", [4 * K], 4, 2, None)],
    "two-apart": [("read", [4 * K], 4, 1, None), ("write", [64 * K], 1, 1, 64)],
    "file-apart": [("read", [4 * K], 2, 1, None), ("write", [64 * K], 1, 1, 64)],
    "unified-apart": [("read", [4 * K], 2, 1, None), ("write", [64 * K], 1, 1, 64)],
    "unified-both": [("read write", [4 * K, 4 * K], 4, 1, None)],
    "trims": [("trim", [4 * K], 1, 1, 2000)],
    "variables": [("read", [4 * K], 4, 1, None)],
    "zones": [("read", [4 * K], 1, 1, 2048)],
    "client-one": [("read", [4 * K], 2, 1, None)],
    "client-two": [("read", [4 * K], 2, 1, None), ("write", [64 * K], 1, 1, 65)],
    "client-unified": [("read", [4 * K], 2, 1, None)],
}

GROUPED = "fio merges jobs under group_reporting, with the options of one: remove it"
SYNCHRONOUS = "iodepth=8, and fio had one request outstanding: ioengine"
REFUSED = {
    "psync-deep": ('job "r"', f"{SYNCHRONOUS} psync has no more"),
    "default-deep": ('job "r"', f"{SYNCHRONOUS} the default, psync, has no more"),
    "null-deep": ('job "r"', f"{SYNCHRONOUS} null has no more"),
    "grouped-directions": ('job "reader"', "reads, and rw=write asks for none", GROUPED),
    "grouped-sizes": ('job "small"', "the time of 2.0 clones", "numjobs=1", GROUPED),
    "grouped-depths": ('job "one"', "the time of 2.0 clones", "numjobs=1", GROUPED),
    "grouped-alike": ('job "one"', "the time of 2.0 clones", "numjobs=1", GROUPED),
    "unified-mix": ('"mixed", and cannot be told apart', "run without unified_rw_reporting"),
    "unified-grouped": ('job "reader"', "the time of 2.0 clones", GROUPED),
    "one-by-one": ('job "second"', "one after the other", "without stonewall"),
    "late": ('job "second"', "startdelay=1s", "must begin together"),
    "uneven": ('job "short": ran for 1.001 s, and job "long" for 4.001 s', "one runtime"),
    "range": ('job "b"', "bsrange=4k-16k: no option that is simulated"),
    "client-grouped": ('job "reader"', "reads, and rw=write asks for none", GROUPED),
}


def written(folder: Path, content: object) -> Path:
    """Write a result as fio does, behind a line of its own."""
    path = folder / "run.json"
    path.write_text(f"fio: a note on {{braces}}\n{json.dumps(content, indent=2)}\n")
    return path


def test_each_run_has_an_expectation() -> None:
    """Recorded runs are those of the commands, and every run is read or refused."""
    assert set(RUNS) == {*COMMANDS, *FILES, *CLIENTS} == {*READ, *REFUSED}
    assert not set(READ) & set(REFUSED)


@pytest.mark.parametrize("name", READ)
def test_a_run_is_read_as_it_was_run(tmp_path: Path, name: str) -> None:
    """Directions, sizes, depth and clones of the options; the figures of fio."""
    [found] = read_results([written(tmp_path, RUNS[name])])
    assert found.fio_version == "fio-3.33"
    entries = RUNS[name].get("jobs") or RUNS[name]["client_stats"]
    assert len(found.jobs) == len(READ[name])
    for job, entry, (directions, sizes, depth, clones, count) in zip(
        found.jobs, entries, READ[name], strict=False
    ):
        assert " ".join(job.measured) == directions
        assert [size for each in job.asked.sizes.values() for size, _ in each] == sizes
        assert (job.asked.queue_depth, job.asked.clones) == (depth, clones)
        if count is not None:
            assert sum(each.count for each in job.measured.values()) == count
        for direction, measured in job.measured.items():
            figures = entry[direction] if direction in entry else entry["mixed"]
            assert (measured.iops, measured.latency) == (figures["iops"], "lat")
            percentiles = figures["lat_ns"]["percentile"]
            assert measured.percentile_ns[99.0] == percentiles["99.000000"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_is_refused_by_its_true_cause(tmp_path: Path, name: str) -> None:
    """One sentence that names file, job, and what to change."""
    path = written(tmp_path, RUNS[name])
    with pytest.raises(UserError) as refused:
        read_results([path])
    sentence = str(refused.value)
    assert sentence.startswith(f"{path}: ") and "\n" not in sentence
    for part in REFUSED[name]:
        assert part in sentence


def test_figures_that_contradict_options_are_refused(tmp_path: Path) -> None:
    """A run that was read well, with one of its options or figures changed."""
    options = "job options"
    changes: list[tuple[str, str, dict[str, Any], str]] = [
        ("libaio-read", options, {"bs": "8k"}, "have 4096 bytes on average, and its options ask"),
        ("libaio-read", options, {"iodepth": "2"}, "at a greater depth than iodepth=2"),
        ("libaio-read", options, {"percentage_random": "50"}, "random=50: must be one of 100"),
        ("libaio-read", options, {"iodepth": "${DEPTH}"}, "iodepth=${DEPTH}: must be the value"),
        ("libaio-read", options, {"size": "200%"}, "size=200%: must be a whole percentage"),
        ("libaio-mix", options, {"rwmixread": "90"}, "49% of its requests are reads, and its"),
        ("uring-rate", options, {"rate": "2m"}, "128 writes a second, and its rate is 32 at most"),
        ("uring-rate", options, {"runtime": "60"}, "ended after 1.00"),
        ("client-one", options, {"numjobs": "2"}, "numjobs=2, and the file has figures of 1"),
        ("client-one", "read", {"iops": 90e3}, "read.iops = 90000: must be its total_ios over"),
        ("uring-read", "read", {"lat_ns": {"mean": 4e5, "percentile": {"99": 9}}}, "has no median"),
        ("client-two", "hostname", {}, "has clients of 2 hosts (/socket, elsewhere), each with a"),
    ]
    for name, key, change, sentence in changes:
        output = copy.deepcopy(RUNS[name])
        entries = output.get("jobs") or output["client_stats"]
        if change:
            entries[0][key] |= change
        else:
            entries[0]["hostname"] = "elsewhere"
        with pytest.raises(UserError) as refused:
            read_results([written(tmp_path, output)])
        assert sentence in str(refused.value)


def test_regions_beyond_the_drive_are_scaled(tmp_path: Path) -> None:
    """Two regions of 3 TiB in all on a drive of 6 GiB: a factor of 512; a law is refused."""
    output = copy.deepcopy(RUNS["two-apart"])
    read, write = (entry["job options"] for entry in output["jobs"])
    read |= {"size": "1t"}
    write |= {"offset": "1t", "size": "2t"}
    [found] = read_results([written(tmp_path, output)])
    lines = job_file(found, 0.1, 1.0, 6 << 30).splitlines()
    sizes = [line for line in lines if line.startswith(("[job", "offset", "size"))]
    gib = 1 << 30
    assert sizes == ["[job0]", f"size={2 * gib}", "[job1]", f"size={4 * gib}", f"offset={2 * gib}"]
    assert "size=1t" in job_file(found, 0.1, 1.0, 3 << 40).splitlines()
    read |= {"random_distribution": "zipf:1.2"}
    path = written(tmp_path, output)
    [found] = read_results([path])
    with pytest.raises(UserError) as refused:
        job_file(found, 0.1, 1.0, 6 << 30)
    for part in (str(path), 'job "r"', f"{3 << 40} bytes", f"has {6 << 30}", "zipf:1.2"):
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("options", "more", "sentence"),
    [
        ({"size": "3t", "random_distribution": "zipf:1.1"}, (), "its region ends at 3298534883328"),
        (
            {},
            ("--fix", "geometry.page_bytes=1000"),
            "geometry.page_bytes = 1000: must be a",
        ),
    ],
)
def test_a_search_without_a_drive_says_why(
    reprieve: Reprieve, tmp_path: Path, options: dict[str, str], more: Any, sentence: str
) -> None:
    """The cause is the load's or the key's, and is told as such."""
    output = copy.deepcopy(RUNS["sync-read"])
    output["jobs"][0]["job options"] |= options
    path = written(tmp_path, output)
    done = reprieve("calibrate", path, "--quick", "--workers", "1", *more, "--out", "fit")
    assert done.returncode == 2
    assert sentence in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "fit" / "device.toml").exists()


def _times(conditions: list[Condition]) -> object:
    return times(conditions[0], Effort(6_000))


@pytest.mark.seconds(40)
def test_no_mutation_is_an_internal_fault(tmp_path: Path) -> None:
    """10,000 results with values of wrong types: read, or refused in one sentence with the file."""
    draw = random.Random(20_261_128)
    runs = [RUNS[name] for name in (*READ, *REFUSED)]
    path = tmp_path / "run.json"
    counts = {"read": 0, "refused": 0}
    for number in range(10_000):
        text = json.dumps(mutated(draw.choice(runs), draw))
        if number % 20 == 0:
            # Cut off, or with bytes that are no text.
            raw = bytearray(text[: draw.randrange(len(text) + 1)].encode())
            raw[draw.randrange(len(raw) + 1) :] += draw.randbytes(number % 3)
            path.write_bytes(raw)
        else:
            path.write_text(text)
        try:
            for condition in read_results([path]):
                job_file(condition, 0.1, 1.0, 6 << 30)
                load_of(condition)
                # A run alone may be too little for a fit, and refused as such.
                for use in (default_parameters, candidates, _times):
                    with suppress(UserError):
                        use([condition])
            counts["read"] += 1
        except UserError as refused:
            sentence = str(refused)
            assert "\n" not in sentence and (str(path) in sentence or ": bssplit=" in sentence)
            counts["refused"] += 1
    # A test in which all were refused at once would show nothing.
    assert counts["read"] > 500 and counts["refused"] > 3_000, counts


def test_trims_are_simulated_as_trims(tmp_path: Path) -> None:
    """A job of trims has simulated figures of its own, as reads and writes have."""
    [found] = read_results([written(tmp_path, RUNS["trims"])])
    base = {
        "device": "tlc-nvme",
        "geometry": {"blocks_per_plane": 32},
        "ftl": {"over_provisioning": 0.2},
    }
    drives = FilledDrives()
    try:
        predicted = predict(found, base, {}, Effort(2_000, seconds_max=0.05), drives)
    finally:
        drives.close()
    assert list(predicted) == [(0, "trim")]
    assert predicted[0, "trim"].count > 0 and predicted[0, "trim"].iops > 0
