"""Measured drives: those that are built in, folders by hand, and `reprieve drives`."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from reprieve import UserError, device, devices
from reprieve.drives import MeasuredDrive, load, names
from reprieve.drives.scores import Score, body_errors, score_text, simulate, stored

from .drive import Reprieve
from .hand_drive import HEAD, folder_of
from .test_commands import HEAVY, imported

MORE = """[noise]
"read.p50" = 0.01

[scenario.timing]
t_read_us = 150

[global]
bs = "8k"
runtime = "1s"

[condition.one.jobs]
reader = { rw = "randread", rate_iops = 100 }

[condition.two.jobs]
reader = { rw = "randread", rate_iops = 200 }
writer = { rw = "randwrite", rate_iops = 50 }
"""
ROWS = """one,reader,read,p50_us,200
one,reader,read,p99_us,400
two,reader,read,p50_us,220
two,reader,read,p99_us,900
two,all,write,iops,50
"""


@pytest.fixture
def hand(tmp_path: Path) -> Path:
    """Return the folder of a drive with two conditions, of which one was fitted."""
    return folder_of(tmp_path / "hand", MORE, ROWS, 'fitted = ["one"]\n')


def test_a_folder_describes_its_drive(hand: Path) -> None:
    drive = load(hand)
    assert (drive.key, drive.name, drive.device, drive.capacity_bytes) == (
        "hand", "Hand 1", "fast12-mlc", 10**9,
    )  # fmt: skip
    assert (drive.source, drive.licence, drive.notes) == ("measured by hand", "facts", "")
    assert drive.noise == {"read.p50": 0.01}
    assert drive.condition_names == ["one", "two"]
    assert [each.name for each in drive.fitted_conditions] == ["one"]
    assert [each.name for each in drive.predicted_conditions] == ["two"]
    assert drive.conditions[1].totals["write"].iops == 50


def test_a_table_in_a_folder_may_have_conditions_of_its_own(hand: Path) -> None:
    more = MORE[MORE.index("[global]") :]
    (hand / "more.toml").write_text(more.replace(".one", ".three").replace(".two", ".four"))
    (hand / "more.csv").write_text(
        (hand / "figures.csv").read_text().replace("one,", "three,").replace("two,", "four,")
    )
    assert load(hand).condition_names == ["three", "four", "one", "two"]
    assert [each.path.name for each in load(hand).conditions] == 2 * ["more.toml"] + 2 * [
        "drive.toml"
    ]
    shutil.copy(hand / "figures.csv", hand / "more.csv")
    (hand / "more.toml").write_text(more)
    with pytest.raises(UserError, match=r"drive\.toml: has the name of .*more\.toml; each must"):
        _ = load(hand).conditions


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("drive.toml", 'source = "measured by hand"', "", "source is missing; must be a text"),
        (
            "drive.toml",
            "1_000_000_000",
            "0",
            "capacity_bytes = 0: must be a whole number, at least",
        ),
        ("drive.toml", "0.01", "-1", "noise.read.p50 = -1: must be a finite number, at least 0"),
        (
            "drive.toml",
            "device =",
            "devise =",
            "devise is no key here; must be one of name, device",
        ),
        ("drive.toml", "[scenario.geometry]", "[scenario2]", "scenario2 is no key here"),
        ("fit.toml", "one", "on", 'fit.toml: fitted has "on", which is no condition'),
        ("fit.toml", "fitted", "fit", "fit is no key here; must be one of fitted, free"),
        ("fit.toml", '["one"]', "3", "fitted = 3: must be a list"),
    ],
)
def test_a_wrong_folder_is_named(hand: Path, file: str, old: str, new: str, sentence: str) -> None:
    text = (hand / file).read_text()
    assert old in text
    (hand / file).write_text(text.replace(old, new, 1))
    with pytest.raises(UserError) as refused:
        load(hand)
    assert sentence in str(refused.value)


def test_a_drive_that_is_not_there_has_a_hint(tmp_path: Path) -> None:
    for name, sentence in (
        ("pe811", "drives: there is no pe811; did you mean pe8110?"),
        ("x", "drives: there is no x; `reprieve drives` lists all"),
        (str(tmp_path), f"{tmp_path}/drive.toml: cannot be read: No such file or directory"),
    ):
        with pytest.raises(UserError) as refused:
            load(name)
        assert str(refused.value) == sentence


@pytest.mark.parametrize("name", names())
def test_every_built_in_drive_is_whole(name: str) -> None:
    """Names a source, has figures of each condition, and a device that exists."""
    drive = load(name)
    assert "https://" in drive.source
    assert [each.name for each in drive.conditions] == drive.condition_names
    assert {"read.p99"} & {*drive.noise} or name not in ("pe8110", "p5520", "cm7r", "pm9a3")
    assert drive.device is None or drive.device in [each.name for each in devices()]
    score = stored(drive)
    if score is not None:
        written = tomllib.loads((drive.folder / "score.toml").read_text())
        found = body_errors(score.predicted)
        assert found is not None
        assert written["median_error"] == pytest.approx(found.median, abs=1e-4)
        # The head of the device has it, too.
        fitted = body_errors(score.fitted)
        assert fitted is not None and drive.device is not None
        shares = f"{100 * fitted.median:.1f} % fitted, {100 * found.median:.1f} % predicted"
        assert f"# Reads from p50 to p99: median error {shares}.\n" in device(drive.device)
        # As the tables have it now.
        now = {
            (one.name, number, op, f"p{percent:g}"): value
            for one in drive.conditions
            for number, op, measured in one.figures()
            for percent, value in measured.percentile_ns.items()
        }
        for term in (each for each in score.terms if each.what != "iops"):
            assert now[term.condition, term.job, term.direction, term.what] == term.measured


def test_loads_of_the_enterprise_drives_are_those_that_were_measured() -> None:
    """Below the knee the rates of the jobs sum up to the totals, within the rounding."""
    for name in ("pe8110", "p5520", "cm7r", "pm9a3"):
        drive = load(name)
        for condition in drive.conditions[:2]:
            assert [job.name for job in condition.jobs] == [
                "probe", *(f"writer.{number}" for number in range(6)),
            ]  # fmt: skip
            for op in ("read", "write"):
                allowed = sum(job.limit(op) or 0 for job in condition.jobs)
                assert allowed == pytest.approx(condition.totals[op].iops, rel=1e-3)


def test_some_figures_are_those_of_the_sources() -> None:
    """One or two of each source, by hand."""
    w40k = load("pe8110").conditions[1]
    read = w40k.jobs[0].measured["read"]
    assert (read.percentile_ns[50], read.percentile_ns[99.999]) == (71_000, 1_898_000)
    assert [read.mean_ns, w40k.totals["write"].iops] == pytest.approx([119_800, 39_651])
    i3 = {each.name: each for each in load("aws-i3").conditions}
    # The median of this cell was below the scale of its chart.
    assert i3["w40-r20631"].totals["read"].percentile_ns == {95.0: pytest.approx(134_300)}
    assert [job.asked.depth for job in i3["w40-r20631"].jobs] == [64, *7 * [1000]]
    zns = {each.name: each for each in load("zns-a").conditions}
    read = zns["mixed-nvme-write0-qd1"].jobs[0].measured["read"]
    assert (read.count, read.iops, read.mean_ns) == (2_459_663, 13_664.718529, 72_701.745095)
    assert (read.percentile_ns[99.99], read.max_ns, read.latency) == (132_096, 483_093, "lat")
    assert zns["randread-4096-qd4"].jobs[0].measured["read"].latency == "clat"
    resets = {each.name: each for each in load("zn540").conditions}["qd1-resets30"]
    assert resets.jobs[0].measured["read"].percentile_ns[99.9] == 264_192
    # 30.071 zones a second, of 1,077 MiB.
    assert resets.jobs[1].limit("trim") == pytest.approx(30.071, rel=1e-4)


def test_a_drive_is_simulated_and_its_score_is_kept(hand: Path, tmp_path: Path) -> None:
    drive = load(hand)
    score = simulate(drive, reads=100, workers=1)
    by_what = {(term.condition, term.job, term.what): term for term in score.terms}
    assert {*by_what} == {
        *(("one", 0, "p50"), ("one", 0, "p99")),
        *(("two", 0, "p50"), ("two", 0, "p99"), ("two", 2, "iops")),
    }
    # The array takes 150 us, as the scenario of the drive says, and the transfer some more.
    assert 150_000 < by_what["one", 0, "p50"].simulated < 250_000
    found = body_errors(score.predicted)
    assert found is not None
    assert found.count == 2
    errors = [abs(by_what["two", 0, what].difference) for what in ("p50", "p99")]
    assert found.median == pytest.approx(sum(errors) / 2)
    assert stored(drive) is None
    (hand / "score.toml").write_text(score_text(score))
    kept = stored(drive)
    assert kept is not None
    assert figures(kept) == figures(score)
    assert (kept.device, kept.reads, kept.seed) == ("fast12-mlc", 100, 1)
    # Of one condition, on a device of a file, with a key in its place.
    own = tmp_path / "own.toml"
    own.write_text(device("fast12-mlc"))
    values = {"timing.t_read_us": 5000.0}
    one = simulate(drive, str(own), reads=100, conditions=drive.conditions[:1], values=dict(values))
    assert [term.what for term in one.terms] == ["p50", "p99"]
    assert one.terms[0].simulated > 5e6


def figures(score: Score) -> list[tuple[object, ...]]:
    """Return what is compared, to a tenth of a nanosecond."""
    return [
        (term.condition, term.job, term.direction, term.what, round(term.simulated, 1))
        for term in score.terms
    ]


def test_mistakes_of_a_simulation_name_the_drive(hand: Path) -> None:
    drive = load(hand)
    with pytest.raises(UserError, match=r"drives: hand on fast12-mlc: .*t_read_us"):
        simulate(drive, values={"timing.t_read_us": -1.0}, reads=10)
    with pytest.raises(UserError, match="drives: pe8110 has no device yet; must be given"):
        simulate(MeasuredDrive(**{**vars(load("pe8110")), "device": None}), reads=10)


def test_trims_make_erases_matter(tmp_path: Path) -> None:
    """Beside trims of whole blocks a read waits for erases of 1 ms; reads alone never do."""
    more = """[scenario.ftl]
