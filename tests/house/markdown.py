"""The code blocks of Markdown pages, and which of them can be run."""

import re
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_WHOLE_SCENARIO = re.compile(r"(?:#[^\n]*\n|\s)*(?:seed|device)\s*=")


@dataclass(frozen=True)
class Block:
    """A fenced block: language, words after it, the line it opens at, contents."""

    language: str
    marks: tuple[str, ...]
    line: int
    code: str

    @property
    def is_runnable(self) -> bool:
        """Whether the page promises that this block works as it stands.

        Python always does; a shell block does when marked `runnable`; a TOML block when it is a
        whole scenario, which begins with its seed or its device, and not a section of one.
        """
        if self.language == "toml":
            return _WHOLE_SCENARIO.match(self.code) is not None
        return self.language == "python" or (self.language == "sh" and "runnable" in self.marks)


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page that name a language."""
    return [
        Block(
            match.group(1),
            tuple(match.group(2).split()),
            text.count("\n", 0, match.start()) + 1,
            match.group(3),
        )
        for match in _BLOCK.finditer(text)
    ]
