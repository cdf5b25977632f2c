"""`reprieve trace` and `rp.open_trace` on a trace of four rows written by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import reprieve as rp
from reprieve.trace_fit.order import Requests
from reprieve.traces import proposed_time_scale

from .drive import Reprieve

# MSR Cambridge: ticks of 100 ns, host, disk, type, offset, bytes, response time.
ROWS = """\
128166372000000000,h,0,Read,8192,4096,100
128166372000000010,h,0,Write,0,8192,100
128166372000010010,h,0,Write,12288,4096,100
128166372000010020,h,0,Read,8192,4096,100
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    return path


def test_rows_as_they_are_written(trace: Path) -> None:
    rows = rp.open_trace(trace, format="msr").head(3)
    first_ns = rows[0].time_ns
    assert [row.time_ns - first_ns for row in rows] == [0, 1_000, 1_001_000]
    assert [(row.device, row.op, row.offset_bytes, row.bytes) for row in rows] == [
        (0, "read", 8192, 4096),
        (0, "write", 0, 8192),
        (0, "write", 12288, 4096),
    ]


def test_times_since_1601_are_counted_from_the_first(trace: Path) -> None:
    rows = rp.open_trace(trace, format="msr").head(3)
    assert rows[0].time_ns > 2**63
    found = Requests.of_rows(rows)
    assert found.time_ns.tolist() == [0, 1_000, 1_001_000]


def test_iteration_goes_to_the_end(tmp_path: Path) -> None:
    """More rows than one window holds, so that it has to double twice."""
    path = tmp_path / "long.csv"
    count = 10_000
    path.write_text(
        "".join(f"{128166372000000000 + i},h,0,Read,{4096 * i},4096,1\n" for i in range(count))
    )
    offsets = [row.offset_bytes for row in rp.open_trace(path)]
    assert offsets == [4096 * i for i in range(count)]


def test_info_counts(trace: Path, reprieve: Reprieve) -> None:
    info = rp.open_trace(trace).info()
    assert info["format"] == "msr"
    done = reprieve("trace", "info", trace, "--json")
    assert json.loads(done.stdout) == info
    table = reprieve("trace", "info", trace)
    assert (table.returncode, table.stderr) == (0, "")
    rows = [re.split(r"  +", line.strip()) for line in table.stdout.splitlines()]
    lines = {name: cells for name, *cells in rows}
    # By hand: two reads of 4 KiB, a write of 8 and one of 4.
    assert lines["requests"] == ["4", "2", "2"]
    assert lines["amount"] == ["20 KiB", "8 KiB", "12 KiB"]
    assert lines["size, mean"] == ["5 KiB", "4 KiB", "6 KiB"]
    assert lines["format"] == ["msr"]
    printed = table.stdout.replace("time_scale", "").replace(str(trace), "")
    assert not [word for word in ("_", "[", "None", "scv", ".p") if word in printed]
    assert "time_scale for fast12-mlc" in table.stdout
    other = reprieve("trace", "info", trace, "--device", "tlc-enterprise")
    assert "time_scale for tlc-enterprise" in other.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--device", "nope"), "--device nope: must be one of fast12-slc, fast12-mlc"),
        (("--device", "nope", "--json"), "--device nope: must be one of fast12-slc, fast12-mlc"),
        (("--device", "x.toml"), "--device x.toml: there is no file "),
        (("--load", "fin1-flows", "--device", "nope"), "--device nope: must be one of fast12-slc"),
        (("--load", "nope"), "--load nope: must be one of fin1-flows, fin2-flows"),
    ],
)
def test_a_wrong_device_or_load_names_its_option(
    trace: Path, reprieve: Reprieve, words: tuple[str, ...], sentence: str
) -> None:
    for beside in ((trace, *words), words):
        if beside == words and "--load" not in words:
            continue  # there would be nothing to look into
        failed = reprieve("trace", "info", *beside)
        assert failed.returncode == 2
        assert failed.stderr.startswith(sentence)
        assert failed.stderr.count("\n") == 1
        assert failed.stdout == ""


