"""Each house rule catches what it is there for, and finds nothing in a tree that is in order."""

from pathlib import Path

import pytest

from . import tables
from .rules import RULES
from .rust import Function, code_of, functions, used_paths
from .tree import Problem, Tree

ENTRY = 'pub(super) const ENTRY: Entry = Entry {{\n    name: "{}",\n    doc: "in order",\n}};\n'

# A small project in order; each case below changes or adds files.
IN_ORDER = {
    "README.md": (
        "# Reprieve\n\nSee [how](CONTRIBUTING.md#set-up), [map](ARCHITECTURE.md).\n\n"
        "| where | what |\n|---|---|\n| [Guide](docs/guide/README.md) | tasks |\n"
        "| [Loads](docs/model/loads.md) | loads |\n"
    ),
    "docs/model/loads.md": (
        "# Loads\n\nOurs {{ 4 | n }}, theirs 1,000 "
        '(4.5 %), p99.9 of Table 3, 2012, A25, `x 7`, [7th](loads.md "7"), <!-- 8 -->\n'
    ),
    "docs/figures/terms/docs/model/loads.md.jinja": "{#- Given:\ntheirs: 1,000 4.5\n-#}\n",
    "docs/guide/README.md": "# Guide\n\n| task | page |\n|---|---|\n| run | [run](run.md) |\n",
    "docs/guide/run.md": "# Run\n",
    "ARCHITECTURE.md": "# Architecture\n",
    "CONTRIBUTING.md": "# Contributing\n\n## Set-up\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n### Results change\n\nNothing.\n",
    "crates/base/Cargo.toml": '[package]\nname = "reprieve-base"\n',
    "crates/base/src/lib.rs": "//! The words.\n",
    "crates/policy/Cargo.toml": (
        '[package]\nname = "reprieve-policy"\n[dependencies]\nreprieve-base.workspace = true\n'
    ),
    "crates/policy/src/lib.rs": "//! Policies.\nmod sched;\n",
    "crates/policy/src/sched/mod.rs": (
        "//! Schedulers.\nmod fifo;\npub struct View;\npub const ALL: &[Entry] = &[fifo::ENTRY];\n"
        "fn is_fifo(name: &str) -> bool {\n    name == fifo::ENTRY.name\n}\n"
    ),
    "crates/policy/src/sched/fifo.rs": "//! In order.\nuse super::View;\n" + ENTRY.format("fifo"),
    "crates/ftl/Cargo.toml": (
        '[package]\nname = "reprieve-ftl"\n[dependencies]\nreprieve-base.workspace = true\n'
    ),
    "crates/ftl/src/lib.rs": "//! The layer.\nmod collect;\nmod map;\nmod table;\n",
    "crates/ftl/src/collect.rs": "//! Reclaims blocks.\nuse reprieve_base::Time;\n",
    "crates/ftl/src/map.rs": "//! Maps.\npub struct Entry;\n",
    "crates/ftl/src/table.rs": "//! A table.\nmod list;\n",
    "crates/ftl/tests/it/main.rs": "//! Tests.\nmod gaps;\n",
    "crates/ftl/tests/it/gaps.rs": "//! Gaps.\n",
    "crates/config/Cargo.toml": (
        '[package]\nname = "reprieve-config"\n[dependencies]\nreprieve-base.workspace = true\n'
    ),
    "crates/config/src/lib.rs": (
        '//! Keys.\nconst DEVICES: &[Preset] = presets! {\n    "devices": "a"\n};\n'
    ),
    "devices/a.toml": "# A drive.\nchannels = 1\n",
    "python/reprieve/__init__.py": '"""All."""\n\n__all__ = ["run"]\n',
    "python/reprieve_studies/own.py": '"""Own."""\n\nimport reprieve as rp\n\nrp.run()\n',
    "python/reprieve/run.py": '"""Runs."""\n\n\ndef run() -> None:\n    pass\n',
}

LONG_RUST = "//! Long.\nfn long() {\n" + "    step();\n" * 69 + "}\n"
LONG_PYTHON = '"""Long."""\n\n\ndef long():\n' + "    step()\n" * 70
WIDE_TYPE = "//! Wide.\npub struct Wide {{\n{}}}\nimpl Wide {{\n{}}}\n"


