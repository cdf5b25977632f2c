"""The study of measured drives: rates, errors and targets by hand, and the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reprieve.calibration import Term, Value
from reprieve.drives import MeasuredDrive, load, rates
from reprieve.drives.scores import Score
from reprieve_studies import drives
from reprieve_studies.drives import claims, outcomes, page
from reprieve_studies.drives.outcomes import Outcome, Plan, simulate_all
from reprieve_studies.papers import Settings, reproduce_into
from reprieve_studies.runs import bench

from .hand_drive import folder_of
from .vega import check_charts

MORE = """[noise]
"read.p99" = 0.0123

[global]
bs = "8k"
rw = "randrw"
runtime = "1s"

[jobs.probe]
rwmixread = 50
rate_iops = "50,50"

[jobs.writer]
numjobs = 2
rwmixread = 1

[condition]
w400.jobs = { probe = {}, writer = { rate_iops = "4,175" } }
w100.jobs = { probe = {}, writer = { rate_iops = "1,25" } }
w200.jobs = { probe = {}, writer = { rate_iops = "1,75" } }
"""
ROWS = """w{0},probe,read,p50_us,100
w{0},probe,read,p90_us,150
w{0},probe,read,p99_us,200
w{0},probe,read,p99.9_us,400
w{0},probe,write,p50_us,10
w{0},all,read,iops,57
w{0},all,write,iops,{1}
"""
"""The jobs issue 50 + 2 × 175 = 400, 100 and 200 writes a second; the knee is at 250."""


def by_hand(place: Path, key: str, fitted: str = "w100") -> Path:
    """Write the drive by hand, of which one condition is fitted."""
    rows = [ROWS.format(*pair) for pair in ((400, 250), (100, 100), (200, 200))]
    return folder_of(place / key, MORE, "".join(rows), f'fitted = ["{fitted}"]\n')


def term(condition: str, direction: str, what: str, measured: float, simulated: float) -> Term:
    return Term(condition, 0, direction, what, measured, simulated, 0.03)


FIRST = [
    term("w100", "read", "p50", 100, 101),
    term("w200", "read", "p50", 100, 110),
    term("w200", "read", "p99", 200, 150),
    term("w200", "read", "p99.9", 400, 436),
    term("w200", "write", "p50", 10, 10.4),
    term("w200", "write", "iops", 200, 200),
    term("w400", "read", "p50", 1000, 1200),
    term("w400", "write", "p50", 2000, 1000),
    term("w400", "write", "iops", 250, 240),
]
"""Below the knee 10 and 25 % (p50, p99), 9 (p99.9), 4 (writes); beyond 20 and 50; knee 4 %."""
SECOND = [
    term(each.condition, each.direction, each.what, each.measured, each.measured)
    if (each.condition, each.what) == ("w200", "p99")
    else each
    for each in FIRST
]
"""Likewise, with p99 met."""


def outcome_of(
    folder: Path, *runs: Sequence[Term], switched: Sequence[Term] = (), suspends: bool = True
) -> Outcome:
    """Return the drive of a folder with these figures, as of seeds 1 and on."""
    by_seed = dict(enumerate(runs, 1))
    line = rates.between(load(folder).conditions, 1)
    return Outcome(load(folder), suspends, line, by_seed, {1: switched} if switched else {}, {})


def test_rates_by_hand(tmp_path: Path) -> None:
    conditions = load(by_hand(tmp_path, "hand")).conditions
    assert [rates.write_rate(each) for each in conditions] == [400, 100, 200]
    assert rates.knee(conditions) == 250
    assert rates.beyond(conditions) == ["w400"]
    # Of 350 writes a second of the load, 250 are left.
    slower = rates.at_write_rate(conditions[0], 300)
    assert [job.options["rate_iops"] for job in slower.jobs] == ["50,50", "3,125", "3,125"]
    assert rates.write_rate(slower) == 300
    assert {op: each.iops for op, each in slower.totals.items()} == {"read": 56, "write": 250}
    assert [each.name for each in rates.between(conditions, 1)] == ["w141", "w283"]
    assert [each.name for each in rates.between(conditions, 2)] == ["w126", "w159", "w252", "w317"]
    # A drive of which the writes were not counted has no knee; an unlimited job no rate.
    i3 = load("aws-i3").conditions
    assert (rates.knee(i3), rates.beyond(i3), rates.between(i3, 1)) == (None, [], [])
    assert rates.write_rate(i3[-1]) == pytest.approx(800_380_105 / (128 << 10))


def test_errors_by_hand(tmp_path: Path) -> None:
    outcome = outcome_of(by_hand(tmp_path, "pe8110"), FIRST, SECOND)

    def errors(part: str, figure: str) -> list[list[float]]:
        return [
            [round(share, 9) for share in claims.errors_of(outcome, part, figure, each)]
            for each in claims.STATISTICS
        ]

    # Both predicted conditions: 10 and 20 %.
    assert errors("predicted", "read p50") == [[0.15, 0.15], [0.2, 0.2]]
    assert errors("fitted", "read p50") == [[0.01, 0.01], [0.01, 0.01]]
    assert errors("predicted", "read p99") == [[0.25, 0], [0.25, 0]]
    assert errors("predicted", "IOPS") == [[0.02, 0.02], [0.04, 0.04]]
    assert errors("fitted", "read p99") == [[], []]
    assert outcome.knee() == (250, [240, 240])
    table, knees = page.sections([outcome])[0].tables
    rows = {tuple(row[1:3]): row[3:] for row in table.rows}
    assert rows["2 predicted", "median"][:4] == ["15.0 (15.0 to 15.0)", "–", "12.5 (0.0 to 25.0)",
                                                 "9.0 (9.0 to 9.0)"]  # fmt: skip
    assert rows["noise floor", ""] == ["", "", "1.23", "", "", ""]
    assert list(knees.rows[0]) == ["pe8110", "250", "240 (240 to 240)", "-4.0 (-4.0 to -4.0)"]


def test_targets_by_hand(tmp_path: Path) -> None:
    """Means of two seeds, 17.5 and 5 %, 25 and 10 %, which say nothing of a limit between."""
    verdicts = claims.verdicts([outcome_of(by_hand(tmp_path, "pe8110"), FIRST, SECOND)])
    assert [(each.paper, each.reproduced) for each in verdicts] == [
        (5, None), (15, None), (10, True), (5, True), (15, False), (15, False), (5, True),
    ]  # fmt: skip
    assert [each.undecided for each in verdicts] == [True, True, *[False] * 5]
    assert [each.ours for each in verdicts] == pytest.approx([11.25, 17.5, 9, 4, 20, 50, 4])
    assert {each.kind for each in verdicts} == {"predicted"}
    low, high = verdicts[0].low, verdicts[0].high
    assert low is not None
    assert high is not None
    # Student's quantile for one degree of freedom; the half of the difference is 6.25.
    assert high - low == pytest.approx(2 * 12.706 * 6.25, rel=1e-4)


@pytest.mark.parametrize(
    ("key", "fitted", "tested"),
    [
        # All conditions but those beyond the knee; those beyond it alone; below 20,000 writes/s.
        ("pm9a3", "w400", ["median error of p50", "median error of p99.9", "median error of reads",
                           "nine tenths of the"]),
        ("cm7r", "w200", ["error of the write"]),
        ("p5520", "w100", ["error of the write", "median error of p50"]),
    ],
)  # fmt: skip
def test_only_predicted_conditions_are_judged(
    key: str, fitted: str, tested: list[str], tmp_path: Path
) -> None:
    verdicts = claims.verdicts([outcome_of(by_hand(tmp_path, key, fitted), FIRST[1:])])
    found = {each.claim.removeprefix(f"{key}: "): each for each in verdicts}
    judged = sorted(claim for claim, one in found.items() if one.reproduced is not None)
    assert len(judged) == len(tested)
    assert all(claim.startswith(words) for claim, words in zip(judged, tested, strict=True))
    assert {one.note for one in found.values() if one.reproduced is None} == {
        "no predicted condition has it"
    }


def test_the_knee_is_judged_at_the_greatest_rate(tmp_path: Path) -> None:
    folder = by_hand(tmp_path, "pe8110")
    with (folder / "drive.toml").open("a") as file:
        file.write('w800.jobs = { probe = {}, writer = { rate_iops = "8,375" } }\n')
    with (folder / "figures.csv").open("a") as file:
        file.write(ROWS.format(800, 240))
    outcome = outcome_of(folder, [*FIRST, term("w800", "write", "iops", 240, 228)])
    assert outcome.beyond == ["w400", "w800"]
    assert outcome.knee() == (250, [228])
    assert claims.verdicts([outcome])[3].ours == pytest.approx(5)


def test_a_drive_without_a_device_is_not_testable(tmp_path: Path) -> None:
    outcome = outcome_of(by_hand(tmp_path, "pe8110"))
    verdicts = claims.verdicts([outcome])
    assert [each.reproduced for each in verdicts] == [None] * 7
    assert {each.note for each in verdicts} == {"the drive has no device"}
    assert claims.suspension(outcome) is None
    errors, asked = page.sections([outcome])[0].tables[0], page.sections([outcome])[1].tables[0]
    assert [row[1] for row in errors.rows] == ["not fitted", "noise floor"]
    assert asked.rows[0][1] == "not fitted"
    assert claims.verdicts([outcome_of(by_hand(tmp_path, "another"), FIRST)]) == []


@pytest.mark.parametrize(
    ("own", "switched", "suspends", "ratio", "answer"),
    [
        (110, 121, True, 2.1, "suspends"),
        (110, 119, True, 1.9, "cannot be told"),
        (110, 104, True, 0.4, "does not suspend"),
        # The device has no suspension, and with it comes nearer, or not.
        (140, 110, False, 4.0, "suspends"),
        (105, 120, False, 0.25, "does not suspend"),
    ],
)
def test_does_it_suspend(
    own: float, switched: float, suspends: bool, ratio: float, answer: str, tmp_path: Path
) -> None:
    """Errors of p99; the median does not count, nor do reads that meet no write."""

    def run(p99: float) -> list[Term]:
        alone = [term("alone", "read", what, 1, 9) for what in ("p90", "p99", "p99.9")]
        return [
            term("w100", "read", "p50", 1, 9), term("w100", "read", "p99", 100, p99), *alone,
        ]  # fmt: skip

    folder = by_hand(tmp_path, "aws-i3")
    with (folder / "drive.toml").open("a") as file:
        file.write('alone.jobs = { reader = { rw = "randread", rate_iops = 50 } }\n')
    with (folder / "figures.csv").open("a") as file:
        file.write("alone,reader,read,p50_us,100\n")
    outcome = outcome_of(folder, run(own), switched=run(switched), suspends=suspends)
    found = claims.suspension(outcome)
    assert found is not None
    assert found[0].mean == pytest.approx(ratio)
    assert found[1] == answer
    # The answer for the drive of this name is known.
    (verdict,) = claims.verdicts([outcome])
    assert verdict.claim.startswith("aws-i3: does not suspend")
    assert verdict.reproduced == (answer == "does not suspend")
    (other,) = claims.verdicts(
        [replace(outcome, drive=replace(outcome.drive, folder=Path("aws-i3en")))]
    )
    assert other.claim.startswith("aws-i3en: suspends")
    assert other.reproduced == (answer == "suspends")


def test_the_points_of_the_figure(tmp_path: Path) -> None:
    outcome = outcome_of(by_hand(tmp_path, "hand"), FIRST, SECOND)
    measured = [(one["what"], one["kilo_writes_per_s"], one["latency_us"], one["is_fitted"])
                for one in page.points(outcome, "measured")]  # fmt: skip
    assert ("p99", 0.1, 200, True) in measured
    assert ("p99.9", 0.4, 400, False) in measured
    assert len(measured) == 9
    simulated = [(one["what"], one["kilo_writes_per_s"], one["latency_us"])
                 for one in page.points(outcome, "simulated")]  # fmt: skip
    assert ("p99", 0.2, 0.15) in simulated  # of the first seed
    assert len(simulated) == 5


def test_runs_are_stored(tmp_path: Path) -> None:
    plan = Plan(100, (1, 2), (2,), 1)
    measured = [load(by_hand(tmp_path, "hand"))]
    with bench(tmp_path / "runs", 1) as engine:
        (outcome,) = simulate_all(measured, plan, engine)
    assert {*outcome.runs} == {1, 2}
    assert ({*outcome.switched}, {*outcome.line}) == ({2}, {1})
    assert {each.condition for each in outcome.line[1]} == {"w141", "w283"}
    segments = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*.parquet")}
    assert segments
    with bench(tmp_path / "runs", 1) as engine:
        assert simulate_all(measured, plan, engine) == [outcome]
    assert {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*.parquet")} == segments


@pytest.mark.parametrize(("program", "other"), [("none", "iteration"), ("ipc", "none")])
def test_suspension_is_switched_over(
    program: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a device that has none; erases are switched with programs."""
    folder = by_hand(tmp_path, "hand")
    text = f'[scenario.suspension]\nprogram = "{program}"\n\n[global]'
    path = folder / "drive.toml"
    path.write_text(path.read_text().replace("[global]", text))
    tried: list[dict[str, Value]] = []

    def fake(_drive: MeasuredDrive, *, values: dict[str, Value], **_how: object) -> Score:
        tried.append(values)
        return Score(load(folder), "", 1, 1, "", ())

    monkeypatch.setattr(outcomes, "simulate", fake)
    with bench(None, 1) as engine:
        (outcome,) = simulate_all([load(folder)], Plan(100, (1,), (1,), 0), engine)
    assert outcome.suspends is (program != "none")
    assert tried == [
        {}, {"suspension.program": other, "suspension.erase": other != "none"},
    ]  # fmt: skip


def test_the_article(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, unfitted = by_hand(tmp_path, "pe8110"), by_hand(tmp_path, "p5520")
    text = (unfitted / "drive.toml").read_text()
    (unfitted / "drive.toml").write_text(text.replace('device = "fast12-mlc"\n', ""))
    monkeypatch.setattr(drives, "names", lambda: [str(folder), str(unfitted)])
    monkeypatch.setattr(drives, "QUICK", Plan(100, (1,), (1,), 1))
    out = tmp_path / "out"
    article = reproduce_into("drives", out, Settings(quick=True, jobs=1))
    assert [each.claim.partition(":")[0] for each in article.verdicts] == ["pe8110"] * 7 + [
        "p5520"
    ] * 4
    numbers = json.loads((out / "numbers.json").read_text())
    assert numbers["tally"]["not_testable"] >= 4
    assert numbers["drives"]["p5520"]["suspension"] is None
    assert numbers["drives"]["pe8110"]["conditions"] == {"fitted": 1, "predicted": 2}
    svg = (out / "figures/drives.svg").read_text()
    assert "Hand 1 (not fitted)" in svg
    check_charts(out / "report.html")
