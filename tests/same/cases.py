"""Cases: examples, golden scenarios, random pairs of features, short runs of the studies."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from reprieve import UserError
from reprieve.die_rig import rig_source, run_commands
from reprieve.power_failure import cut
from reprieve.scenario import Source
from reprieve.simulation import Drive, Watch, simulate
from reprieve.timeline import Drawing, Window
from reprieve_studies.theory import validate

from .values import digest, of_arrays, of_requests, of_summary, of_verdicts, rounded

ROOT = Path(__file__).resolve().parents[2]

Values = Mapping[str, Any]
"""Results of a case, by kind."""


@dataclass(frozen=True)
class Case:
    """Something to run, whose results are named after it."""

    name: str
    run: Callable[[Watch], Values]


# ---- One run ------------------------------------------------------------------------------------


def values_of(source: Source, watch: Watch, cuts: int, drawing: Drawing | None = None) -> Values:
    """Run a scenario; let its power fail at so many instants if the drive is ready for that."""
    result = simulate(
        source, keep_requests=True, keep_series=True, watch=watch, drive=Drive(), drawing=drawing
    )
    values = {
        "summary": of_summary(result.summary),
        "requests": of_requests(result.requests),
        "series": of_arrays(result.series),
    }
    if result.power is not None:
        values["power"] = of_arrays(result.power)
    if tomllib.loads(result.scenario)["power_loss"]["mode"] == "on":
        values["power-loss"] = cut(source, cuts, watch).rows
    return values


# ---- Examples -----------------------------------------------------------------------------------

REQUESTS_MAX = 20_000
"""Of each flow of an example."""
_EXAMPLE_CUTS = 20
_FIO_BASE = "examples/limits.toml"
_RIG_DEVICE = "fast12-mlc"


def examples() -> list[Case]:
    """Return the scenarios, job files of fio and commands for the rig in `examples/`."""
    files = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in _EXAMPLES)
    return [Case(f"example/{path.stem}", _EXAMPLES[path.suffix](path)) for path in files]


def _scenario(path: Path) -> Callable[[Watch], Values]:
    def run(watch: Watch) -> Values:
        source = Source.read(path)
        workload = tomllib.loads(source.text)["workload"]
        key = "max_requests" if "trace" in workload else "requests"
        requests = min(REQUESTS_MAX, workload.get(key, REQUESTS_MAX))
        return values_of(source.with_sets([f"workload.{key}={requests}"]), watch, _EXAMPLE_CUTS)

    return run


def _fio(path: Path) -> Callable[[Watch], Values]:
    """On the drive of another example: a job file says nothing of one."""

    def run(watch: Watch) -> Values:
        document = tomllib.loads((ROOT / _FIO_BASE).read_text(encoding="utf-8"))
        document["workload"] = {"fio": str(path)}
        return values_of(Source.of(document, {}), watch, _EXAMPLE_CUTS)

    return run


def _rig(path: Path) -> Callable[[Watch], Values]:
    def run(_watch: Watch) -> Values:
        source = rig_source(_RIG_DEVICE, ["policy=pes-ipc"])
        return {"rig": run_commands(source, path.read_text(encoding="utf-8"), path.name)[0]}

    return run


_EXAMPLES: Mapping[str, Callable[[Path], Callable[[Watch], Values]]] = {
    ".toml": _scenario,
    ".fio": _fio,
    ".csv": _rig,
}

# ---- Golden scenarios ---------------------------------------------------------------------------

_DRAWN_NS = 20_000_000


def goldens() -> list[Case]:
    """Return the scenarios of the golden tests."""
    paths = sorted((ROOT / "crates/ssd/tests/golden").glob("*.toml"))
    return [Case(f"golden/{path.stem}", _golden(path)) for path in paths]


def _golden(path: Path) -> Callable[[Watch], Values]:
    """With a timeline of the beginning of the run."""

    def run(watch: Watch) -> Values:
        file = BytesIO()
        drawing = Drawing(Window(0, _DRAWN_NS, phases=True), file)
        values = values_of(Source.read(path), watch, 1, drawing)
        return {**values, "timeline": digest(file.getvalue().hex())}

    return run


# ---- Pairs of features --------------------------------------------------------------------------

_PAIR_CUTS = 6
_PRINT_PAIRS = ("cargo", "run", "--quiet", "--profile", "test", "--package", "reprieve-bench",
                "--", "pairs")  # fmt: skip


def pairs() -> list[Case]:
    """Return the random scenarios of two features each that the Rust tests' generator draws."""
    printed = subprocess.run(_PRINT_PAIRS, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    document = json.loads(printed.stdout)
    return [
        Case(f"pair/{name}", _pair(Source(document["drive"], "pair.toml", tuple(sets))))
        for name, sets in document["pairs"].items()
    ]


def _pair(source: Source) -> Callable[[Watch], Values]:
    """Run a pair; what is refused has its sentence for a result."""

    def run(watch: Watch) -> Values:
        try:
            return values_of(source, watch, _PAIR_CUTS)
        except UserError as error:
            return {"refusal": str(error)}

    return run


# ---- Studies ------------------------------------------------------------------------------------

SAMPLED = ("fast12", "mbm", "starblaze", "zambelli21")
"""A few short runs of each: `reprieve reproduce … --quick` takes minutes, that of mbm ten."""


def studies() -> list[Case]:
    """Return runs of the studies, the same as are recorded for the pages, and closed forms."""
    return [
        Case("study/validate", _validate),
        *(Case(f"study/{name}", _sample(name)) for name in SAMPLED),
    ]


def _sample(name: str) -> Callable[[Watch], Values]:
    def run(_watch: Watch) -> Values:
        from page_figures.pages import DATA
        from page_figures.samples import SAMPLES

        recorded = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
        return {"sample": rounded(SAMPLES[name](recorded))}

    return run


def _validate(watch: Watch) -> Values:
    """Run the quick form; `watch` lets it be stopped."""
    found = validate(quick=True, jobs=1, step=lambda *_: watch(None, 0))
    return {"verdicts": of_verdicts(found.verdicts)}


FAMILIES: Mapping[str, Callable[[], list[Case]]] = {
    "study": studies,
    "example": examples,
    "golden": goldens,
    "pair": pairs,
}
"""By the first word of the names of their cases; the longest first."""
