"""The drive explorer in a real browser: numbers, links, sliders, keyboard, files, narrow, dark."""

from __future__ import annotations

import base64
import functools
import json
import os
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from browser import CHROMIUM, Browser

from reprieve.cli import EXIT_MISTAKE, main
from reprieve.cli.ui import FOLDER, _Handler
from reprieve.scenario import Source

from .test_explorer import natively, needs_core

pytestmark = [
    needs_core,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine"),
]

DONE = "document.querySelectorAll('.panel[data-done]').length === 2"
ROOT = Path(__file__).resolve().parents[2]
LOAD = '[workload]\ngenerator = "mixed"\nrequests = 1\nread_fraction = 1\nqueue_depth = 1\n'


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the page as the command does."""
    handler = functools.partial(_Handler, directory=str(FOLDER))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests; each opens the page anew."""
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, address: str) -> Browser:
    """Open the page in a light window."""
    browser.said.clear()
    browser.asked.clear()
    browser.media()
    browser.resize(1280, 900)
    browser.visit(address, DONE)
    return browser


def forget(page: Browser) -> None:
    """Let nothing that is on display count as the answer to what comes next."""
    page.value("document.querySelectorAll('.panel').forEach(it => delete it.dataset.done)")


def slide(page: Browser, name: str, to: int) -> None:
    """Move a slider as its user does, and wait for the run."""
    element = f"document.getElementById('{name}')"
    if name.startswith("shared-"):
        forget(page)
    page.value(f"{element}.value = {to}, {element}.dispatchEvent(new Event('input')), 0")
    page.wait(DONE)


def choose(page: Browser, name: str, value: str) -> None:
    """Choose from a list, and wait for the run."""
    if name.partition("-")[0] in {"story", "shared"}:
        forget(page)
    element = f"document.getElementById('{name}')"
    page.value(f"{element}.value = '{value}', {element}.dispatchEvent(new Event('change')), 0")
    page.wait(DONE)


def drop(page: Browser, name: str, content: bytes) -> None:
    """Give the page a file."""
    forget(page)
    packed = base64.b64encode(content).decode()
    script = (
        f"{{ const bytes = Uint8Array.from(atob('{packed}'), (it) => it.charCodeAt(0));"
        "const files = new DataTransfer();"
        f"files.items.add(new File([bytes], {json.dumps(name)}));"
        "const it = document.getElementById('file'); it.files = files.files; it.onchange(); 0 }"
    )
    page.value(script)


def summary(page: Browser, panel: str) -> dict[str, Any]:
    """Return what a setting shows; the page draws the dies besides."""
    told = json.loads(page.value(f"document.getElementById('panel-{panel}').dataset.summary"))
    assert told.pop("timeline")["cut_ns"] is None
    return dict(told)


def scenario(page: Browser, panel: str) -> str:
    """Return the scenario that a setting's button saves."""
    keep = "const make = URL.createObjectURL; URL.createObjectURL = (it) => (window.blob = it, "
    page.value(f"{{ {keep} make.call(URL, it)); 0 }}")
    page.value(f"document.querySelector('#panel-{panel} .buttons button:nth-child(2)').click()")
    return str(page.value("window.blob.text()"))


def has_numbers_of_a_run(page: Browser, panel: str) -> None:
    """Compare with a run of the scenario that the page's button saves."""
    told = summary(page, panel)
    assert told == natively(scenario(page, panel), [])
    p99 = told["requests"]["read"]["latency_ns"]["p99"] / 1000
    assert f"{round(p99):,}" in page.value("document.getElementById('comparison').innerText")


def test_numbers_are_those_of_a_run(page: Browser, address: str) -> None:
    for panel in "AB":
        has_numbers_of_a_run(page, panel)
    slide(page, "shared-workload.read_fraction", 170)
    choose(page, "B-suspension.policy", "deadline")
    for panel in "AB":
        has_numbers_of_a_run(page, panel)
    assert "drawn" in page.value("document.querySelector('#panel-B .time').innerText")
    assert page.said == []
    assert all(url.startswith((address, "data:", "blob:")) for url in page.asked)