def wide(fields: int, methods: int) -> str:
    """Write a type of so many fields and methods, to which trait and tests add nothing."""
    return (
        WIDE_TYPE.format(
            "".join(f"    pub field_{number}: u32,\n" for number in range(fields)),
            "".join(f"    pub fn method_{number}(&self) {{}}\n" for number in range(methods)),
        )
        + "impl Default for Wide {\n    fn default() -> Wide {}\n}\n"
        + "#[cfg(test)]\nimpl Wide {\n    fn broken(&mut self) {}\n}\n"
    )


# Rule, files that break it, and where and how the one problem is reported.
CASES: list[tuple[str, dict[str, str], str]] = [
    (
        "policies stand alone",
        {"crates/policy/src/sched/fifo.rs": "//! In order.\nuse crate::{ftl::Gc, sched::View};\n"},
        "crates/policy/src/sched/fifo.rs: a policy of sched uses crate::ftl::Gc",
    ),
    (
        "policies stand alone",
        {"crates/policy/src/sched/fifo.rs": "//! In order.\nfn f(x: super::super::host::H) {}\n"},
        "crates/policy/src/sched/fifo.rs: a policy of sched uses crate::host::H",
    ),
    (
        "studies use public names",
        {"python/reprieve_studies/mine.py": '"""Mine."""\n\nfrom reprieve import run, walk\n'},
        "python/reprieve_studies/mine.py:3: walk is not in the __all__ of reprieve",
    ),
    (
        "studies use public names",
        {"python/reprieve_studies/mine.py": '"""Mine."""\n\nimport reprieve as rp\n\nrp.walk()\n'},
        "python/reprieve_studies/mine.py:5: walk is not in the __all__ of reprieve",
    ),
    (
        "circles of files",
        {
            "crates/ftl/src/collect.rs": "//! Reclaims.\nuse crate::map::Die;\n",
            "crates/ftl/src/map.rs": "//! Dies.\nuse crate::table::Key;\n",
            "crates/ftl/src/table.rs": "//! Keys.\nuse crate::collect::{self, Map};\nmod list;\n",
        },
        "crates/ftl/src/collect.rs: is in a circle of files: crates/ftl/src/collect.rs -> "
        "crates/ftl/src/map.rs -> crates/ftl/src/table.rs",
    ),
    (
        "circles of calls",
        {
            "crates/ftl/src/collect.rs": "//! C.\nfn f(m: M) { m.look_up() }\nfn fill(&self) {}\n",
            "crates/ftl/src/map.rs": "//! M.\nfn look_up<T>(&mut self) {}\nuse crate::table::T;\n",
            "crates/ftl/src/table.rs": "//!\nfn g(m: M) { m.of_page::<T>().fill() }\nmod list;\n",
            "crates/ftl/src/list.rs": "//! L.\nfn of_page(self) {}\nfn find(self) {}\n",
        },
        "crates/ftl: 3 files call each other in circles; at most 0: crates/ftl/src/collect.rs",
    ),
    (
        "tuple parameters",
        {"crates/ftl/src/map.rs": "//! M.\nfn f(&self, (a, _): &(A, B), c: (A, B)) {}\n" * 2},
        "crates/ftl: 2 parameters are tuples; at most 0: make it a struct, in crates/",
    ),
    (
        "module names",
        {"crates/policy/src/map/mod.rs": "//! Maps.\n"},
        "crates/ftl/src/map.rs: map.rs is also crates/policy/src/map/mod.rs",
    ),
    (
        "module names",
        {"python/reprieve/cli/run.py": '"""Runs."""\n'},
        "python/reprieve/run.py: run.py is also python/reprieve/cli/run.py",
    ),
    (
        "words",
        {"crates/ftl/src/map.rs": "//! M.\nstruct Tally;\n", "python/tally.py": '"""T."""\n'},
        "crates/trace/: `tally`, sums, is also a name in crates/ftl/src/map.rs, python/tally.py",
    ),
    (
        "room budgets",
        {"python/reprieve_studies/own.py": '"""Own."""\n' + "x = 1\n" * 10_906},
        "tests/house/tables.py: room studies has 10,907 lines; at most 10,906: delete as much as "
        "you add",
    ),
    (
        "ways through the code",
        {
            "ARCHITECTURE.md": "# A\n\n## Three ways through the code\n\n"
            "1. `ftl/src/collect.rs`, `gone`\n"
        },
        "ARCHITECTURE.md:5: crates/ftl/src/collect.rs has no function gone",
    ),
    (
        "ways through the code",
        {"ARCHITECTURE.md": "# A\n\n## Three ways through the code\n\n1. `ftl/src/gone.rs`\n"},
        "ARCHITECTURE.md:5: crates/ftl/src/gone.rs does not exist",
    ),
    (
        "type names",
        {"crates/ftl/src/collect.rs": "//! Reclaims.\nenum Entry {}\n"},
        "crates/ftl/src/collect.rs: type Entry is also one of crates/ftl/src/map.rs",
    ),
    (
        "policy registries",
        {"crates/policy/src/sched/rps.rs": "//! Reads first.\n" + ENTRY.format("rps")},
        "crates/policy/src/sched/rps.rs: listed 0 times",
    ),
    (
        "policy registries",
        {
            "crates/policy/src/sched/mod.rs": (
                "//! S.\nmod fifo;\npub const ALL: &[Entry] = &[fifo::ENTRY, fifo::ENTRY];\n"
            )
        },
        "crates/policy/src/sched/fifo.rs: listed 2 times",
    ),
    (
        "policy registries",
        {"crates/policy/src/sched/fifo.rs": "//! In order.\n" + ENTRY.format("lifo")},
        "crates/policy/src/sched/fifo.rs: its entry is called lifo",
    ),
    (
        "policy registries",
        {"crates/trace/src/formats/spc.rs": "//! SPC.\n"},
        "crates/trace/src/formats: a registry folder needs a mod.rs",
    ),
    ("preset registries", {"devices/b.toml": "# B.\n"}, "devices/b.toml: registered 0 times"),
    (
        "preset registries",
        {"crates/config/src/more.rs": '//! M.\nconst B: X = presets! { "parts": "b" };'},
        "parts/b.toml: registered in crates/config, but not there",
    ),
    (
        "components",
        {"crates/ftl/src/collect.rs": wide(fields=1, methods=61)},
        "crates/ftl/src/collect.rs: Wide has 1 fields and 61 methods; at most 15 and 60",
    ),
    (
        "components",
        {"crates/ftl/src/collect.rs": wide(fields=16, methods=25)},
        "crates/ftl/src/collect.rs: Wide has 16 fields and 25 methods; at most 15 and 60",
    ),
    (
        "components",
        {
            "crates/ftl/src/collect.rs": wide(fields=15, methods=60),
            "crates/ftl/src/map.rs": "//! Maps.\nimpl<T> Wide<T> {\n    fn more(&self) {}\n}\n",
        },
        "crates/ftl/src/collect.rs: Wide has 15 fields and 61 methods; at most 15 and 60",
    ),
    (
        "dead Rust files",
        {
            "crates/ftl/src/lost.rs": "//! Lost.\n",
            "crates/ftl/src/collect.rs": "//! F.\n//mod lost;\n",
        },
        "crates/ftl/src/lost.rs: dead file",
    ),
    (
        "dead Rust files",
        {"crates/ftl/tests/it/lost.rs": "//! Lost.\n"},
        "crates/ftl/tests/it/lost.rs: dead file",
    ),
    (
        "file length",
        {"crates/ftl/src/collect.rs": "//! G.\n" + "\n" * 500},
        "crates/ftl/src/collect.rs: 501 lines; at most 500",
    ),
    (
        "file length",
        {"crates/ftl/tests/it/gaps.rs": "//! G.\n" + "\n" * 800},
        "crates/ftl/tests/it/gaps.rs: 801 lines; at most 800",
    ),
    (
        "function length",
        {"crates/ftl/src/collect.rs": LONG_RUST},
        "crates/ftl/src/collect.rs:2: function long has 71 lines; at most 70",
    ),
    (
        "function length",
        {"python/reprieve/run.py": LONG_PYTHON},
        "python/reprieve/run.py:4: function long has 71 lines; at most 70",
    ),
    (
        "line width",
        {"crates/ftl/src/collect.rs": "//! G.\n// " + "x" * 98 + "\n"},
        "crates/ftl/src/collect.rs:2: 101 columns; at most 100",
    ),
    (
        "examples in comments",
        {"crates/ftl/src/collect.rs": "//! Gc.\n//! ```text\n//! x\n//! ```\n/// ```\n/// ```\n"},
        "crates/ftl/src/collect.rs:5: no doc test is run",
    ),
    (
        "file heads",
        {"crates/ftl/src/collect.rs": "use a::b;\n"},
        "crates/ftl/src/collect.rs:1: open with",
    ),
    (
        "file heads",
        {"crates/ftl/src/collect.rs": "//! gc\n"},
        "crates/ftl/src/collect.rs:1: open with",
    ),
    ("file heads", {"python/reprieve/run.py": "x = 1\n"}, "python/reprieve/run.py:1: open with"),
    ("file heads", {"devices/a.toml": "channels = 1\n"}, "devices/a.toml:1: open with"),
    ("file heads", {"docs/a.md": "Words.\n"}, "docs/a.md:1: a page opens with its title"),
    ("file size", {"docs/a.csv": "x" * 100_001}, "docs/a.csv: 100001 bytes; at most 100000"),
    ("forbidden words", {"docs/a.md": "# A\n\n/home/me/x\n"}, "docs/a.md:3: '/home/': an absolute"),
    ("forbidden words", {"docs/a.md": "# A\n`../shared/x`\n"}, "docs/a.md:2: '../shared': a path"),
    ("forbidden words", {"devices/a.toml": "# TODO.\n"}, "devices/a.toml:1: 'TODO': unfinished"),
    (
        "forbidden words",
        {"crates/ftl/src/collect.rs": "//! G.\n\n/// What it is.\nfn f() {}\n"},
        "crates/ftl/src/collect.rs:2: '\\n/// What': begin with the subject",
    ),
    (
        "forbidden words",
        {"crates/ftl/src/collect.rs": "//! G.\nfn f() { todo!() }\n"},
        "crates/ftl/src/collect.rs:2: 'todo!': unfinished work",
    ),
    (
        "forbidden words",
        {"crates/ftl/src/collect.rs": "//! No unsafe here.\nfn f() { unsafe { g() } }\n"},
        "crates/ftl/src/collect.rs:2: 'unsafe': `unsafe` outside crates/py/ and crates/capi/ and",
    ),
    (
        "releases",
        {"CHANGELOG.md": f"# C\n\n## Unreleased\n\n- {'word ' * 41}\n"},
        "CHANGELOG.md:5: 41 words; at most 40",
    ),
    (
        "releases",
        {"CHANGELOG.md": "# C\n\n## 0.1.0\n" + "\n- word" * 60},
        "CHANGELOG.md: 0.1.0: 62 lines; at most 60",
    ),
    (
        "readme length",
        {"ARCHITECTURE.md": "# A\n" * 151},
        "ARCHITECTURE.md: 151 lines; at most 150",
    ),
    ("documents", {"ARCHITECTURE.md": ""}, "ARCHITECTURE.md: missing"),
    (
        "table heads",
        {"a.md": "|a|b|\n|--|-:|\n|1|2|\n\n|3|4|\n", "b.md": "```\n|a|b|\n```\n"},
        "a.md:5: a table without a head",
    ),
    (
        "changelog",
        {"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## Results change\n"},
        "CHANGELOG.md: needs a heading `### Results change`",
    ),
    (
        "changelog",
        {"CHANGELOG.md": "# Changelog\n\n## 0.1.0\n\n### Results change\n"},
        "CHANGELOG.md: needs a heading `## Unreleased`",
    ),
    ("readme length", {"README.md": "# R\n" * 121}, "README.md: 121 lines; at most 120"),
    ("links", {"docs/a.md": "# A\n[b](../b.md)\n"}, "docs/a.md:2: link to ../b.md, which is not"),
    ("links", {"docs/a.md": "# A\n[b](../../b.md)\n"}, "docs/a.md:2: link to ../../b.md, which"),
    ("links", {"docs/a.md": "# A\n[b](#c)\n"}, "docs/a.md:2: link to #c: no such heading"),
    (
        "listed pages",
        {"docs/guide/more.md": "# More\n"},
        "docs/guide/more.md: no table of docs/guide/README.md links to it",
    ),
    (
        "listed pages",
        {"docs/guide/README.md": "# Guide\n\nSee [run](run.md).\n"},
        "docs/guide/run.md: no table of docs/guide/README.md links to it",
    ),
    (
        "numbers by hand",
        {"docs/model/loads.md": "# R\n\nIt takes 5.5 µs.\n"},
        "docs/model/loads.md:3: 5.5: take it from a file, or list it",
    ),
    (
        "numbers by hand",
        {
            "docs/figures/terms/docs/model/loads.md.jinja": "{#- Given:\ntheirs: 7\n-#}\n",
            "docs/model/loads.md": "# R {{ 1 }}\n",
        },
        "docs/model/loads.md:1: 7: under `Given:`, but not on the page",
    ),
    (
        "listed pages",
        {"docs/model/README.md": "# Model\n"},
        "docs/model/README.md: no table of README.md links to it",
    ),
    (
        "listed pages",
        {"docs/model/words.md": "# Words\n"},
        "docs/model/words.md: no table of README.md links to it",
    ),
    (
        "assumption numbers",
        {"docs/model/assumptions.md": "# A\n\n**A25. One.** x\n"},
        "docs/model/assumptions.md: numbers are to follow each other",
    ),
    (
        "assumption numbers",
        {
            "docs/model/assumptions.md": "# A\n\n**A1. One.** x\n",
            "docs/model/assumptions-of-runs.md": "# B\n\n**A2. Two.** See A3.\n",
        },
        "docs/model/assumptions-of-runs.md:3: A3 is no assumption",
    ),
]