def test_head_prints_rows(trace: Path, reprieve: Reprieve) -> None:
    done = reprieve("trace", "head", trace, "-n", "2")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["time_ns", "device", "op", "offset_bytes", "bytes"]
    assert [line[1:] for line in lines[2:4]] == [
        ["0", "read", "8192", "4096"],
        ["0", "write", "0", "8192"],
    ]
    assert len(lines) == 4


def test_copy_has_the_same_requests(trace: Path, tmp_path: Path, reprieve: Reprieve) -> None:
    done = reprieve("trace", "convert", trace, "copy.gz", "--to", "mqsim")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("wrote copy.gz: ")
    before, after = rp.open_trace(trace).head(), rp.open_trace(tmp_path / "copy.gz").head()
    assert [row[1:] for row in after] == [row[1:] for row in before]
    gaps = [[row.time_ns - rows[0].time_ns for row in rows] for rows in (before, after)]
    assert gaps[0] == gaps[1]


def test_a_failed_conversion_leaves_what_was_there(tmp_path: Path, reprieve: Reprieve) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("1 0 8 8 0\n2 0 8 8 0\nnot a row\n")
    out = tmp_path / "folder" / "out.gz"
    out.parent.mkdir()
    out.write_text("what was there")
    force = ("--force", "--format", "mqsim", "--to", "spc")
    done = reprieve("trace", "convert", bad, out, *force)
    assert (done.returncode, done.stdout) == (2, "")
    assert "bad.csv:3" in done.stderr
    assert out.read_text() == "what was there"
    assert [one.name for one in out.parent.iterdir()] == ["out.gz"]


def test_missing_trace_is_found_out_when_opened() -> None:
    with pytest.raises(rp.UserError, match=r"none\.gz"):
        rp.open_trace("none.gz")


def test_info_of_a_load(reprieve: Reprieve) -> None:
    """The load's own numbers, from its file: 0.2316 reads, 710,908 units of 3,584 bytes."""
    info = rp.workload_info({"device": "fast12-slc", "load": "fin1-flows"}, 20_000)
    assert (info["requests"], info["format"]) == (20_000, "flows")
    # Five standard errors of a share of 20,000.
    assert abs(info["reads"] / 20_000 - 0.2316) < 5 * (0.2316 * 0.7684 / 20_000) ** 0.5
    assert info["address_bytes_max"] <= 710_908 * 3584
    options = ("--load", "fin1-flows", "--requests", "20000", "--device", "fast12-slc")
    done = reprieve("trace", "info", *options, "--json")
    assert json.loads(done.stdout) == info
    printed = reprieve("trace", "info", *options)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert "fin1-flows" in printed.stdout


def test_info_of_a_load_lies_beside_that_of_a_trace(trace: Path) -> None:
    info = rp.open_trace(trace).info()
    assert list(info) == list(
        rp.workload_info({"device": "fast12-slc", "load": "cello3-flows"}, requests=10)
    )
    # By hand: gaps of 1, 1,000 and 1 us; reads at 8,192 twice, writes at 0 and then 12,288.
    assert (info["read_size_bytes"]["mean"], info["write_size_bytes"]["mean"]) == (4096, 6144)
    assert (info["read_sequential_share"], info["write_sequential_share"]) == (0, 0)
    assert info["same_time_share"] == 0


# Alibaba: device, operation, offset, bytes, microseconds.
VOLUMES = """\
0,R,4096,4096,1577808000000626
725,W,0,8192,1577808000001000
725,R,512,512,1577808000003000
"""


