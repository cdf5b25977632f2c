"""The linter of prose finds its phrases in pages, docstrings and help texts, and not in code."""

from pathlib import Path

import pytest

from .prose import problems
from .tree import Tree

RULES = """skipped = ["docs/old/*"]

[phrases]
'\\bin the way\\b' = "blocking"
"""


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.md", "# A\n\nIt is in the\nway.\n", [3]),
        ("a.md", "# A\n\n`in the way`, {{ in the way }}\n\n```sh\nin the way\n```\n", []),
        ("docs/old/a.md", "# A, in the way\n", []),
        (
            "python/reprieve/a.py",
            '"""Head."""\n\n\ndef f():\n    """In.\n\n    in the way."""\n',
            [7],
        ),
        ("python/reprieve/a.py", '"""Head."""\n\nOption("-x", help="in the way")\n', [3]),
        ("python/reprieve/a.py", '"""Head."""\n\nx = "in the way"  # in the way\n', []),
    ],
)
def test_phrases_are_found(path: str, text: str, lines: list[int], tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "prose.toml").write_text(RULES, encoding="utf-8")
    found = [*problems(Tree(tmp_path), tmp_path / "prose.toml")]
    assert [problem.line for problem in found] == lines
