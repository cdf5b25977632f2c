"""The pinned versions fit the extras, are whole, and have their hashes."""

import sys
from importlib.metadata import PackageNotFoundError, requires, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .pins import FILES, FOLDER, Pin, read, wanted

PYTHONS = ("3.11", "3.12", "3.13", "3.14")

ALIKE = """# What it is.
one==1.5 ; python_full_version < '3.12' \\
    --hash=sha256:{0} \\
    --hash=sha256:{1}
one==2.0 ; python_full_version >= '3.12' \\
    --hash=sha256:{0}
Two.a==3 \\
    --hash=sha256:{0}
""".format("a" * 64, "b" * 64)


def pins(name: str) -> list[Pin]:
    return read((FOLDER / f"{name}.txt").read_text())


def environment(python: str) -> dict[str, str]:
    return {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": "linux",
        "platform_system": "Linux",
    }


def lacking(found: list[Pin], asked: list[Requirement], python: str) -> list[str]:
    """Return the requirements that not exactly one pin fits on a Python."""
    here = environment(python)
    there = [pin for pin in found if pin.applies(here)]
    missing = []
    for requirement in asked:
        if requirement.marker is not None and not requirement.marker.evaluate(here):
            continue
        name = canonicalize_name(requirement.name)
        fitting = [
            pin for pin in there if pin.name == name and requirement.specifier.contains(pin.version)
        ]
        if len(fitting) != 1:
            missing.append(str(requirement))
    return missing


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", FILES)
def test_every_requirement_of_the_extras_is_pinned(name: str, python: str) -> None:
    assert len(wanted(name)) >= 1
    assert lacking(pins(name), wanted(name), python) == []


def test_what_is_not_pinned_is_noticed() -> None:
    asked = [Requirement(text) for text in ("one>=1.4,<2", "two-a", "three", "one>=2")]
    assert lacking(read(ALIKE), asked, "3.11") == ["three", "one>=2"]
    assert lacking(read(ALIKE), asked, "3.13") == ["one<2,>=1.4", "three"]


@pytest.mark.parametrize("name", FILES)
def test_every_pin_has_hashes_and_none_an_address(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text()
    assert all(pin.hashes for pin in read(text))
    assert "://" not in text and "--index-url" not in text
    assert [pin.hashes for pin in read(ALIKE)] == [2, 1, 1]


def test_smaller_files_have_the_versions_of_the_largest() -> None:
    whole = {(pin.name, pin.version, str(pin.marker)) for pin in pins("dev")}
    for name in FILES:
        assert {(pin.name, pin.version, str(pin.marker)) for pin in pins(name)} <= whole


def test_what_pinned_packages_need_is_pinned() -> None:
    """Nothing is installed but what is pinned, so that what a package needs has to be there."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = pins("dev")
    checked = 0
    for pin in found:
        try:
            # Another version may need other packages.
            rules = requires(pin.name) if version(pin.name) == pin.version else None
        except PackageNotFoundError:
            continue
        asked = [Requirement(text) for text in rules or []]
        # Of another package's extras none, which have markers that are false here.
        here = environment(python) | {"extra": ""}
        asked = [each for each in asked if each.marker is None or each.marker.evaluate(here)]
        assert lacking(found, asked, python) == [], pin.name
        checked += rules is not None
    assert checked > 0
