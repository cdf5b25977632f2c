"""Steps of a release beside its builds: versions that agree, and the README of the package index.

python -m house.release versions      # fails unless all files state one dated version
python -m house.release readme FILE…  # makes the links in the metadata of dist/ absolute
python -m house.release contents FILE…  # fails unless wheels and sources are complete
python -m house.release notices PACKAGE FILE  # writes the licences of what a crate consists of
python -m house.release sbom FILE  # writes the bill of materials of what is built (CycloneDX)
"""

import base64
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")

# Ends of the names of files that each archive of the sources, or wheel, has.
IN_SOURCES: tuple[str, ...] = (
    "/Cargo.lock",
    "/crates/py/src/lib.rs",
    "/devices/fast12-mlc.toml",
    "/loads/fin1-flows.toml",
    "/parts/mlc-fast12.toml",
    "/python/reprieve/keys.pyi",
    "/python/reprieve_studies/fast12/study.toml",
)
IN_WHEEL: tuple[str, ...] = (
    "reprieve/_native.abi3.so",
    "reprieve/keys.pyi",
    "reprieve/py.typed",
    "reprieve/ui/index.html",
    "reprieve/ui/reprieve.wasm",
    "reprieve_studies/fast12/study.toml",
    "reprieve_studies/py.typed",
    ".dist-info/licenses/LICENSE-APACHE",
    ".dist-info/licenses/LICENSE-MIT",
)


def repository(root: Path = ROOT) -> str:
    """Return the address of the repository, of which `pyproject.toml` is the only source."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address


def version(root: Path = ROOT) -> str:
    """Return the version that is built."""
    workspace = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))["workspace"]
    found: str = workspace["package"]["version"]
    return found


def disagreements(root: Path = ROOT) -> Iterator[str]:
    """Find files that do not state the version that is built, as released on a day."""
    built = version(root)
    if not re.search(
        rf"^## {re.escape(built)} – \d{{4}}-\d\d-\d\d$", _text(root, "CHANGELOG.md"), re.M
    ):
        yield f"CHANGELOG.md has no section `## {built} – DATE`"
    if not re.search(rf"^version: {re.escape(built)}$", _text(root, "CITATION.cff"), re.M):
        yield f"CITATION.cff has no line `version: {built}`"


def for_index(text: str, root: Path = ROOT) -> str:
    """Return a page of the project's folder with absolute links, for a reader who has no folder."""
    built = version(root)
    # A version under development has no tag yet.
    tag = "main" if "-" in built else f"v{built}"

    def absolute(link: re.Match[str]) -> str:
        image, words, target = link.groups()
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        path = target.partition("#")[0]
        if not (root / path).exists():
            raise SystemExit(f"README.md links to {path}, which does not exist")
        kind = "raw" if image else "tree" if (root / path).is_dir() else "blob"
        return f"{image}[{words}]({repository(root)}/{kind}/{tag}/{target})"

    return _LINK.sub(absolute, text)


def describe(distribution: Path, text: str) -> None:
    """Replace the description in the metadata of a wheel, or of an archive of the sources."""
    write = _wheel if distribution.suffix == ".whl" else _sources
    made = write(distribution.read_bytes(), lambda metadata: _described(metadata, text))
    distribution.write_bytes(made)


def missing(distribution: Path) -> list[str]:
    """List the files that a wheel, or an archive of the sources, should have and does not."""
    if distribution.suffix == ".whl":
        with zipfile.ZipFile(distribution) as wheel:
            wanted, names = IN_WHEEL, wheel.namelist()
    else:
        with tarfile.open(distribution) as sources:
            wanted, names = IN_SOURCES, sources.getnames()
    return [end for end in wanted if not any(name.endswith(end) for name in names)]


