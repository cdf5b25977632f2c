"""Folders of measured drives: a description, tables of figures, and which were fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve import words
from reprieve._native import UserError
from reprieve.toml_values import TomlValue, read_toml

if TYPE_CHECKING:
    from reprieve.calibration.measured import Condition
    from reprieve.calibration.parameters import Parameter

_BUILT_IN = Path(__file__).with_name("data")
_DRIVE = "drive.toml"
SCORE = "score.toml"
_KEYS = ("name", "device", "capacity_bytes", "source", "licence", "notes", "noise", "scenario")
_WHOLE = ("steps", "outstanding", "max_per_operation", "bytes")
"""Ends of the keys whose values are whole numbers."""
_PARTS = ("measured_with", "global", "jobs", "condition")


@dataclass(frozen=True)
class MeasuredDrive:
    """A drive that was measured, as its folder describes it."""

    folder: Path
    name: str
    device: str | None
    """Device that was fitted to it: a built-in one, or a file."""
    capacity_bytes: int
    source: str
    licence: str
    notes: str
    noise: Mapping[str, float]
    """Relative scatter of the drive, or of its model, by figure: `read.p99`."""
    scenario: Mapping[str, Any]
    """Sections of the scenario in which its device is simulated."""
    fitted: tuple[str, ...]
    """Names of the conditions to which the device was fitted; all others are predicted."""
    ranges: Mapping[str, tuple[float, float, float]]
    """Of each parameter that a fit has free the least value, the first and the greatest."""
    parts: Sequence[tuple[TomlValue, Sequence[Path]]]
    """Contents of TOML files with the tables whose conditions they have."""

    @property
    def key(self) -> str:
        """The name of its folder, by which commands know it."""
        return self.folder.name

    @property
    def files(self) -> list[Path]:
        """Files that describe it, and its device where that is one; not its score."""
        kinds = (".toml", ".csv", ".parquet")
        found = [each for each in sorted(self.folder.iterdir()) if each.suffix in kinds]
        own = [each for each in found if each.name != SCORE]
        return [*own, Path(self.device)] if self.device and self.device.endswith(".toml") else own

    @property
    def condition_names(self) -> list[str]:
        """Names of its conditions, without the figures."""
        return [name for content, _ in self.parts for name in content["condition"].table()]

    @cached_property
    def conditions(self) -> list["Condition"]:
        """All conditions with their figures; raises UserError if a table is wrong."""
        from reprieve.calibration.measured import by_name
        from reprieve.calibration.measured_tables import conditions_of

        found = (each for part in self.parts for each in conditions_of(*part))
        return [*by_name(found).values()]

    @property
    def free(self) -> tuple["Parameter", ...]:
        """Parameters that a fit has free."""
        from reprieve.calibration.parameters import Parameter

        return tuple(
            Parameter(key, low, high, whole=key.endswith(_WHOLE), guess=start)
            for key, (low, start, high) in self.ranges.items()
        )

    @property
    def fitted_conditions(self) -> list["Condition"]:
        """Conditions to which the device was fitted."""
        return [each for each in self.conditions if each.name in self.fitted]

    @property
    def predicted_conditions(self) -> list["Condition"]:
        """All other conditions."""
        return [each for each in self.conditions if each.name not in self.fitted]


def names() -> list[str]:
    """List the built-in measured drives."""
    return sorted(path.parent.name for path in _BUILT_IN.glob(f"*/{_DRIVE}"))


def load(name: str | Path) -> MeasuredDrive:
    """Return a built-in measured drive, or the one of a folder; UserError if there is none.

    Tables are read when `conditions` is used first.
    """
    folder = _BUILT_IN / name if name in names() else Path(name)
    if not folder.is_dir():
        hint = words.hint(str(name), names(), "`reprieve drives` lists all")
        raise UserError(f"drives: there is no {name}; {hint}")
    content = read_toml(folder / _DRIVE, "a measured drive").table_of((*_KEYS, *_PARTS))
    device, notes = content["device"], content["notes"]
    drive = MeasuredDrive(
        folder,
        content["name"].text(),
        device.text() if device.is_there() else None,
        content["capacity_bytes"].whole(least=1),
        content["source"].text(),
        content["licence"].text(),
        notes.text() if notes.is_there() else "",
        {figure: value.number(least=0) for figure, value in content["noise"].optional().values()},
        content["scenario"].optional().table(),
        *_fit(folder / "fit.toml"),
        _parts(folder, content),
    )
    for each in drive.fitted:
        if each not in drive.condition_names:
            raise UserError(f'{folder}/fit.toml: fitted has "{each}", which is no condition')
    return drive


def _parts(folder: Path, content: TomlValue) -> list[tuple[TomlValue, list[Path]]]:
    """Return each table with the file of its stem, and the others with that of the drive."""
    found, alone = [], []
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.parquet")]):
        beside = path.with_suffix(".toml")
        if beside.is_file() and beside.name != _DRIVE:
            found.append((read_toml(beside, f"the conditions of {path.name}"), [path]))
        else:
            alone.append(path)
    for own, _ in found:
        own.table_of(_PARTS)
    return [*found, (content, alone)] if alone or not found else found


def _fit(path: Path) -> tuple[tuple[str, ...], dict[str, tuple[float, float, float]]]:
    """Return fitted conditions and ranges of parameters of a file, none without the file."""
    if not path.is_file():
        return (), {}
    content = read_toml(path, "a fit").table_of(("fitted", "free"))
    ranges = {}
    for key, value in content["free"].optional().values():
        low, start, high = (each.number(above=0) for each in value.items_of(3))
        if not low < start < high:
            raise UserError(
                f"{path}: free.{key}: must be a least value, one to begin with and a greatest"
            )
        ranges[key] = low, start, high
    return tuple(each.text() for each in content["fitted"].items()), ranges
