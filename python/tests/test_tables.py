"""Tables for people: 80 columns lose nothing, units suit the size, notebooks get HTML."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

import reprieve as rp
from reprieve import units
from reprieve.cli.console import in_parts, sentence, show, table
from reprieve.experiments.columns import figures
from reprieve.report.tables import lead

from .drive import Reprieve

NUMBERS = [f"a quite long heading {place}" for place in range(9)]


def parts_of(made: Table, columns: int) -> list[str]:
    console = Console(width=columns, file=io.StringIO())
    printed = []
    for part in in_parts(made, console):
        with console.capture() as capture:
            console.print(part)
        printed.append(capture.get())
    return printed


def drawn(columns: int) -> list[str]:
    made = table("Title", ["section.key", *NUMBERS])
    for row in range(3):
        made.add_row(f"row-{row}", *(f"{row}{place:06}" for place in range(9)))
    return parts_of(made, columns)


def test_narrow_table_keeps_every_cell_and_what_tells_rows_apart() -> None:
    parts = drawn(80)
    assert len(parts) > 1
    for row in range(3):
        assert all(f"row-{row}" in part for part in parts)
        for place in range(9):
            assert sum(f"{row}{place:06}" in part for part in parts) == 1
    assert all(len(line) <= 80 for part in parts for line in part.splitlines())
    assert "…" not in "".join(parts)


def test_wide_table_stays_whole() -> None:
    (whole,) = drawn(400)
    assert all(heading in whole for heading in NUMBERS)


def test_long_words_are_wrapped_where_that_saves_a_part() -> None:
    made = table("", ["claim", "paper", "ours"])
    made.add_row("a claim of some length, " * 3, "1.25", "2.5")
    # The claim has 71 letters: with one number beside it 78, with both 85.
    (whole,) = parts_of(made, 80)
    assert whole.count("1.25") == whole.count("2.5") == 1
    assert max(map(len, whole.splitlines())) <= 80


def test_a_table_without_words_is_listed_where_it_is_too_wide() -> None:
    made = table("", NUMBERS, left=0)
    for row in range(2):
        made.add_row(*(f"{row}{place:06}" for place in range(9)))
    (whole,) = parts_of(made, 80)
    lines = [line.split() for line in whole.splitlines() if line.strip()]
    assert [*["a", "quite", "long", "heading", "3"], "0000003"] in lines
    assert [*["a", "quite", "long", "heading", "8"], "1000008"] in lines
    assert sum("a quite long heading" in line for line in whole.splitlines()) == 18


@pytest.mark.parametrize(("columns", "most"), [(None, 80), ("100", 100), ("300", 300)])
def test_without_a_terminal_tables_have_80_columns_or_what_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    columns: str | None,
    most: int,
) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    made = table("A title that is longer than the table", ["section.key", *NUMBERS])
    made.add_row("row", *("1" for _ in NUMBERS))
    show(made)
    printed = capsys.readouterr().out
    assert printed.startswith("A title that is longer than the table\n")
    widest = max(map(len, printed.splitlines()))
    # Nine headings of 22 letters, and three spaces before each.
    assert widest == 11 + 9 * 25 if most == 300 else widest <= most
    assert printed.count("row") == (1 if most == 300 else printed.count("section.\n") or 2)


def test_sentences_have_80_columns_and_whole_words(capsys: pytest.CaptureFixture[str]) -> None:
    sentence("word " * 15 + "2000 % and /a/path/without/any/space/in/it" + "/more" * 20 + ".")
    lines = capsys.readouterr().out.splitlines()
    # 15 words fill 75 columns; "2000" has room there, and its sign has not.
    assert lines[0] == ("word " * 15).strip()
    assert lines[1] == "2000 % and"
    assert lines[2].startswith("/a/path/") and lines[2].endswith("/more.")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (units.time(3_599_890_074_831), "60 min"),
        (units.time(999), "999 ns"),
        (units.time(911_384), "911.4 µs"),
        (units.time(44_556_955.1), "44.56 ms"),
        (units.size(126_976), "124 KiB"),
        (units.size(3 << 30), "3 GiB"),
        (units.share(0.903953), "90.4 %"),
        (units.share(0.125, 0), "12 %"),
    ],
)
def test_units_suit_the_size(said: str, told: str) -> None:
    assert said == told


def test_a_column_has_one_form() -> None:
    # Four digits of the largest: two decimals.
    assert units.alike([71.18, 1.5, None, 0.004]) == ["71.18", "1.50", "–", "0.00"]
    # No more than any of them needs, and none of whole numbers.
    assert units.alike([0.5, 0.25]) == ["0.50", "0.25"]
    assert units.alike([9238.0, 11052.0]) == ["9,238", "11,052"]
    assert units.alike([507305.67, 128447.0]) == ["507,306", "128,447"]
    assert units.alike([]) == []
    # An interval of 12 leaves no decimals, one of 0.44 two, of which one is asked for.
    assert units.decimals([131.5, 126.9], [78.0, 12.5], most=1) == 0
    assert units.decimals([70.83], [0.44], most=1) == 1
    assert units.decimals([70.83], [0.0]) == 2
    assert units.sizes([1 << 20, 3 << 19]) == ("MiB", ["1.0", "1.5"])
    assert units.times([2_374_000, 0]) == ("ms", ["2.374", "0.000"])


def test_a_column_of_a_sweep_has_no_digits_beyond_its_intervals() -> None:
    def row(mean_ns: float, low_ns: float, high_ns: float) -> dict[str, float]:
        name = "read_latency_ns_p99"
        return {name: mean_ns, f"{name}_low": low_ns, f"{name}_high": high_ns}

    wide = [row(249_000, 231_440, 268_000), row(71_180, 66_840, 75_900)]
    # The narrower interval is 9.06 µs wide: one decimal makes two digits.
    assert figures(wide, "read_latency_ns_p99") == [
        "249.0 (231.4 to 268.0)",
        "71.2 (66.8 to 75.9)",
    ]
    # 50 µs: the last digit before the point is the second.
    wider = [row(249_000, 231_440, 281_440), row(71_180, 41_000, 99_000)]
    assert figures(wider, "read_latency_ns_p99") == ["249 (231 to 281)", "71 (41 to 99)"]
    alone = [{"read_latency_ns_p99": value} for value in (249_000, 71_180, None)]
    assert figures(alone, "read_latency_ns_p99") == ["249.0", "71.2", "–"]
    shares = [{"flash_waf": 1.0}, {"flash_waf": 2.25}, {"flash_waf": 10.5}]
    assert figures(shares, "flash_waf") == ["1.00", "2.25", "10.50"]
    assert figures([{"runs": 3}, {"runs": 1200}], "runs") == ["3", "1,200"]


def test_notebooks_get_html(tmp_path: Path) -> None:
    runs = rp.compare("examples/limits.toml", {"policy": ["FIFO", "RPS"]}, workload__requests=200)
    mean_us = runs["RPS"].summary["requests"]["read"]["latency_ns"]["mean"] / 1000
    page = runs._repr_html_()
    # 200 requests are 3 batches of 64, and an interval needs ten.
    assert f">{mean_us:,.1f} (interval: too few)</td>" in page
    assert page.count("<table>") == 2
    assert f">{mean_us:,.1f} (interval: too few)</td>" in runs["RPS"]._repr_html_()
    more = rp.run("examples/limits.toml", workload__requests=2000)
    low, high = more.summary["requests"]["read"]["confidence"]["mean"]
    assert f" ({low / 1000:,.1f} to {high / 1000:,.1f})</td>" in more._repr_html_()
    scenario = rp.Scenario(device="fast12-mlc", load="<b>")
    assert "&lt;b&gt;" in scenario._repr_html_()
    made = rp.sweep(
        {
            "scenario": "examples/limits.toml",
            "design": "grid",
            "set": {"workload.requests": 200},
            "axes": {"workload.read_fraction": [0.5, 1.0]},
        },
        out=tmp_path,
    )
    page = made._repr_html_()
    assert "<th>workload_read_fraction</th>" in page
    assert "<caption>2 points</caption>" in page
    mean_us = made.points.column("read_latency_ns_mean").to_pylist()[0] / 1000
    assert f">{mean_us:,.1f}</td>" in page
    assert ">–</td>" in page, "a load of reads alone has no writes"


def test_report_begins_with_what_changed() -> None:
    runs = rp.compare(
        "examples/limits.toml", {"policy": ["FIFO", "RPS", "PES-IPC"]}, workload__requests=2000
    )
    means = {
        label: run.summary["requests"]["read"]["latency_ns"]["mean"] / 1000
        for label, run in runs.items()
    }
    best = min(("FIFO", "PES-IPC"), key=lambda label: means[label])
    said = lead(runs)
    assert said.startswith(
        f"The mean read takes {means[best]:,.1f} µs in run “{best}”, the lowest of 3 runs, and "
        f"{means['RPS']:,.1f} µs in run “RPS” (×{means[best] / means['RPS']:.2f}"
    )
    pair = runs.paired(best)["read_latency_ns_mean"]
    word = "significant" if pair["decided"] else "not significant"
    assert said.endswith(f"; {word} at 95 %.")
    alone = lead({"this": runs["FIFO"]})
    # An interval of p99 needs a thousand reads in each of ten batches, and there are 1,400 in all.
    reads = runs["FIFO"].summary["requests"]["read"]
    assert reads["confidence"]["p99"] is None and reads["confidence"]["p50"] is not None
    p50 = reads["latency_ns"]["p50"] / 1000
    assert alone == f"this: reads take {means['FIFO']:,.1f} µs on average, {p50:,.1f} µs at p50."


def test_misspelt_axis_names_the_axis(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('device = "fast12-mlc"\nload = "fin1-flows"\n')
    done = reprieve("compare", "s.toml", "--axis", "policx=FIFO,RPS")
    said = "--axis policx: unknown key; did you mean policy?\n"
    assert (done.returncode, done.stderr) == (2, said)
    bad = reprieve("compare", "s.toml", "--axis", "suspension.max_per_operation=0,1")
    assert bad.stderr.startswith("--axis suspension.max_per_operation = 0: must be")
    other = reprieve("compare", "s.toml", "--axis", "policy=FIFO,RPS", "--set", "policx=1")
    assert other.stderr.startswith("--set: policx: unknown key")


def test_a_wide_table_without_rows_has_its_headings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep of which no point is complete has such a one."""
    monkeypatch.delenv("COLUMNS", raising=False)
    show(table("", ["point", *(f"measure {number}, µs" for number in range(12))]))
    assert capsys.readouterr().out.count("measure") == 12
