"""Links that the pages do not have to write: from numbers of assumptions, keys and presets.

On the site a mention of `A13` leads to that assumption, and a key of the scenario or the name of a
preset that stands in the text as code leads to its section of the reference.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

ASSUMPTIONS = "docs/model/assumptions*.md"
KEYS = "docs/reference/scenario.md"
PRESETS = "docs/reference/presets.md"

_OWN_NUMBER = re.compile(r"(A\d+)\. ")
_MENTION = re.compile(r"\b(A\d+)\b")
_NO_PROSE = (nodes.literal, nodes.literal_block, nodes.reference, nodes.title)


def targets(root: Path) -> dict[str, tuple[str, str]]:
    """Find the page and the anchor of every assumption, and of keys and presets with a section.

    Names of one word, as `seed` and `mbm`, are names of other things too.
    """
    found = {}
    for path in sorted(root.glob(ASSUMPTIONS)):
        page = path.relative_to(root).with_suffix("").as_posix()
        for number in re.findall(r"^\*\*(A\d+)\. ", path.read_text("utf-8"), re.MULTILINE):
            found[number] = (page, number.lower())
    reference = Path(root, KEYS).read_text("utf-8")
    for key in re.findall(r"^### `(\w+\.\w+)`$", reference, re.MULTILINE):
        found[key] = (KEYS.removesuffix(".md"), key.replace(".", ""))
    presets = Path(root, PRESETS).read_text("utf-8")
    for name in re.findall(r"^### `(\w+(?:-\w+)+)`$", presets, re.MULTILINE):
        found[name] = (PRESETS.removesuffix(".md"), name)
    return found


class CrossLinks(SphinxPostTransform):
    """Give each assumption its number as an anchor, and link what mentions assumptions and keys."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        """Go through a page that is otherwise complete."""
        for paragraph in self.document.findall(nodes.paragraph):
            own = _OWN_NUMBER.match(paragraph.astext())
            if own and self.config.crosslink_targets.get(own[1], ("",))[0] == self.env.docname:
                paragraph["ids"].append(own[1].lower())
        for code in list(self.document.findall(nodes.literal)):
            if code.astext() in self.config.crosslink_targets and _is_prose(code):
                code.parent.replace(code, self._link(code.astext(), code.deepcopy()))
        for text in list(self.document.findall(nodes.Text)):
            if _MENTION.search(text) and _is_prose(text):
                text.parent.replace(text, list(self._with_links(text)))

    def _with_links(self, text: nodes.Text) -> Iterator[nodes.Node]:
        for piece in _MENTION.split(text):
            known = piece in self.config.crosslink_targets
            yield self._link(piece, nodes.Text(piece)) if known else nodes.Text(piece)

    def _link(self, name: str, shown: nodes.Node) -> nodes.Node:
        page, anchor = self.config.crosslink_targets[name]
        here = self.env.docname
        address = "" if page == here else self.app.builder.get_relative_uri(here, page)
        link = nodes.reference("", "", internal=True, refuri=f"{address}#{anchor}")
        link += shown
        return link


def _is_prose(node: nodes.Node) -> bool:
    """Whether it stands in no code block, heading or link, nor in the head of an assumption."""
    while (node := node.parent) is not None:
        if isinstance(node, _NO_PROSE):
            return False
        if isinstance(node, nodes.strong) and _OWN_NUMBER.match(node.astext()):
            return False
    return True


def setup(app: Sphinx) -> None:
    """Read what can be linked to, once, and link it on every page."""
    app.add_config_value("crosslink_targets", targets(Path(app.srcdir)), "env")
    app.add_post_transform(CrossLinks)
