"""The documentation builds as a site without a warning, and no page of it asks the network."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import CHROMIUM, Browser

from .test_docs import PROJECT, ROOT

# What fetches what it names, in HTML; a link that a reader may follow is no such thing.
LOADING = {
    "audio": "src",
    "embed": "src",
    "form": "action",
    "iframe": "src",
    "image": "href",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "track": "src",
    "use": "href",
    "video": "src",
}
LOADING_IN_CSS = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^\s"')]+)""")
LOADING_IN_JS = re.compile(
    r"""(?:fetch\(|import\(?|importScripts\(|\.open\([^)]*,|\.(?:src|href)\s*=)\s*["'`]"""
    r"""((?:https?:)?//[^"'`]+)"""
)


def build(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `make site` does."""
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]
    places = [
        "--conf-dir",
        f"{root}/docs/site",
        "--doctree-dir",
        f"{out}-read",
        str(root),
        str(out),
    ]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, *places],
        capture_output=True,
        text=True,
        check=False,
    )


# The site is built for them, which takes as long.
pytestmark = pytest.mark.seconds(22)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site, which the first of several processes builds for all."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "site.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        told = shared / "site.json"
        if not told.exists():
            done = build(ROOT, shared / "site")
            told.write_text(json.dumps([done.returncode, done.stderr]), encoding="utf-8")
    code, errors = json.loads(told.read_text(encoding="utf-8"))
    assert code == 0, errors
    return shared / "site"


class Page(HTMLParser):
    """Files that a page loads, its links and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.navigation: set[str] = set()
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self._in_style = tag == "style"
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            if "internal" in given.get("class", "").split():
                self.navigation.add(given["href"].partition("#")[0])
        if tag in LOADING and LOADING[tag] in given:
            self.loads.append(given[LOADING[tag]])
        self.loads += [part.split()[0] for part in given.get("srcset", "").split(",") if part]
        self.loads += LOADING_IN_CSS.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.loads += LOADING_IN_CSS.findall(data)


def outside(addresses: list[str]) -> list[str]:
    """Return those that lead to another machine."""
    return [address for address in addresses if urlsplit(address).netloc]


def loaded_from_outside(path: Path) -> list[str]:
    """Return what a file of the site fetches from another machine."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return outside(Page(text).loads)
    return (LOADING_IN_CSS if path.suffix == ".css" else LOADING_IN_JS).findall(text)


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".js", ".svg")]
    assert {path.suffix for path in files} == {".html", ".css", ".js", ".svg"}
    found = {path.name: loaded_from_outside(path) for path in files}
    assert not {name: addresses for name, addresses in found.items() if addresses}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>'),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/css">'),
        ("a.html", '<img src="http://example/x.png">'),
        ("a.html", "<style>@import 'https://example/x.css';</style>"),
        ("a.css", 'a { background: url("https://example/x.png") }'),
        ("a.js", 'fetch("https://example/count")'),
        ("a.js", "image.src = 'https://example/count.gif';"),
    ],
)
def test_loading_from_the_network_is_noticed(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert loaded_from_outside(path)


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert not list(_broken(pages))


def _broken(pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not aim.is_file():
                yield f"{path.name}: {link}"
            elif aim in pages and unquote(parts.fragment or "") not in pages[aim].anchors | {""}:
                yield f"{path.name}: {link}: no such anchor"


def test_first_page_leads_to_every_page(site: Path) -> None:
    first = Page((site / "index.html").read_text(encoding="utf-8"))
    written = {f"{path.removesuffix('.md')}.html" for path in PROJECT.files("docs/*.md")}
    assert written, "no pages were found"
    assert not written - first.navigation


def test_search_needs_no_server(site: Path) -> None:
    """A page from the disk may load a script, but may not fetch a file."""
    page = Page((site / "search.html").read_text(encoding="utf-8"))
    assert any(urlsplit(load).path == "searchindex.js" for load in page.loads)
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "suspens" in index
    assert "docs/guide/first-run" in index


PAGE = "document.documentElement"
TABLES = "...document.querySelectorAll('.table-wrapper')"


def scrolled_sideways(
    folder: Path, parts: dict[int, str], profile: Path
) -> dict[int, dict[str, int]]:
    """Return by how many pixels parts of pages are too wide, by width of the window and page."""
    wide: dict[int, dict[str, int]] = {width: {} for width in parts}
    with Browser(profile) as browser:
        for page in sorted(folder.rglob("*.html")):
            browser.visit(page.as_uri(), "true")
            for width, these in parts.items():
                browser.resize(width, 900)
                beyond = f"[{these}].map(part => part.scrollWidth - part.clientWidth)"
                if pixels := browser.value(f"Math.max(0, ...{beyond})"):
                    wide[width][page.relative_to(folder).as_posix()] = pixels
    return wide


browsing = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


@browsing
def test_nothing_is_scrolled_sideways(site: Path, tmp_path: Path) -> None:
    """Neither a page, nor a table on a page that is no telephone's."""
    parts = {1280: f"{PAGE}, {TABLES}", 390: PAGE}
    assert scrolled_sideways(site, parts, tmp_path) == {1280: {}, 390: {}}


@browsing
def test_the_reference_is_filtered_and_opens_where_a_link_leads(site: Path, tmp_path: Path) -> None:
    page = (site / "docs" / "reference" / "scenario.html").as_uri()
    shown = (
        "[...document.querySelectorAll('article h3')].filter((it) => it.offsetHeight > 0)"
        ".map((it) => it.firstChild.textContent)"
    )
    type_in = "document.querySelector('.filter').value = '{}';"
    type_in += "document.querySelector('.filter').oninput()"
    with Browser(tmp_path) as browser:
        browser.visit(page, "document.querySelector('.filter') !== null")
        assert browser.value(shown) == []
        browser.value(type_in.format("max_per_PROGRAM runs to its end"))
        assert "suspension.max_per_program" in browser.value(shown)
        assert all("max_per" in name for name in browser.value(shown))
        browser.value(type_in.format("no such key anywhere"))
        assert browser.value(shown) == []
        browser.value("location.hash = '#timing-t-erase-us'")
        browser.settle()
        assert "timing.t_erase_us" in browser.value(shown)
        browser.value("document.querySelector('section:not(.closed) > h2 > .toggle').click()")
        assert browser.value(shown) == []
        assert browser.said == []


@browsing
@pytest.mark.parametrize("parts", [PAGE, TABLES])
def test_scrolling_sideways_is_noticed(parts: str, tmp_path: Path) -> None:
    style = "overflow: auto" if parts == TABLES else ""
    for name, pixels in (("narrow", 380), ("wide", 400)):
        text = (
            f'<div class="table-wrapper" style="{style}"><p style="width: {pixels}px">x</p></div>'
        )
        (tmp_path / f"{name}.html").write_text(f'<!doctype html><body style="margin: 0">{text}')
    found = scrolled_sideways(tmp_path, {1280: parts, 390: parts}, tmp_path / "profile")
    assert found == {1280: {}, 390: {"wide.html": 10}}


def test_numbers_keys_and_presets_are_links(site: Path) -> None:
    links = Page((site / "docs/model/assumptions.html").read_text(encoding="utf-8")).links
    assert "#a13" in links
    assert "../reference/scenario.html#timingt_bus_us" in links
    links = Page((site / "docs/model/loads.html").read_text(encoding="utf-8")).links
    assert "../reference/presets.html#fin1-flows" in links


# A small project in order; each case below breaks it in one place.
SMALL = {
    "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n',
    "README.md": "# R\n\n[Guide](docs/README.md#guide).\n\n## Where to go\n\n"
    "| where | what |\n|---|---|\n| [D](docs/README.md) | pages |\n",
    "docs/README.md": "# Docs\n\n## Guide\n\n| task | page |\n|---|---|\n| first | "
    "[guide/a.md](guide/a.md) |\n| [s](reference/scenario.md) | [p](reference/presets.md) |\n",
    "docs/guide/a.md": "# A\n\nSee `timing.t_read_us`, `a-part`.\n\n![x](../x.svg)\n",
    "docs/reference/scenario.md": "# Keys\n\n## `[timing]`\n\n### `timing.t_read_us`\n",
    "docs/reference/presets.md": "# Presets\n\n## Parts\n\n### `a-part`\n",
    "docs/x.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
}


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        (None, "", None),
        ("docs/guide/a.md", "# A\n\n[b](b.md)\n", "b.md"),
        ("docs/guide/a.md", "# A\n\n[b](../README.md#nowhere)\n", "nowhere"),
        ("docs/guide/a.md", "# A\n\n![b](b.svg)\n", "b.svg"),
        ("docs/guide/b.md", "# B\n\nNobody lists this.\n", "toctree"),
    ],
)
def test_mistake_fails_the_build(
    path: str | None, text: str, complaint: str | None, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    for name in ("docs/site", "docs/figures/page_figures"):
        shutil.copytree(ROOT / name, root / name)
    for name, contents in (SMALL | ({path: text} if path else {})).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(contents, encoding="utf-8")
    done = build(root, tmp_path / "out")
    assert (done.returncode == 0) == (complaint is None), done.stderr
    assert complaint is None or complaint in done.stderr