gc_start_free_share = 0.9
precondition = "sequential"

[global]
bs = "4k"
runtime = "1s"

[condition.alone.jobs]
reader = { rw = "randread", rate_iops = 2000, offset = "50%" }

[condition.beside.jobs]
reader = { rw = "randread", rate_iops = 2000, offset = "50%" }
trimmer = { rw = "randtrim", bs = "8m", size = "50%", rate_iops = 100 }
"""
    kinds, metrics = ("alone", "beside"), ("p50_us", "p99_us")
    rows = "".join(f"{each},reader,read,{p},200\n" for each in kinds for p in metrics)
    drive = load(folder_of(tmp_path / "hand", more, rows))
    off = {"suspension.erase": False}
    slow, fast = (
        simulate(drive, values={**off, "timing.t_erase_us": us}, reads=500, workers=1).terms
        for us in (1000, 10)
    )
    by = [
        {term.condition: term.simulated for term in terms if term.what == "p99"}
        for terms in (slow, fast)
    ]
    assert by[0]["alone"] == by[1]["alone"]
    assert by[0]["beside"] > by[1]["beside"] + 500_000


def test_the_command_lists_drives(reprieve: Reprieve) -> None:
    done = reprieve("drives")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line}
    assert {*names()} <= {*rows}
    assert rows["zns-a"][1:4] == ["zns-a", "16", "46"]
    assert not imported("from reprieve.cli import main\nassert main(['drives']) == 0") & {*HEAVY}


def test_the_command_shows_runs_and_keeps(hand: Path, reprieve: Reprieve) -> None:
    """Without a score, with `--run`, and from the file that this has written."""
    before = reprieve("drives", hand)
    assert (before.returncode, before.stderr) == (0, "")
    assert "not scored: --run simulates its conditions" in before.stdout
    assert "source: measured by hand" in before.stdout
    assert "noise floor: read.p50 1.00 %" in before.stdout
    (row,) = [
        line for line in before.stdout.splitlines() if "reader read p99" in line and "two" in line
    ]
    assert row.split() == ["two", "reader", "read", "p99", "900.0", "–", "–", "–"]
    run = reprieve("drives", hand, "--run", "--reads", "100", "--out", hand / "score.toml")
    assert (run.returncode, run.stderr) == (0, "")
    assert "predicted: reads from p50 to p99: median error" in run.stdout
    after = reprieve("drives", hand)
    assert after.stdout == run.stdout
    (row,) = [line for line in after.stdout.splitlines() if "one" in line and " p50 " in line]
    assert row.endswith("1.0 %")
    stored_error = tomllib.loads((hand / "score.toml").read_text())["median_error"]
    assert f"median error {100 * stored_error:.1f} %" in after.stdout


def test_mistakes_end_in_one_sentence(hand: Path, reprieve: Reprieve) -> None:
    for arguments, sentence in (
        (("pe8111",), "drives: there is no pe8111; did you mean pe8110?"),
        (("--run",), "drives: --run must have the name of a drive"),
        ((hand, "--run", "--fit"), "drives: --run and --fit: give one of them"),
        ((hand, "--device", "mbm"), "drives: --device must be given with --run"),
        ((hand, "--out", "x.toml"), "drives: --out must be given with --run"),
        ((hand, "--run", "--device", "mb"), 'there is no device "mb"'),
    ):
        done = reprieve("drives", *arguments)
        assert done.returncode == 2, done.stdout
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.seconds(15)
def test_a_folder_is_calibrated_as_its_fit_says(tmp_path: Path, reprieve: Reprieve) -> None:
    """Two sizes of reads alone, the larger one predicted."""
    folder = tmp_path / "own"
    folder.mkdir()
    jobs = HEAD + MORE[: MORE.index("[global]")] + '[global]\nrw = "randread"\nruntime = "1m"\n'
    rows = ["condition,job,op,metric,value"]
    for size, us in ((4, 70), (16, 80)):
        jobs += f'[condition.{size}k.jobs]\nread = {{ bs = "{size}k" }}\n'
        for metric, value in (("p50_us", us), ("p99_us", us + 10), ("iops", 1e6 / us)):
            rows.append(f"{size}k,read,read,{metric},{value}")
    (folder / "drive.toml").write_text(jobs)
    (folder / "figures.csv").write_text("\n".join(rows))
    (folder / "fit.toml").write_text('# By hand.\nfitted = ["4k"]\n')
    fixed = [f"--fix=timing.t_read_us_by_type[{each}]=50" for each in range(3)]
    fixed += ["--fix=timing.t_bus_us=40", "--fix=host.t_command_us=0.3"]
    done = reprieve("calibrate", folder, "--quick", "--out", tmp_path / "fit", *fixed)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "fit/calibration.json").read_text())
    assert {each["condition"] for each in found["fitted"]} == {"4k"}
    assert {each["condition"] for each in found["predicted"]} == {"16k"}
    p50 = next(each for each in found["fitted"] if each["what"] == "p50")
    assert p50["simulated"] == pytest.approx(70_000, rel=0.05)
    # A table by itself, of which all is fitted unless it is held out.
    (folder / "figures.toml").write_text(jobs[jobs.index("[global]") :])
    refused = reprieve("calibrate", folder / "figures.csv", "--hold-out", "[14]*", *fixed)
    assert refused.stderr == "--hold-out [14]*: leaves nothing to fit\n"
