"""The documentation as a site: how Sphinx reads this project's Markdown as it stands.

The source folder is the project itself, so that every link between pages, to the README and to
files beside them is the one that a forge follows. No page has a list of pages for Sphinx: the
navigation is made of the links in the tables of the README files.
"""

import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "figures"))
import crosslinks
from page_figures.pages import fill, is_template, recorded

from reprieve.one_file import one_file

ROOT = Path(__file__).parents[2]
# `make ui` builds it; without it the site has no explorer.
CORE = ROOT / "python" / "reprieve" / "ui" / "reprieve.wasm"

project = "Reprieve"
author = "the Reprieve authors"
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"][
    "package"
]["version"]

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md", "traces/*.md"]
# Folders without pages; some are so large that to look through them takes longer than all else.
exclude_patterns = [
    *(".*", "benches", "crates", "devices", "examples", "loads", "out", "parts", "python"),
    *("target", "tests"),
]

# Headings get the anchors that GitHub gives them, at every level that a page links to.
myst_heading_anchors = 6
nitpicky = True

html_theme = "furo"
html_title = f"Reprieve {version}"
html_static_path = ["style.css", "site.js"]
html_css_files = ["style.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_copyright = False
html_use_index = False
pygments_style = "default"
pygments_dark_style = "monokai"

_TABLE_ROW = re.compile(r"^\|.*\|\s*$", re.MULTILINE)
_PAGE = re.compile(r"\]\(([^)#:]+\.md)\)")
_NAMED_AS_FILE = re.compile(r"\[[\w./-]+\.md\](\([^)#:]+\.md\))")


def _as_site(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Put what the tables of a README link to under it, in their order, as its navigation."""
    if docname.startswith("docs/") and is_template(source[0]):
        source[0] = fill(f"{docname}.md", recorded()).text
    # A link that a forge shows as the name of a file has the title of its page here.
    text = source[0] = _NAMED_AS_FILE.sub(r"[]\1", source[0])
    if docname.rpartition("/")[2] != "README":
        return
    rows = _TABLE_ROW.findall(
        text.partition("\n## Where to go\n")[2] if docname == root_doc else text
    )
    links = [link for row in rows for link in _PAGE.findall(row)]
    # A README lists the pages of its folder and of those below; another link is a reference.
    own = [link for link in dict.fromkeys(links) if not link.startswith("..")]
    if own:
        source[0] = "\n".join([text, "```{toctree}", ":hidden:", "", *own, "```", ""])


def _as_index(app: Sphinx, failure: Exception | None) -> None:
    """Let the README be what opens by itself; write the drive explorer beside it, as one file."""
    if failure is None:
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))
        if CORE.is_file():
            Path(app.outdir, "explorer.html").write_text(one_file(CORE.parent), encoding="utf-8")


def _announced(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Put a link to the drive explorer above each page, where it was built."""
    if CORE.is_file():
        address = context["pathto"]("explorer.html", 1)
        context["theme_announcement"] = f'<a href="{address}">Open the drive explorer</a>'


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect what is above to the build."""
    app.connect("source-read", _as_site)
    app.connect("html-page-context", _announced)
    app.connect("build-finished", _as_index)
    crosslinks.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
