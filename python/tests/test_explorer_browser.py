"""The drive explorer in a real browser: numbers, sliders, keyboard, files, narrow and dark."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser

from reprieve.cli.ui import FOLDER, _Handler

from .test_explorer import natively, needs_core

pytestmark = [
    needs_core,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine"),
]

DONE = "document.querySelectorAll('.panel[data-done]').length === 2"
TOLD = "document.querySelector('#panel-{} .{}').innerText"


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


def slide(page: Browser, name: str, to: int) -> None:
    """Move a slider as its user does, and wait for the run."""
    element = f"document.getElementById('{name}')"
    page.value(f"{element}.value = {to}, {element}.dispatchEvent(new Event('input')), 0")
    page.wait(DONE)


def choose(page: Browser, name: str, value: str) -> None:
    """Choose from a list, and wait for the run."""
    element = f"document.getElementById('{name}')"
    page.value(f"{element}.value = '{value}', {element}.dispatchEvent(new Event('change')), 0")
    page.wait(DONE)


def has_numbers_of_a_run(page: Browser, panel: str) -> None:
    """Compare with a run of the scenario that the page's button downloads."""
    keep = "const make = URL.createObjectURL; URL.createObjectURL = (it) => (window.blob = it, "
    page.value(f"{{ {keep} make.call(URL, it)); 0 }}")
    page.value(f"document.querySelector('#panel-{panel} .files button').click()")
    scenario = page.value("window.blob.text()")
    told = json.loads(page.value(f"document.getElementById('panel-{panel}').dataset.summary"))
    # The page draws the dies besides.
    assert told.pop("timeline")["cut_ns"] is None
    assert told == natively(scenario, [])
    p99_9_us = told["requests"]["read"]["latency_ns"]["p99_9"] / 1000
    assert f"{round(p99_9_us):,}" in page.value(TOLD.format(panel, "percentiles"))


def test_numbers_are_those_of_a_run(page: Browser, address: str) -> None:
    for panel in "AB":
        has_numbers_of_a_run(page, panel)
    slide(page, "B-workload.read_fraction", 170)
    choose(page, "B-suspension.policy", "deadline")
    choose(page, "A-device", "znand-like")
    for panel in "AB":
        has_numbers_of_a_run(page, panel)
    assert "drawn" in page.value(TOLD.format("B", "time"))
    assert page.said == []
    assert all(url.startswith((address, "data:", "blob:")) for url in page.asked)


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
    text = (Path(__file__).parents[2] / "examples" / "limits.toml").read_text(encoding="utf-8")
    files = "const files = new DataTransfer(); files.items.add(new File([{}], 'it.toml'));"
    give = "const it = document.getElementById('open-A'); it.files = files.files; it.onchange();"
    # The file is read after this script: what was done before is not what is waited for.
    forget = "delete document.getElementById('panel-A').dataset.done;"
    page.value(f"{{ {forget} {files.format(json.dumps(text))} {give} 0 }}")
    page.wait(f"{DONE} && document.getElementById('A-suspension.max_per_operation') !== null")
    has_numbers_of_a_run(page, "A")
    wrong = json.dumps(text.replace("t_read", "t_reed").replace("pes-ipc", "pes-ipx"))
    page.value(f"{{ {files.format(wrong)} {give} 0 }}")
    page.wait("document.querySelector('#panel-A .error').innerText !== ''")
    assert "pes-ipx" in page.value(TOLD.format("A", "error"))


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
