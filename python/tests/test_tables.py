"""Tables for people: 80 columns lose nothing, units suit the size, notebooks get HTML."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import reprieve as rp
from reprieve.cli.console import in_parts, table
from reprieve.cli.units import humane
from reprieve.report.tables import lead

from .drive import Reprieve

NUMBERS = [f"a quite long heading {place}" for place in range(9)]


def drawn(columns: int) -> list[str]:
    made = table("Title", ["section.key", *NUMBERS])
    for row in range(3):
        made.add_row(f"row-{row}", *(f"{row}{place:06}" for place in range(9)))
    console = Console(width=columns, file=io.StringIO())
    printed = []
    for part in in_parts(made, console):
        with console.capture() as capture:
            console.print(part)
        printed.append(capture.get())
    return printed


def test_narrow_table_keeps_every_cell_and_what_tells_rows_apart() -> None:
    parts = drawn(80)
    assert len(parts) > 1
    for row in range(3):
        assert all(f"row-{row}" in part for part in parts)
        for place in range(9):
            assert sum(f"{row}{place:06}" in part for part in parts) == 1
    assert all(len(line) <= 80 for part in parts for line in part.splitlines())
    assert "…" not in "".join(parts)
    assert [part.startswith("Title") for part in parts] == [True] + [False] * (len(parts) - 1)


def test_wide_table_stays_whole() -> None:
    (whole,) = drawn(400)
    assert all(heading in whole for heading in NUMBERS)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("span_ns", 3_599_890_074_831, ("span", "60 min")),
        ("span_ns", 999, ("span", "999 ns")),
        ("interarrival_ns_mean", 44_556_955.1, ("interarrival mean", "44.56 ms")),
        ("read_size_bytes.p95", 126_976, ("read size.p95", "124 KiB")),
        ("written_bytes", 3 << 30, ("written", "3 GiB")),
        ("aligned_share", 0.903953, ("aligned share", "90.4 %")),
        ("requests", 80_794, ("requests", "80,794")),
        ("format", "msr", ("format", "msr")),
    ],
)
def test_units_suit_the_size(name: str, value: object, told: tuple[str, str]) -> None:
    assert humane(name, value) == told


def test_notebooks_get_html(tmp_path: Path) -> None:
    runs = rp.compare("examples/limits.toml", {"policy": ["FIFO", "RPS"]}, workload__requests=200)
    mean_us = runs["RPS"].summary["requests"]["read"]["latency_ns"]["mean"] / 1000
    page = runs._repr_html_()
    assert f">{mean_us:,.1f}</td>" in page
    assert page.count("<table>") == 2
    assert f">{mean_us:,.1f}</td>" in runs["RPS"]._repr_html_()
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
    best = min(("RPS", "PES-IPC"), key=lambda label: means[label])
    said = lead(runs)
    assert said.startswith(
        f"The mean read takes {means[best]:,.1f} µs in run “{best}”, the least of 3 runs, and "
        f"{means['FIFO']:,.1f} µs in run “FIFO” (×{means[best] / means['FIFO']:.2f}"
    )
    pair = runs.paired(best)["read_latency_ns_mean"]
    assert said.endswith("; decided at 95 %." if pair["decided"] else "; not decided at 95 %.")
    alone = lead({"this": runs["FIFO"]})
    assert alone.startswith(f"this: reads take {means['FIFO']:,.1f} µs in the mean, ")


def test_misspelt_axis_names_the_axis(reprieve: Reprieve, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('device = "fast12-mlc"\nload = "fin1-like"\n')
    done = reprieve("compare", "s.toml", "--axis", "policx=FIFO,RPS")
    said = "--axis policx: unknown key; did you mean policy?\n"
    assert (done.returncode, done.stderr) == (2, said)
    bad = reprieve("compare", "s.toml", "--axis", "suspension.max_per_operation=0,1")
    assert bad.stderr.startswith("--axis suspension.max_per_operation = 0: must be")
    other = reprieve("compare", "s.toml", "--axis", "policy=FIFO,RPS", "--set", "policx=1")
    assert other.stderr.startswith("--set: policx: unknown key")