def test_devices_are_listed(tmp_path: Path, reprieve: Reprieve) -> None:
    path = tmp_path / "volumes.csv"
    path.write_text(VOLUMES)
    start_ns = 1_577_808_000_000_626_000
    devices = rp.open_trace(path).devices()
    assert devices == [
        rp.TraceDevice(0, None, 1, 1, 0, 4096, 0, start_ns, start_ns, 8192),
        rp.TraceDevice(
            725, None, 2, 1, 1, 512, 8192, start_ns + 374_000, start_ns + 2_374_000, 8192
        ),
    ]
    printed = json.loads(reprieve("trace", "info", path, "--devices", "--json").stdout)
    assert printed == [device._asdict() for device in devices]
    lines = reprieve("trace", "info", path, "--devices").stdout.splitlines()
    rows = [line.split() for line in lines if line[:1].isdigit()]
    # By hand: 4,096 and 512 bytes in KiB, then the extents, and 2 ms between the two of 725.
    assert rows == [
        ["0", "1", "1", "0", "4.0", "0", "8", "0"],
        ["725", "2", "1", "1", "0.5", "8", "8", "2"],
    ]
    heads = " ".join(" ".join(line.split()) for line in lines[:2])
    assert all(unit in heads for unit in ("KiB", "ms")) and "ns" not in heads


def test_what_a_format_leaves_open_is_an_option(tmp_path: Path, reprieve: Reprieve) -> None:
    path = tmp_path / "scan.lis"
    path.write_text("100 8 0 0\n108 1 0 1\n")
    trace = rp.open_trace(path, row_op="write", row_interval_us=2.5)
    rows = [(0, 0, "write", 51_200, 4096), (2_500, 0, "write", 55_296, 512)]
    assert trace.head() == rows
    assert list(trace) == rows
    assert repr(trace).endswith("format='auto', row_op='write', row_interval_us=2.5)")
    options = ("--option", "row_op=write", "--option", "row_interval_us=2.5")
    done = reprieve("trace", "head", path, *options)
    assert done.stdout.splitlines()[3].split() == ["2500", "0", "write", "55296", "512"]
    done = reprieve("trace", "convert", path, "copy", "--to", "mqsim", *options)
    assert (tmp_path / "copy").read_text() == "0 0 100 8 0\n2500 0 108 1 0\n", done.stderr
    assert trace.info()["writes"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give both row_op and row_interval_us"),
        (("--option", "row_op"), "must be KEY=VALUE"),
        (("--option", "row_up=read"), "did you mean row_op"),
        (("--option", "row_op=read", "--format", "mqsim"), "means nothing to format mqsim"),
    ],
)
def test_wrong_options_are_errors(
    options: tuple[str, ...], message: str, tmp_path: Path, reprieve: Reprieve
) -> None:
    path = tmp_path / "scan.lis"
    path.write_text("100 8 0 0\n")
    done = reprieve("trace", "info", path, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_folder_is_one_trace(tmp_path: Path) -> None:
    folder = tmp_path / "hosts"
    folder.mkdir()
    (folder / "a.csv").write_text("200,usr,0,Read,0,512,1\n")
    (folder / "b.csv").write_text("100,web,3,Read,512,512,1\n")
    assert [row.time_ns for row in rp.open_trace(folder)] == [10_000, 20_000]
    assert [device.name for device in rp.open_trace(folder).devices()] == ["usr_0", "web_3"]
    assert len(rp.open_trace(folder / "b*").head()) == 1


def test_time_scale_keeps_the_dies_half_busy() -> None:
    # Sixteen dies of pages of 4 KiB: reads of 25 and 40 µs, programs of 40 and 15 times 44.
    info = {"read_bytes": 100 * 4096, "written_bytes": 10 * 4096, "span_ns": 10**9}
    # 13,500 µs of work, for which half of 16 s is there.
    assert proposed_time_scale(info, "fast12-mlc") == 0.0017
    assert proposed_time_scale({**info, "read_bytes": 0, "written_bytes": 0}, "fast12-mlc") is None
    assert proposed_time_scale({**info, "span_ns": 0}, "fast12-mlc") is None
    with pytest.raises(rp.UserError, match="must be one of fast12-slc"):
        proposed_time_scale(info, "tlx")
