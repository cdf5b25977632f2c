"""The form of the documents: changelog, length of the README, links that lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..tree import Problem, Tree

REQUIRED = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)


def documents_are_there(tree: Tree) -> Iterator[Problem]:
    """Demand the pages that every visitor looks for."""
    for path in REQUIRED:
        if not tree.exists(path):
            yield Problem(path, 0, "missing")


def changelog_has_its_form(tree: Tree) -> Iterator[Problem]:
    """Demand a place for what is new, and one for what moves a number."""
    if not tree.exists("CHANGELOG.md"):
        return
    headings = re.findall(r"^(#+) (.+)$", tree.text("CHANGELOG.md"), re.MULTILINE)
    for wanted, level in (("Unreleased", "##"), ("Results change", "###")):
        if not any(title.strip("[] ") == wanted and marks == level for marks, title in headings):
            yield Problem("CHANGELOG.md", 0, f"needs a heading `{level} {wanted}`")


def readme_is_short(tree: Tree) -> Iterator[Problem]:
    """Keep the README a first page."""
    if tree.exists("README.md"):
        length = len(tree.lines("README.md"))
        if length > tables.README_LINES:
            yield Problem("README.md", 0, f"{length} lines; at most {tables.README_LINES}")


def links_resolve(tree: Tree) -> Iterator[Problem]:
    """Follow relative links of Markdown pages to files, and to headings in them."""
    for path in tree.files("*.md"):
        text = _without_code(tree.text(path))
        for match in _LINK.finditer(text):
            target = match.group(1)
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            line = text.count("\n", 0, match.start()) + 1
            file, _, anchor = target.partition("#")
            aim = _resolved(PurePosixPath(path).parent, file) if file else path
            if aim is None or not tree.exists(aim):
                yield Problem(path, line, f"link to {target}, which is not there")
            elif anchor and aim.endswith(".md") and anchor not in _anchors(tree.text(aim)):
                yield Problem(path, line, f"link to {target}: no such heading")


def pages_are_listed(tree: Tree) -> Iterator[Problem]:
    """Demand that each page of docs stands in a table of its folder's README, and that in ours.

    The navigation of the site is made of these tables, so that what they miss nobody finds.
    """
    for path in tree.files("docs/*.md"):
        page = PurePosixPath(path)
        is_index = page.name == "README.md"
        index = "README.md" if is_index else f"{page.parent}/README.md"
        if not tree.exists(index):
            yield Problem(path, 0, f"{index}, which is to list it, is not there")
        elif path not in _listed(tree, index):
            yield Problem(path, 0, f"no table of {index} links to it")


def _listed(tree: Tree, index: str) -> set[str | None]:
    """Return the files that the rows of a page's tables link to."""
    rows = "\n".join(line for line in tree.lines(index) if line.startswith("|"))
    folder = PurePosixPath(index).parent
    return {_resolved(folder, target) for target in _LINK.findall(rows)}


def _without_code(text: str) -> str:
    """Blank out fenced blocks and code spans; lines keep their numbers."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    return re.sub(r"`[^`\n]*`", blank, _FENCE.sub(blank, text))


def _resolved(folder: PurePosixPath, target: str) -> str | None:
    """Return `target` from the project's root; `None` when it leads out of the project."""
    parts = list(folder.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts) or "."


def _anchors(text: str) -> set[str]:
    """Return anchors as GitHub makes them; a repeated heading gets -1, -2 and so on."""
    anchors: set[str] = set()
    for title in re.findall(r"^#+ (.+?)\s*#*$", _FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        anchor, count = plain, 0
        while anchor in anchors:
            count += 1
            anchor = f"{plain}-{count}"
        anchors.add(anchor)
    return anchors
