"""The form of the documents: changelog, length of the README, links that lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from .. import tables
from ..tree import Problem, Tree

# The pages that number the assumptions, in order, and the files that may cite them.
ASSUMPTIONS = ("docs/model/assumptions.md", "docs/model/assumptions-of-runs.md")
MENTIONING = (".md", ".jinja", ".rs", ".py", ".toml")

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


def first_pages_are_short(tree: Tree) -> Iterator[Problem]:
    """Limit the lines of the README and of the map of the code."""
    limits = {"README.md": tables.README_LINES, "ARCHITECTURE.md": tables.ARCHITECTURE_LINES}
    for path, limit in limits.items():
        if tree.exists(path) and (length := len(tree.lines(path))) > limit:
            yield Problem(path, 0, f"{length} lines; at most {limit}")


def releases_are_short(tree: Tree) -> Iterator[Problem]:
    """Limit the lines of each release in the changelog, and the words of each entry."""
    if not tree.exists("CHANGELOG.md"):
        return
    text = tree.text("CHANGELOG.md")
    for release in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, length = release.partition("\n")[0], release.rstrip().count("\n") + 1
        if length > tables.RELEASE_LINES:
            yield Problem(
                "CHANGELOG.md", 0, f"{title}: {length} lines; at most {tables.RELEASE_LINES}"
            )
    for entry in re.finditer(r"^- .*(?:\n  .*)*", text, re.MULTILINE):
        if (words := len(entry.group().split()) - 1) > tables.ENTRY_WORDS:
            line = text.count("\n", 0, entry.start()) + 1
            yield Problem("CHANGELOG.md", line, f"{words} words; at most {tables.ENTRY_WORDS}")


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


def tables_have_heads(tree: Tree) -> Iterator[Problem]:
    """Demand a head of each table: a row that a blank line cuts off is shown as text."""
    for path in tree.files("*.md"):
        lines = _without_code(tree.text(path)).split("\n")
        for before, (at, line), after in zip(
            ["", *lines], enumerate(lines, start=1), [*lines[1:], ""], strict=False
        ):
            begins = line.startswith("|") and not before.startswith("|")
            if begins and not re.fullmatch(r"\|[-: |]+\|", after):
                yield Problem(path, at, "a table without a head")


def pages_are_listed(tree: Tree) -> Iterator[Problem]:
    """Demand that a table of the nearest README above a page of docs links to it.

    The navigation of the site is made of these tables, so that nobody finds what they miss.
    """
    for path in tree.files("docs/*.md"):
        page = PurePosixPath(path)
        folders = page.parents if page.name != "README.md" else page.parent.parents
        above = [(folder / "README.md").as_posix() for folder in folders]
        index = next((index for index in above if tree.exists(index)), None)
        if index is None:
            yield Problem(path, 0, f"{above[0]}, which is to list it, is not there")
        elif path not in _listed(tree, index):
            yield Problem(path, 0, f"no table of {index} links to it")


def assumptions_exist(tree: Tree) -> Iterator[Problem]:
    """Demand that assumptions are numbered in order, and that each number in the text is one."""
    own = [
        int(number)
        for path in filter(tree.exists, ASSUMPTIONS)
        for number in re.findall(r"^\*\*A(\d+)\. ", tree.text(path), re.MULTILINE)
    ]
    if not own:
        return
    if own != list(range(1, len(own) + 1)):
        yield Problem(ASSUMPTIONS[0], 0, "numbers are to follow each other, page by page")
    for path in tree.text_files():
        if path.endswith(MENTIONING):
            for at, line in enumerate(tree.lines(path), start=1):
                for number in re.findall(r"\bA(\d{1,3})\b", line):
                    if int(number) not in own:
                        yield Problem(path, at, f"A{number} is no assumption")


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