@pytest.mark.seconds(12)
def test_the_address_is_the_whole_state(page: Browser, address: str, tmp_path: Path) -> None:
    choose(page, "story", "deadline")
    slide(page, "shared-workload.rate_iops", 110)
    choose(page, "B-suspension.program", "ipc")
    page.value("document.querySelectorAll('.handle')[1].focus()")
    page.key("ArrowRight", 39)
    page.value("document.getElementById('unlock').click()")
    page.wait(DONE)
    slide(page, "B-workload.read_fraction", 120)
    page.value("document.querySelector('#link button').click()")
    link = page.value("document.querySelector('#link button').dataset.copied")
    outcome = "[...document.querySelectorAll('.outcome')].map((it) => it.innerText).join()"
    wanted = [summary(page, "A"), summary(page, "B"), page.value(outcome)]
    assert wanted[0] != wanted[1]
    with Browser(tmp_path) as other:
        for _ in range(2):  # and once more, as a reload
            other.visit("about:blank", "true")
            other.visit(link, DONE)
            other.wait("document.querySelectorAll('.outcome').length > 6")
            assert [summary(other, "A"), summary(other, "B"), other.value(outcome)] == wanted
        assert other.value("document.getElementById('unlock').checked")
        assert other.value("document.getElementById('trouble').innerText") == ""
        assert link.startswith(address)


@pytest.mark.parametrize(
    ("hash", "told"),
    [
        ("story=none", "the address names a story none; there is none"),
        ("story=first&a=policy", "the address has a=policy: not KEY=VALUE"),
        ("arrivals=X7", "the address has an arrival X7: not as in R120"),
        ("story=first&version=0.0.1", "This link was made with Reprieve 0.0.1"),
    ],
)
def test_a_damaged_address_is_said(browser: Browser, address: str, hash: str, told: str) -> None:
    browser.said.clear()
    browser.visit("about:blank", "true")
    browser.visit(f"{address}#{hash}", DONE)
    assert browser.value("document.getElementById('trouble').innerText").startswith(told)


def test_load_and_part_are_shared_until_they_are_unlocked(page: Browser) -> None:
    assert page.value("document.getElementById('A-workload.read_fraction')") is None
    page.value("document.getElementById('unlock').click()")
    page.wait(f"{DONE} && document.getElementById('A-workload.read_fraction') !== null")
    slide(page, "A-workload.read_fraction", 100)
    fractions = [summary(page, panel)["requests"]["read"]["count"] for panel in "AB"]
    assert fractions[0] < 0.6 * 40_000 < fractions[1]
    forget(page)
    page.value("document.getElementById('unlock').click()")
    page.wait(f"{DONE} && document.getElementById('A-workload.read_fraction') === null")
    counts = [summary(page, panel)["requests"]["read"]["count"] for panel in "AB"]
    assert counts[0] == counts[1] == fractions[0]


def test_another_device_keeps_its_dies_and_says_what_was_cut(page: Browser) -> None:
    choose(page, "shared-device", "pm9a3")
    cut = tomllib.loads(scenario(page, "A"))
    whole = tomllib.loads(Source('device = "pm9a3"\n' + LOAD, "scenario.toml", ()).resolve())
    same = ["channels", "dies_per_channel", "planes_per_die", "page_bytes"]
    assert [cut["geometry"][key] for key in same] == [whole["geometry"][key] for key in same]
    assert cut["timing"] == whole["timing"]
    told = page.value("document.getElementById('told').innerText")
    for key, unit in (("blocks_per_plane", "blocks a plane"), ("pages_per_block", "pages a block")):
        assert f"{cut['geometry'][key]} of {whole['geometry'][key]} {unit}" in told
    kib = [part["buffer"]["bytes"] // 1024 for part in (cut, whole)]
    assert f"{kib[0]} of {kib[1]} KiB of write buffer" in told
    assert "B suspends as the device does" in told


def test_the_copied_command_gives_the_numbers_on_display(
    page: Browser, tmp_path: Path, program: str
) -> None:
    page.value("document.querySelectorAll('#result-buttons button')[1].click()")
    script = page.value("document.querySelectorAll('#result-buttons button')[1].dataset.copied")
    path = f"{Path(program).parent}:{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-euc", script], cwd=tmp_path, check=True, capture_output=True,
        env={**os.environ, "PATH": path},
    )  # fmt: skip
    for panel in "AB":
        printed = json.loads((tmp_path / "out/explorer" / panel / "summary.json").read_text())
        assert printed == summary(page, panel)


