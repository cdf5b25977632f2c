"""The C interface after `make install`: found by CMake and pkg-config, in any folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
SERIES = ".".join(VERSION.split(".")[:2])
EXAMPLE = ROOT / "crates" / "capi" / "examples" / "event_loop.c"
# Eight clients with 2000 reads; the test beside the library checks its numbers.
OUTPUT = "2000 reads"

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(host C)
find_package(Reprieve {version} REQUIRED)
add_executable(shared "{source}")
target_link_libraries(shared PRIVATE Reprieve::reprieve)
add_executable(alone "{source}")
target_link_libraries(alone PRIVATE Reprieve::static)
"""

needs_library = pytest.mark.skipif(
    not (ROOT / "out" / "capi" / "lib" / "libreprieve.so").exists(),
    reason="NOT TESTED: make capi has not been run",
)


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def output(*command: str | Path, **environment: str) -> str:
    done = run(*command, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(place: Path, *variables: str) -> subprocess.CompletedProcess[str]:
    return run("make", "-C", ROOT, "install", f"DESTDIR={place}", "PREFIX=/opt/drive", *variables)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Install the library, and move it to another folder."""
    done = install(tmp_path / "image")
    assert done.returncode == 0, done.stderr
    return Path(shutil.move(tmp_path / "image" / "opt" / "drive", tmp_path / "moved here"))


@needs_library
def test_every_file_is_installed(prefix: Path) -> None:
    found = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    assert found == {
        "include/reprieve.h",
        "include/reprieve_tlm.hpp",
        "lib/cmake/Reprieve/ReprieveConfig.cmake",
        "lib/cmake/Reprieve/ReprieveConfigVersion.cmake",
        "lib/libreprieve.a",
        "lib/libreprieve.so",
        "lib/libreprieve.so.1",
        "lib/pkgconfig/reprieve.pc",
        "share/doc/reprieve/LICENCES-OF-CRATES",
        "share/doc/reprieve/LICENSE-APACHE",
        "share/doc/reprieve/LICENSE-MIT",
    }
    assert (prefix / "lib" / "libreprieve.so").readlink() == Path("libreprieve.so.1")
    sections = output("readelf", "--sections", "--wide", prefix / "lib" / "libreprieve.so.1")
    assert ".symtab" not in sections
    assert ".debug" not in sections


@needs_library
@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="NOT TESTED: no pkg-config")
def test_pkg_config_finds_it(prefix: Path, tmp_path: Path) -> None:
    found = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    assert output("pkg-config", "--modversion", "reprieve", **found).strip() == VERSION
    flags = output("pkg-config", "--cflags", "--libs", "reprieve", **found)
    words = flags.replace("\\ ", "\0").split()
    program = tmp_path / "program"
    output("cc", EXAMPLE, *(word.replace("\0", " ") for word in words), "-o", program)
    assert OUTPUT in output(program, LD_LIBRARY_PATH=str(prefix / "lib"))


@needs_library
@pytest.mark.skipif(shutil.which("cmake") is None, reason="NOT TESTED: no cmake")
@pytest.mark.parametrize("version", ["", SERIES, f"{VERSION.partition('-')[0]} EXACT"])
def test_cmake_finds_it(prefix: Path, tmp_path: Path, version: str) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(version=version, source=EXAMPLE))
    build = tmp_path / "build"
    output("cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    output("cmake", "--build", build)
    assert OUTPUT in output(build / "shared")
    assert OUTPUT in output(build / "alone")
    assert "libreprieve" not in output("ldd", build / "alone")


@needs_library
@pytest.mark.skipif(shutil.which("cmake") is None, reason="NOT TESTED: no cmake")
@pytest.mark.parametrize("version", ["99", "0.1"])
def test_cmake_refuses_another_series(prefix: Path, tmp_path: Path, version: str) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(version=version, source=EXAMPLE))
    done = run("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode != 0
    assert f'compatible with requested version "{version}"' in " ".join(done.stderr.split())


def test_nothing_is_installed_before_it_is_built(tmp_path: Path) -> None:
    done = install(tmp_path, f"CAPI={tmp_path / 'none'}")
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert f"there is no {tmp_path / 'none'}: make capi\n" in done.stderr
