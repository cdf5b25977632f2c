"""The linter of prose finds its phrases in pages, docstrings, help texts and comments, not code."""

from pathlib import Path

import pytest

from .prose import problems
from .tree import Tree

RULES = """rust = ["crates/a/src/*.rs"]
skipped = ["docs/old/*"]

[phrases]
'\\bin the way\\b' = "blocking"

[heads]
'\\AWhat\\b' = "a noun"
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
        ("python/reprieve/a.py", '"""Head.\n\nWhat."""\n\nA = 1\n"""What A is."""\n', [6]),
        ("python/reprieve_studies/a.py", '"""Head."""\n\n\ndef f():\n    """What f."""\n', [5]),
        ("crates/a/src/b/c.rs", "//! Head.\n\n/// Is in\n/// the way.\nfn f() {}\n", [3]),
        ("crates/a/src/c.rs", "//! Head.\n\n    /// What f does.\n    fn f() {}\n", [3]),
        ("crates/a/src/c.rs", '/// That is\n/// What.\nfn f() { "in the way"; }\n', []),
        ("crates/b/src/c.rs", "/// What is in the way.\nfn f() {}\n", []),
    ],
)
def test_phrases_are_found(path: str, text: str, lines: list[int], tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "prose.toml").write_text(RULES, encoding="utf-8")
    found = [*problems(Tree(tmp_path), tmp_path / "prose.toml")]
    assert [problem.line for problem in found] == lines
