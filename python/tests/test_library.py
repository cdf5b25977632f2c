"""The drawing library of the pages: kept on a machine, and made anew where it is not as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import vl_convert

from reprieve.plot.paper import vega_lite_version
from reprieve.report import library


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Ask for the library as a process of its own would, which keeps nothing in memory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def asked() -> str:
        library.library.cache_clear()
        return str(library.library())

    return asked


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put a bundler in place that takes no time, and return what is asked of it."""
    asked: list[str] = []

    def javascript_bundle(snippet: str, vl_version: str) -> str:
        asked.append(vl_version)
        return f"/* two\r\nlines */ {snippet}"

    monkeypatch.setattr(vl_convert, "javascript_bundle", javascript_bundle)
    return asked


def test_the_library_is_bundled_once(
    bundle: Callable[[], str], bundled: list[str], tmp_path: Path
) -> None:
    first = bundle()
    assert first == "/* two\r\nlines */ window.vegaEmbed = vegaEmbed;"
    assert bundle() == first
    assert len(bundled) == 1
    # Nothing is left of the temporary file.
    (kept,) = (tmp_path / "cache/reprieve").iterdir()
    assert kept.name.startswith("vega-")


@pytest.mark.parametrize(
    "change", [lambda text: text[:-1], lambda text: text + b" ", lambda _: b""]
)
def test_what_is_cut_short_or_changed_is_bundled_again(
    bundle: Callable[[], str],
    bundled: list[str],
    tmp_path: Path,
    change: Callable[[bytes], bytes],
) -> None:
    first = bundle()
    (kept,) = (tmp_path / "cache/reprieve").iterdir()
    kept.write_bytes(change(kept.read_bytes()))
    assert bundle() == first
    assert len(bundled) == 2
    assert bundle() == first
    assert len(bundled) == 2


def test_another_version_is_bundled_anew(
    bundle: Callable[[], str], bundled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle()
    monkeypatch.setattr(library, "version", lambda _package: "0.0")
    bundle()
    monkeypatch.setattr(library, "vega_lite_version", lambda: "5.8")
    bundle()
    assert bundled == [bundled[0], bundled[0], "5.8"]


def test_a_folder_that_cannot_be_written_is_no_mistake(
    bundle: Callable[[], str], bundled: list[str], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file")
    assert bundle() == bundle()
    assert len(bundled) == 2


def test_the_folder_is_that_of_the_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for asked, root in (
        ("/fast", "/fast"),
        ("relative", tmp_path / ".cache"),
        ("", tmp_path / ".cache"),
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", asked)
        assert library.cache_folder() == Path(root) / "reprieve"


def test_a_user_without_a_home_keeps_nothing(
    bundle: Callable[[], str], bundled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(Path, "home", homeless)
    assert bundle() == bundle()
    assert len(bundled) == 2


def test_what_is_kept_is_what_the_package_bundles(bundle: Callable[[], str]) -> None:
    written = bundle()
    read = bundle()
    assert read == written
    assert read == vl_convert.javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=vega_lite_version()
    )