@pytest.fixture(autouse=True)
def _without_allowances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what tables.py still allows the project."""
    monkeypatch.setattr(tables, "FILES_IN_CIRCLES", {})
    monkeypatch.setattr(tables, "TUPLE_PARAMETERS", {})
    monkeypatch.setattr(tables, "SHARED_MODULE_NAMES", "")
    monkeypatch.setattr(tables, "WORDS", {"tally": tables.Word("crates/trace/", "sums", 0)})


def problems_of(root: Path, rule: str, changes: dict[str, str]) -> list[Problem]:
    """Ask `rule` about the tree in order with `changes`; an empty text removes the file."""
    for path, text in {**IN_ORDER, **changes}.items():
        if text:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
    return list(RULES[rule](Tree(root)))


@pytest.mark.parametrize("rule", RULES)
def test_rule_finds_nothing_in_order(rule: str, tmp_path: Path) -> None:
    assert problems_of(tmp_path, rule, {}) == []


@pytest.mark.parametrize(("rule", "changes", "report"), CASES, ids=[case[2] for case in CASES])
def test_rule_catches(rule: str, changes: dict[str, str], report: str, tmp_path: Path) -> None:
    found = [str(problem) for problem in problems_of(tmp_path, rule, changes)]
    assert any(problem.startswith(report) for problem in found), found


def test_allowed_name_that_is_no_longer_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SHARED_MODULE_NAMES", "map.rs")
    (problem,) = problems_of(tmp_path, "module names", {})
    assert str(problem) == "tests/house/tables.py: map.rs is no longer a name of two modules"


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(RULES)


def test_code_leaves_out_comments_and_literals_and_keeps_lines() -> None:
    text = 'a /* {\n { */ b; // {\nlet s = "}{\\"{"; let c = \'{\'; let r = r#"{"#; f::<\'a>()\n'
    code = code_of(text)
    assert not {"{", "}"} & set(code)
    assert code.count("\n") == text.count("\n")
    assert "f::<'a>()" in code


def test_functions_are_found_with_their_length() -> None:
    text = (
        "trait T { fn sketch(&self) -> [u8; 4]; }\n"
        "fn one() {}\n"
        "fn two<const N: usize>(a: [u8; 2])\nwhere\n    A: B,\n{\n    if x { y }\n}\n"
    )
    assert list(functions(text)) == [Function("one", 2, 1), Function("two", 3, 6)]


def test_uses_are_resolved_from_the_crate() -> None:
    text = "use super::{self, fifo::{Fifo, Other as O}};\nuse std::io;\n"
    text += "fn f(a: crate::ftl::Gc) {}\n"
    assert used_paths(text, ("sched", "rps")) == {
        ("crate", "sched"),
        ("crate", "sched", "fifo", "Fifo"),
        ("crate", "sched", "fifo", "Other"),
        ("crate", "ftl", "Gc"),
    }