def consists_of(wanted: tuple[str, ...], metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the crates of others that crates of ours consist of, by name and version.

    `metadata` is that of cargo. What serves builds and tests only is left out.
    """
    packages = {each["id"]: each for each in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [each["id"] for each in packages.values() if each["name"] in wanted]
    found: set[str] = set()
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            for needed in nodes[one]["deps"]:
                if any(kind["kind"] is None for kind in needed["dep_kinds"]):
                    waiting.append(needed["pkg"])
    others = (packages[one] for one in found - {*metadata["workspace_members"]})
    return sorted(others, key=lambda each: (each["name"], each["version"]))


def sbom(metadata: dict[str, Any], root: Path = ROOT) -> dict[str, Any]:
    """Return the bill of materials: crates inside, with checksums, and packages required."""
    lock = tomllib.loads(_text(root, "Cargo.lock"))["package"]
    sums = {(each["name"], each["version"]): each.get("checksum") for each in lock}
    crates = [
        {
            "type": "library",
            "name": each["name"],
            "version": each["version"],
            "purl": f"pkg:cargo/{each['name']}@{each['version']}",
            "licenses": [{"expression": each["license"].replace("/", " OR ")}],
            "hashes": [{"alg": "SHA-256", "content": sums[each["name"], each["version"]]}],
        }
        for each in consists_of(("reprieve-py", "reprieve-capi", "reprieve-web"), metadata)
    ]
    project = tomllib.loads(_text(root, "pyproject.toml"))["project"]
    packages = [
        {"type": "library", "name": name, "purl": f"pkg:pypi/{name}", "scope": "required"}
        for name in (re.split(r"[<>=~!\[; ]", each)[0] for each in project["dependencies"])
    ]
    of = {"type": "application", "name": "reprieve", "version": version(root)}
    form = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}
    return {**form, "metadata": {"component": of}, "components": [*crates, *packages]}


def notices(package: str, metadata: dict[str, Any]) -> str:
    """Return name, version, licence and its texts of each crate that a crate of ours consists of.

    Our own are left out, whose licences lie beside the file.
    """
    parts = []
    for other in consists_of((package,), metadata):
        folder = Path(other["manifest_path"]).parent
        texts = [
            path.read_text("utf-8", "replace").strip()
            for pattern in ("LICEN[CS]E*", "COPYING*", "NOTICE*", "COPYRIGHT*")
            for path in sorted(folder.glob(pattern))
            if path.is_file()
        ]
        head = f"{other['name']} {other['version']}: {other['license']}"
        parts.append("\n\n".join([f"{'=' * 80}\n{head}", *texts]))
    return "\n\n".join(["Crates inside the libraries, with their licences.", *parts]) + "\n"


def _metadata() -> dict[str, Any]:
    rustc = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    (host,) = re.findall(r"^host: (\S+)$", rustc, re.M)
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={host}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _described(metadata: bytes, text: str) -> bytes:
    head, _, _ = metadata.partition(b"\n\n")
    return head + b"\n\n" + text.encode()


def _wheel(old: bytes, change: Callable[[bytes], bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(old)) as packed, zipfile.ZipFile(made, "w") as new:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = change(packed.read(name))
        digest = base64.urlsafe_b64encode(hashlib.sha256(metadata).digest()).rstrip(b"=").decode()
        row = f"{name},sha256={digest},{len(metadata)}"
        for entry in packed.infolist():
            content = packed.read(entry)
            if entry.filename == name:
                content = metadata
            elif entry.filename.endswith(".dist-info/RECORD"):
                rows = content.decode().splitlines()
                rows = [row if each.startswith(f"{name},") else each for each in rows]
                content = "".join(f"{each}\n" for each in rows).encode()
            new.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _sources(old: bytes, change: Callable[[bytes], bytes]) -> bytes:
    made = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(old)) as packed,
        gzip.GzipFile(fileobj=made, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as new,
    ):
        for entry in packed:
            file = packed.extractfile(entry)
            content = b"" if file is None else file.read()
            if PurePosixPath(entry.name).parts[1:] == ("PKG-INFO",):
                content = change(content)
                entry.size = len(content)
            new.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def _text(root: Path, name: str) -> str:
    return (root / name).read_text("utf-8")


def main(step: str, *files: str) -> None:
    """Run a step; an error says what is wrong."""
    match step:
        case "versions":
            problems = list(disagreements())
        case "readme":
            text = for_index(_text(ROOT, "README.md"))
            for file in files:
                describe(Path(file), text)
            problems = []
        case "contents":
            problems = [f"{file} has no {end}" for file in files for end in missing(Path(file))]
        case "notices":
            package, file = files
            Path(file).write_text(notices(package, _metadata()), encoding="utf-8")
            problems = []
        case "sbom":
            text = json.dumps(sbom(_metadata()), indent=2) + "\n"
            Path(files[0]).write_text(text, encoding="utf-8")
            problems = []
        case _:
            problems = [f"{step}: must be versions, readme, contents, notices or sbom"]
    if problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
