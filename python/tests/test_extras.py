"""Commands of the base installation, and those that name the extra that they need."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import reprieve as rp
from reprieve.cli.commands import OF_STUDIES

from .drive import SMALL

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "reprieve"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

# Of all extras of users, under the names by which they are imported.
ABSENT = (
    "altair", "jinja2", "markupsafe", "vl_convert", "scipy", "optuna", "duckdb", "distributed",
    "dask", "dask_jobqueue", "pandas", "polars", "pyarrow", "ipykernel",
)  # fmt: skip

PROGRAM = f"""
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        absent = name.partition(".")[0] in {ABSENT!r}
        return None if absent else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
from reprieve.cli import main
sys.exit(main())
"""

SWEEP = 'scenario = "small.toml"\ndesign = "grid"\n[axes]\n"workload.requests" = [100, 200]\n'


def base(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command where none of the extras can be imported."""
    (folder / "small.toml").write_text(SMALL)
    (folder / "sweep.toml").write_text(SWEEP)
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "small.toml", "--requests", "--timeline"),
        ("sweep", "sweep.toml"),
        ("policies",),
        ("init", "new"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_base_is_enough(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = base(tmp_path, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "--report" not in done.stdout, "the base cannot write one"


def test_explain_needs_the_base_alone(tmp_path: Path) -> None:
    assert base(tmp_path, "run", "small.toml", "--requests", "--out", "o").returncode == 0
    done = base(tmp_path, "explain", "o")
    assert (done.returncode, done.stderr) == (0, "")


def test_comparison_is_whole_but_for_its_report(tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "report.html").write_text("of an earlier run")
    done = base(tmp_path, "compare", "small.toml", "--axis", "seed=1,2", "--out", "o", "--force")
    assert done.returncode == 0, done.stderr
    said = "report.html needs altair, which is not installed: pip install 'reprieve[plots]'"
    assert done.stdout.splitlines()[-1] == said
    assert sorted(each.name for each in (tmp_path / "o").iterdir()) == ["1", "2", "compare.json"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "small.toml", "--report", "--out", "o"], "a report needs altair, … [plots]"),
        (
            ["tune", "small.toml", "--vary", "seed=1..2", "--max", "iops", "--out", "o"],
            "reprieve tune needs optuna, … [tune]",
        ),
        (["query", "SELECT 1", "o"], "reprieve query needs duckdb, … [sweep]"),
        (["calibrate", "fio.json", "--out", "o"], "reprieve calibrate needs scipy, … [calibrate]"),
        (
            ["sweep", "sweep.toml", "--scheduler", "tcp://127.0.0.1:1", "--out", "o"],
            "--scheduler needs distributed, … [cluster]",
        ),
        (["reproduce", "fast12", "--out", "o"], "reprieve reproduce needs altair, … [studies]"),
        (["validate", "--out", "o"], "reprieve validate needs altair, … [studies]"),
        (
            ["characterize", "fast12-slc", "--out", "o"],
            "reprieve characterize needs altair, … [studies]",
        ),
        (["database", "sqlite", "--out", "o"], "reprieve database needs altair, … [studies]"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_command_names_its_extra(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = base(tmp_path, *arguments)
    what, extra = sentence.split("… ")
    said = f"{what}which is not installed: pip install 'reprieve{extra}'\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert not (tmp_path / "o").exists()
    assert extra.strip("[]") in EXTRAS


@pytest.mark.parametrize("name", OF_STUDIES)
def test_help_of_a_study_needs_the_base_alone(tmp_path: Path, name: str) -> None:
    done = base(tmp_path, name, "--help")
    assert (done.returncode, done.stderr) == (0, "")


def packages(extra: str) -> set[str]:
    """Return the packages that an extra installs, by following the extras that it names."""
    found = set()
    for requirement in map(Requirement, EXTRAS[extra]):
        if requirement.name == "reprieve":
            found |= set().union(*map(packages, requirement.extras))
        else:
            found.add(requirement.name)
    return found


def test_all_has_every_package_of_users() -> None:
    of_users = EXTRAS.keys() - {"build", "dev", "site"}
    assert packages("all") == set().union(*map(packages, of_users))


def hints() -> list[tuple[str, str, str]]:
    """List the hints of the package's source: where, the package that is needed, the extra."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id="need"), args=[_, _, package, *rest]):
                    extra = rest[0] if rest else ast.Constant("sweep")
                case ast.Call(func=ast.Name(id="need_plots"), args=[_, *rest]):
                    package, extra = ast.Constant("altair"), (rest or [ast.Constant("plots")])[0]
                case _:
                    continue
            if isinstance(package, ast.Constant) and isinstance(extra, ast.Constant):
                found.append((path.name, str(package.value), str(extra.value)))
    return found


def test_every_hint_installs_what_it_is_for() -> None:
    assert len(hints()) > 15, "the hints have another form"
    for where, package, extra in hints():
        assert package in packages(extra), f"{where}: reprieve[{extra}] does not install {package}"
    texts = [*PACKAGE.rglob("*.py"), *ROOT.glob("crates/**/*.rs"), *ROOT.glob("docs/**/*.md")]
    for path in (ROOT / "README.md", *texts):
        for names in re.findall(r"reprieve\[([\w,]+)\]", path.read_text()):
            assert {*names.split(",")} <= EXTRAS.keys(), f"{path}: {names}"


def test_charts_name_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    result = rp.run("examples/limits.toml", workload__requests=10)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    wanted = r"needs vl-convert-python, which is not installed: pip install 'reprieve\[plots\]'"
    with pytest.raises(rp.UserError, match=f"a chart {wanted}"):
        result.plot.cdf()
    with pytest.raises(rp.UserError, match=f"a report {wanted}"):
        result.report("never.html")
