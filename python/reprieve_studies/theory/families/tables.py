"""The tables of the families: experiments and lines of figures by their rows."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from reprieve_studies.theory.checks import Check, Curve, Experiment

TABLES = tomllib.loads(Path(__file__).with_name("families.toml").read_text(encoding="utf-8"))


def scenario(name: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario of the tables with other dotted keys, all of them in their sections."""
    made: dict[str, Any] = {}
    for dotted, value in {**TABLES["scenario"][name], **keys}.items():
        section, dot, key = dotted.partition(".")
        if dot:
            made.setdefault(section, {})[key] = value
        else:
            made[dotted] = value
    return made


def experiments(module: ModuleType, name: str, quick: bool) -> Sequence[Experiment]:
    """Return the experiments of a family, whose module has functions of theory and model."""
    return [
        _experiment(module, table, dict(zip(table["columns"], row, strict=True)))
        for table in TABLES[name]["simulation"]
        for row in table["quick" if quick else "full"]
    ]


def _experiment(module: ModuleType, table: Mapping[str, Any], row: dict[str, Any]) -> Experiment:
    theory, model = getattr(module, table["of"])(
        **{name: value for name, value in row.items() if name != "words"}
    )
    checks = [
        _check(check, row, theory[check["quantity"]])
        for check in table["check"]
        if check.get("only", {}).items() <= row.items()
    ]
    return Experiment(table["label"].format(**row), model, checks)


def _check(table: Mapping[str, Any], row: Mapping[str, Any], theory: float) -> Check:
    texts = {name: text.format(**row) for name, text in table.items() if name not in ("only", "x")}
    return Check(**texts, theory=theory, x=row[table["x"]] if "x" in table else 0.0)


def curves(module: ModuleType, name: str) -> Mapping[str, Curve]:
    """Return the lines of a family's figure."""
    return {series: _curve(module, **row) for series, row in TABLES[name]["curve"].items()}


def _curve(
    module: ModuleType, of: str, quantity: str, x: str, over: Sequence[int], **row: Any
) -> Curve:
    first, end, distance, per_unit = over
    places = [step / per_unit for step in range(first, end, distance)]
    return [(at, getattr(module, of)(**{x: at}, **row)[0][quantity]) for at in places]
