"""Every key of the schema acts: two of its values give different results where it has to matter."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.sections import schema

TABLE = tomllib.loads((Path(__file__).parent / "key_effects.toml").read_text())
# Labels of results and reports, which say what a scenario is called and change no number.
LABELS = {"name"}
ROWS = [
    pytest.param({**TABLE["base"], **group["with"]}, key, values, id=key)
    for group in TABLE["group"]
    for key, values in group["keys"].items()
]


def write_traces(folder: Path) -> None:
    """Write short traces of the formats that have options of their own."""
    rows = range(300)
    kinds = "RW"
    # Two volumes; each tenth row stands twice, one is late, one has no length.
    alibaba = [
        f"{n % 2},{kinds[n % 3 == 0]},{n * 7919 % 4000 * 4096},{4096 if n != 50 else 0},"
        f"{1_000_000 + n * 100 - 150 * (n % 20 == 7)}"
        for n in rows
        for _ in range(1 + (n % 10 == 0))
    ]
    late = [f"0,R,{n * 8192},4096,{1_020_000 + n * 100}" for n in rows]
    tencent = [f"{n // 100},{n * 64},8,{n % 2},1" for n in rows]
    columns = [f"{n * 64} {512 * (1 + n % 8)}" for n in rows]
    iolog = ["fio version 2 iolog", "disk add", "disk open"]
    for n in rows:
        iolog += [f"disk read {n * 8192} 4096", f"disk wait {200 + n % 7}"]
    blkparse = [
        f"8,0 0 {2 * n + at} {(n * 100 + at * (n % 90)) / 1e6:.9f} 1 {action} R {n * 64} + 8 [fio]"
        for n in rows
        for at, action in enumerate("QD")
    ]
    etw = [
        f"DiskRead, {1000 + 200 * n}, a (1), 1, 0x1, 0x{n * 4096:x}, 0x1000, {10 + n % 150}, 0"
        for n in rows
    ]
    for name, lines in {
        "alibaba.csv": alibaba, "late.csv": late, "tencent.csv": tencent, "columns.txt": columns,
        "iolog.txt": iolog, "blkparse.txt": blkparse, "etw.csv": etw,
        "prompts.jsonl": [
            f'{{"timestamp": {n}, "input_length": 200, "hash_ids": [{n // 2}, 5, 6, {n + 99}]}}'
            for n in range(60)
        ],
        "zones.fio": [
            "[global]\nsize=1m\niodepth=4\nzonesize=256k",
            "[r]\nrw=randread\nbs=2k\nnorandommap",
            "[w]\nrw=randwrite\nbs=4k\nzonemode=zbd\noffset=1m\nio_size=2m\nmax_open_zones=3",
            "[t]\nrw=trim\nbs=256k\nzonemode=zbd\noffset=2m",
        ],
        "job.fio": ["[a]", "rw=randrw", "bs=4k", "size=1m", "iodepth=4", "ioengine=libaio"],
    }.items():  # fmt: skip
        (folder / name).write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    write_traces(folder)
    return folder


def outcome(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run a scenario; what it measured."""
    scenario: dict[str, Any] = {}
    for key, value in settings.items():
        if value == "absent":
            continue
        *path, name = key.split(".")
        table = scenario
        for step in path:
            table = table.setdefault(step, {})
        table[name] = value.format(folder=folder) if isinstance(value, str) else value
    result = rp.run(scenario)
    # The rest repeats the seed and says what the machine took.
    measured = {name: part for name, part in result.summary.items() if name != "run"}
    return {**measured, "power over time": str(result.power)}


def of_value(settings: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return the settings with a value for a key, and what goes with that value."""
    if not isinstance(value, dict):
        return {**settings, key: value}
    return {**settings, key: value["value"], **value["with"]}


@pytest.mark.parametrize(("settings", "key", "values"), ROWS)
def test_two_values_give_two_results(
    folder: Path, settings: dict[str, Any], key: str, values: list[Any]
) -> None:
    first, second = (of_value(settings, key, value) for value in values)
    one = outcome(first, folder)
    try:
        other = outcome(second, folder)
    except rp.UserError:
        # A refusal is an effect, if the same scenario is accepted with the first value.
        return
    assert one != other


def test_every_key_has_a_row() -> None:
    keys = {
        f"{section}.{name}" if section else name for section, of in schema().items() for name in of
    }
    assert keys - LABELS == {key for group in TABLE["group"] for key in group["keys"]}