def test_the_copied_command_runs_no_line_of_a_scenario(
    page: Browser, address: str, tmp_path: Path
) -> None:
    text = 'device = "fast12-mlc"\nname = "it\'s $(touch one)"\n#\nEND\ntouch two\n'
    page.visit("about:blank", "true")
    page.visit(
        f"{address}#text={quote(text)}", "document.querySelector('#panel-A .error') !== null"
    )
    page.wait("document.querySelector('#panel-A .error').innerText !== ''")
    page.value("document.querySelectorAll('#result-buttons button')[1].click()")
    script = page.value("document.querySelectorAll('#result-buttons button')[1].dataset.copied")
    kept = f'reprieve() {{ cp "$2" kept; }}\n{script}'
    subprocess.run(["bash", "-euc", kept], cwd=tmp_path, check=True, capture_output=True)
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == text


def test_a_bound_is_called_one(page: Browser) -> None:
    choose(page, "B-policy", "pe0")
    told = "document.getElementById('headline').innerText"
    assert "B is a bound" in page.value(told)
    slide(page, "shared-workload.read_fraction", 150)
    assert "B is a bound" in page.value(told)


def test_the_picture_stands_alone(page: Browser) -> None:
    keep = "const make = URL.createObjectURL; URL.createObjectURL = (it) => (window.blob = it, "
    page.value(f"{{ {keep} make.call(URL, it)); 0 }}")
    page.value("document.querySelector('#result-buttons button').click()")
    picture = page.value("window.blob.text()")
    lines = ElementTree.fromstring(picture).findall(".//{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 4
    assert {line.get("stroke") for line in lines} == {"#b3541e", "#0b57a4"}
    assert "var(" not in picture
    assert "faster at p99" in picture


def test_a_trace_is_replayed(page: Browser, tmp_path: Path) -> None:
    trace = (ROOT / "traces" / "linux-mysql.load.gz").read_bytes()
    drop(page, "my trace.gz", trace)
    page.wait(DONE)
    text = scenario(page, "B")
    assert 'trace = "my_trace.gz"' in text
    (tmp_path / "my_trace.gz").write_bytes(trace)
    told = summary(page, "B")
    assert told == natively(text.replace("my_trace.gz", str(tmp_path / "my_trace.gz")), [])
    assert told["requests"]["read"]["count"] > 0
    shown = page.value("document.getElementById('told').innerText")
    assert "my trace.gz is the load" in shown
    assert "Nothing left your machine" in shown
    drop(page, "broken.csv", b"this,is,no\ntrace,at,all\n")
    page.wait("document.querySelector('#panel-A .error').innerText !== ''")
    assert "broken.csv" in page.value("document.querySelector('#panel-A .error').innerText")
    assert page.value("document.getElementById('headline').innerText") == ""


def test_jobs_of_fio_and_their_results_are_loads(page: Browser) -> None:
    jobs = "[reader]\nrw=randread\nbs=4k\niodepth=8\nsize=16m\nio_size=8m\n"
    drop(page, "my.fio", jobs.encode())
    page.wait(DONE)
    assert summary(page, "A")["requests"]["read"]["count"] == 2048  # 8 MiB of 4 KiB
    result = {
        "fio version": "fio-3.33",
        "global options": {"ioengine": "libaio"},
        "jobs": [{
            "jobname": "it",
            "job options": {"rw": "randrw", "bs": "8k", "iodepth": "4", "rwmixread": "80"},
            "read": {"clat_ns": {"percentile": {"50.000000": 90_000, "99.000000": 800_000}}},
            "write": {"clat_ns": {"percentile": {}}},
        }],
    }  # fmt: skip
    drop(page, "result.json", json.dumps(result).encode())
    page.wait(DONE)
    load = tomllib.loads(scenario(page, "B"))["workload"]
    given = ["read_fraction", "request_bytes", "arrivals", "queue_depth", "addresses"]
    assert [load[key] for key in given] == [0.8, 8192, "closed", 4, "uniform"]
    assert page.value("document.querySelectorAll('#curves circle').length") == 2
    for wrong, told in (
        ({"jobs": []}, "not a result of fio"),
        ({**result, "global options": {"bsrange": "4k-8k"}}, "no load for fio's bsrange"),
    ):
        drop(page, "wrong.json", json.dumps(wrong).encode())
        page.wait("document.getElementById('trouble').innerText.includes('wrong.json')")
        assert told in page.value("document.getElementById('trouble').innerText")


def test_the_page_in_one_file_runs_from_a_folder(
    page: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = summary(page, "B")
    file = tmp_path / "a folder" / "explorer.html"
    assert main(["ui", "--save", str(file)]) == 0
    assert capsys.readouterr().out == f"wrote {file}\n"
    assert file.stat().st_size < 4_000_000
    with Browser(tmp_path / "profile") as other:
        nothing = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        other.send("Network.emulateNetworkConditions", offline=True, **nothing)
        other.visit(f"{file.as_uri()}#story=first", DONE)
        assert summary(other, "B") == wanted
        assert other.said == []
        assert all(url.startswith(("file:", "blob:", "data:")) for url in other.asked)
    file.write_text("mine")
    assert main(["ui", "--save", str(file)]) == EXIT_MISTAKE
    assert "--force" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_a_die_is_worked_by_keyboard(page: Browser) -> None:
    outcome = "document.querySelectorAll('.outcome')[2].innerText"
    page.wait("document.querySelectorAll('.strips .strip').length > 4")
    before = page.value(outcome)
    page.value("document.querySelectorAll('.handle')[1].focus()")
    for _ in range(3):
        page.key("ArrowRight", 39)
    assert page.value("document.activeElement.getAttribute('aria-valuetext')") == "150 µs"
    page.wait(f"{outcome} !== {json.dumps(before)}")
    assert page.value("document.activeElement.getAttribute('role')") == "slider"


def test_another_scenario_is_opened_and_a_wrong_one_is_refused(page: Browser) -> None:
    text = (ROOT / "examples" / "limits.toml").read_text(encoding="utf-8")
    drop(page, "it.toml", text.encode())
    page.wait(f"{DONE} && document.getElementById('A-suspension.max_per_program') !== null")
    has_numbers_of_a_run(page, "A")
    wrong = text.replace("t_read", "t_reed").replace("pes-ipc", "pes-ipx")
    drop(page, "it.toml", wrong.encode())
    page.wait("document.querySelector('#panel-B .error').innerText !== ''")
    assert "pes-ipx" in page.value("document.querySelector('#panel-B .error').innerText")


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (768, "dark")])
def test_it_fits_narrow_windows(page: Browser, width: int, scheme: str) -> None:
    page.media(scheme=scheme)
    page.resize(width, 844)
    page.settle()
    assert page.value("document.documentElement.scrollWidth") <= width


def test_everything_has_a_label(page: Browser) -> None:
    nameless = (
        "[...document.querySelectorAll('input, select, [role=slider], progress')].filter((it) => "
        "!it.labels?.length && !it.getAttribute('aria-label')).map((it) => it.outerHTML)"
    )
    assert page.value(nameless) == []
    assert page.value("document.documentElement.lang") == "en"
