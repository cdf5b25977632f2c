"""A release is complete, its links are absolute, and the files for the forge have their form."""

import base64
import csv
import hashlib
import io
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from .release import (
    IN_SOURCES,
    IN_WHEEL,
    ROOT,
    describe,
    disagreements,
    for_index,
    missing,
    notices,
    repository,
    sbom,
    version,
)
from .tree import Tree

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FORMS = [
    path
    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    if path.stem != "config"
]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Make the folder of a project of version 1.2.0, released in 2030."""
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.0"\n')
    (tmp_path / "pyproject.toml").write_text(
        '[project.urls]\nRepository = "https://forge.example/a/b"\n'
    )
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 – 2030-01-31\n")
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    (tmp_path / "docs" / "a.svg").write_text("<svg/>\n")
    return tmp_path


def test_versions_agree_or_are_named(small: Path) -> None:
    assert list(disagreements(small)) == []
    (small / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 – soon\n\n## 1.1.0 – 2029-01-01\n")
    (small / "CITATION.cff").write_text("version: 1.2.0-dev\n")
    assert list(disagreements(small)) == [
        "CHANGELOG.md has no section `## 1.2.0 – DATE`",
        "CITATION.cff has no line `version: 1.2.0`",
    ]


@pytest.mark.parametrize(
    ("link", "absolute"),
    [
        ("[a](docs/a.md#b)", "[a](https://forge.example/a/b/blob/v1.2.0/docs/a.md#b)"),
        ("![a](docs/a.svg)", "![a](https://forge.example/a/b/raw/v1.2.0/docs/a.svg)"),
        ("[docs](docs)", "[docs](https://forge.example/a/b/tree/v1.2.0/docs)"),
        ("[b](https://b.example)", "[b](https://b.example)"),
        ("[below](#below)", "[below](#below)"),
        ("`x[1](2)` [a](docs/a.md)", None),
    ],
)
def test_links_of_the_index_are_absolute(small: Path, link: str, absolute: str | None) -> None:
    if absolute is None:
        with pytest.raises(SystemExit, match="links to 2, which does not exist"):
            for_index(link, small)
        return
    assert for_index(f"See {link}.\n", small) == f"See {absolute}.\n"


def test_a_version_under_development_has_no_tag(small: Path) -> None:
    (small / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.0-dev"\n')
    assert (
        for_index("[a](docs/a.md)", small) == "[a](https://forge.example/a/b/blob/main/docs/a.md)"
    )


def test_the_readme_is_whole_without_its_folder() -> None:
    text = for_index((ROOT / "README.md").read_text())
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(targets) > 20
    assert all(target.startswith(("https://", "#")) for target in targets)
    images = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text)
    assert images
    assert all(f"{repository()}/raw/" in image for image in images)
    # Nothing but links has changed.
    bare = re.compile(r"\]\([^)\s]+\)")
    assert bare.sub("", text) == bare.sub("", (ROOT / "README.md").read_text())


HEAD = "Metadata-Version: 2.4\nName: a\nDescription-Content-Type: text/markdown"


def test_a_wheel_is_described_anew(tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("a/__init__.py", "")
        packed.writestr("a-1.dist-info/METADATA", f"{HEAD}\n\nOld.\n\nText.\n")
        packed.writestr("a-1.dist-info/RECORD", "a-1.dist-info/METADATA,sha256=x,1\nb,,\n")
    describe(wheel, "# New\n\n[ä](https://b.example)\n")
    with zipfile.ZipFile(wheel) as packed:
        assert packed.testzip() is None
        metadata = packed.read("a-1.dist-info/METADATA")
        rows = list(csv.reader(io.StringIO(packed.read("a-1.dist-info/RECORD").decode())))
        assert packed.namelist()[0] == "a/__init__.py"
    assert metadata.decode() == f"{HEAD}\n\n# New\n\n[ä](https://b.example)\n"
    digest = base64.urlsafe_b64encode(hashlib.sha256(metadata).digest()).decode().rstrip("=")
    assert rows == [
        ["a-1.dist-info/METADATA", f"sha256={digest}", str(len(metadata))],
        ["b", "", ""],
    ]


def test_sources_are_described_anew(tmp_path: Path) -> None:
    sources = tmp_path / "a-1.tar.gz"
    with tarfile.open(sources, "w:gz") as packed:
        for name in ("a-1/PKG-INFO", "a-1/deep/PKG-INFO"):
            entry = tarfile.TarInfo(name)
            content = f"{HEAD}\n\nOld.\n".encode()
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    describe(sources, "New.\n")
    with tarfile.open(sources) as packed:
        found = {entry.name: packed.extractfile(entry) for entry in packed}
        texts = {name: file.read().decode() for name, file in found.items() if file is not None}
    assert texts == {
        "a-1/PKG-INFO": f"{HEAD}\n\nNew.\n",
        "a-1/deep/PKG-INFO": f"{HEAD}\n\nOld.\n",
    }


def test_what_a_wheel_lacks_is_named(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    names = [f"a-1{end}" if end.startswith(".") else end for end in IN_WHEEL]
    with zipfile.ZipFile(wheel, "w") as packed:
        for name in names:
            if not name.endswith(".wasm"):
                packed.writestr(name, "")
    assert missing(wheel) == ["reprieve/ui/reprieve.wasm"]


def test_what_sources_lack_is_named(tmp_path: Path) -> None:
    sources = tmp_path / "a.tar.gz"
    with tarfile.open(sources, "w:gz") as packed:
        for end in IN_SOURCES[1:]:
            packed.addfile(tarfile.TarInfo(f"a-1{end}"))
    assert missing(sources) == ["/Cargo.lock"]


def crate(folder: Path, name: str, needs: dict[str, str | None]) -> tuple[Any, Any]:
    """Describe a crate as cargo does, with what it needs, each for `build`, `dev` or all."""
    (folder / name).mkdir()
    package = {
        "id": name,
        "name": name,
        "version": "1.0.0",
        "license": "MIT",
        "manifest_path": str(folder / name / "Cargo.toml"),
    }
    deps = [{"pkg": other, "dep_kinds": [{"kind": kind}]} for other, kind in needs.items()]
    return package, {"id": name, "deps": deps}


def test_notices_name_what_a_crate_consists_of(tmp_path: Path) -> None:
    graph: dict[str, dict[str, str | None]] = {
        "ours": {"own": None, "a": None, "tested": "dev", "generator": "build"},
        "own": {"b": None},
        "a": {"b": None},
        "b": {},
        "tested": {},
        "generator": {},
        "unrelated": {},
    }
    crates = [crate(tmp_path, name, needs) for name, needs in graph.items()]
    (tmp_path / "b" / "LICENSE-MIT").write_text("Copyright of b\n")
    metadata = {
        "packages": [package for package, _ in crates],
        "resolve": {"nodes": [node for _, node in crates]},
        "workspace_members": ["ours", "own"],
    }
    line = "=" * 80
    assert notices("ours", metadata) == (
        f"Crates inside the libraries, with their licences.\n\n{line}\na 1.0.0: MIT\n\n"
        f"{line}\nb 1.0.0: MIT\n\nCopyright of b\n"
    )


def test_the_bill_of_materials_has_what_is_inside_with_its_checksum(tmp_path: Path) -> None:
    made = [
        crate(tmp_path, "reprieve-py", {"a": None, "tested": "dev"}),
        crate(tmp_path, "a", {}),
        crate(tmp_path, "tested", {}),
    ]
    lock = '[[package]]\nname = "a"\nversion = "1.0.0"\nchecksum = "5a"\n'
    (tmp_path / "Cargo.lock").write_text(lock)
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "0.1.0"\n')
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["numpy>=1.26,<3"]\n')
    metadata = {
        "packages": [package for package, _ in made],
        "resolve": {"nodes": [node for _, node in made]},
        "workspace_members": ["reprieve-py"],
    }
    found = sbom(metadata, tmp_path)
    assert found["metadata"]["component"]["version"] == "0.1.0"
    purls = [each["purl"] for each in found["components"]]
    assert purls == ["pkg:cargo/a@1.0.0", "pkg:pypi/numpy"]
    assert found["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "5a"}]
    assert found["components"][0]["licenses"] == [{"expression": "MIT"}]


def test_the_address_of_the_repository_has_one_source() -> None:
    assert {*PROJECT["urls"]} == {"Repository", "Documentation", "Issues", "Changelog"}
    forge, owner, name = repository().rsplit("/", 2)
    tree = Tree(ROOT)
    own = re.compile(rf"{re.escape(forge)}/({re.escape(owner)}/[\w.-]+|[\w-]+/{re.escape(name)})\b")
    for path in tree.text_files():
        if not path.startswith("docs/reference/"):
            for found in own.findall(tree.text(path)):
                assert found == f"{owner}/{name}", f"{path}: {forge}/{found}"
    assert all(url.startswith(repository()) for url in PROJECT["urls"].values())


def test_the_citation_names_a_release() -> None:
    citation = parsed(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license", "type"} <= citation.keys()
    assert citation["authors"] == [{"name": author["name"]} for author in PROJECT["authors"]]
    assert citation["repository-code"] == repository()
    assert " OR ".join(citation["license"]) == PROJECT["license"]
    released = re.findall(
        r"^## (\S+) – \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
    assert citation["version"] == released[0]
    assert version().split("-")[0] >= released[0]
    for reference in citation["references"]:
        assert {"type", "title", "authors", "year"} <= reference.keys()
        assert all({"family-names", "given-names"} == {*author} for author in reference["authors"])


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_have_what_the_forge_needs(path: Path) -> None:
    form = parsed(path)
    assert {"name", "description", "body"} <= form.keys()
    ids = [field["id"] for field in form["body"]]
    assert len({*ids}) == len(ids)
    for field in form["body"]:
        assert field["type"] in {"input", "textarea"}
        assert {"label", "description"} <= field["attributes"].keys()
    assert any(field.get("validations", {}).get("required") for field in form["body"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_exists_and_need_no_secret(path: Path) -> None:
    workflow = parsed(path)
    # YAML 1.1 takes `on` for true.
    assert {"name", True, "permissions", "jobs"} <= workflow.keys()
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text()
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    for job in workflow["jobs"].values():
        assert {"runs-on", "steps"} <= job.keys()
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1"))
            for arguments in re.findall(r"^\.ci/run *(.*)$", step.get("run", ""), re.M):
                assert {*arguments.split()} <= {*targets}
