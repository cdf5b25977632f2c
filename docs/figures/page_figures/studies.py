"""Runs for the numbers of the pages, and the part of them that is recorded."""

import gzip
import json
import runpy
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import reprieve as rp
from reprieve_studies.papers import Settings, reproduce_into
from reprieve_studies.theory import Settings as ValidateSettings
from reprieve_studies.theory import validate_into
from reprieve_studies.verdicts import tally

from .counterparts import counterparts
from .databases import COMMAND, databases
from .guide import demo, guide, power_losses
from .pages import DATA, HERE, ROOT
from .samples import SAMPLES
from .tutorial import tutorial


@dataclass(frozen=True)
class Wanted:
    """Options beside the names of studies."""

    mqsim: Path | None = None
    """Folder with MQSim's two inputs, which do not travel with the project."""
    keep: Path | None = None
    """Folder in which results stay: a study that keeps what it simulates goes on from there."""


@dataclass(frozen=True)
class Study:
    """Some runs whose numbers are recorded in one file."""

    what: str
    """Also the command that does the same by hand."""
    run: Callable[[Path, Wanted], dict[str, Any]]
    """Takes a folder for what the command writes."""
    pictures: Mapping[str, str]
    """Figures of the pages, by their path in that folder."""
    is_apart: bool = False
    """It is run only where it is named: it needs root, or has to be run by hand before."""


_COMMITTED = "examples/committed_dies.py"
_OF_A_VERDICT = ("paper", "unit", "ours", "low", "high", "reproduced", "kind", "cause", "class",
                 "undecided", "null_model")  # fmt: skip


def _paper(name: str, **settings: Any) -> Callable[[Path, Wanted], dict[str, Any]]:
    def run(out: Path, _wanted: Wanted) -> dict[str, Any]:
        reproduce_into(name, out, Settings(**settings))
        return _numbers_of(out)

    return run


def _numbers_of(out: Path) -> dict[str, Any]:
    """Return the numbers and verdicts that a study has written."""
    numbers: dict[str, Any] = json.loads((out / "numbers.json").read_text(encoding="utf-8"))
    rows = json.loads((out / "verdicts.json").read_text(encoding="utf-8"))
    numbers["verdicts"] = {
        row["claim"]: {name: row[name] for name in _OF_A_VERDICT} for row in rows
    }
    return numbers


def _validate(out: Path, _wanted: Wanted) -> dict[str, Any]:
    verdicts = validate_into(out, ValidateSettings(), lambda _what, _done, _pieces: None).verdicts
    return {"values": len(verdicts), **tally(verdicts)._asdict()}


MQSIM_INPUTS: Mapping[str, Mapping[str, Any]] = {
    "synth-4k": {
        "geometry.page_bytes": 4096,
        "timing.t_bus_us": 12.288,
        "workload.replay": "closed",
        "workload.queue_depth": 16,
    },
    "wsrch-small": {"workload.devices": "merge"},
}
"""As docs/model/against-mqsim.md has them, by the name of the input."""
ORDERS: Mapping[str, Mapping[str, Any]] = {
    "as above": {},
    "asked": {"channel.order": "asked"},
    "commands_first": {"channel.order": "commands_first"},
    "whole pages": {"channel.transfer_unit_bytes": "none"},
}


def _recorded(name: str) -> dict[str, Any]:
    """Return the numbers of a study, as they are recorded."""
    numbers: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return numbers


def _mqsim(out: Path, wanted: Wanted) -> dict[str, Any]:
    """Run MQSim's own inputs; its own response times are recorded beside them, once."""
    if wanted.mqsim is None:
        raise rp.UserError(
            "mqsim: its inputs do not travel with the project; give the folder that has them with "
            "--mqsim DIR"
        )
    recorded = _recorded("mqsim")
    out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"theirs": recorded["theirs"], "runs": {}, "mean_read_ns": {}}
    for name, settings in MQSIM_INPUTS.items():
        trace = out / f"{name}.trace"
        (packed,) = wanted.mqsim.glob(f"{name}.*trace.gz")
        trace.write_bytes(gzip.decompress(packed.read_bytes()))
        scenario: dict[str, Any] = {
            "seed": 1,
            "device": "mqsim-default-like",
            "workload": {"trace": str(trace), "format": "mqsim"},
        }
        for order, changed in ORDERS.items():
            keep = order == "as above"
            result = rp.run(scenario, requests=keep, **{**settings, **changed})
            mean = result.summary["requests"]["read"]["latency_ns"]["mean"]
            found["mean_read_ns"].setdefault(order, {})[name] = mean
            if keep:
                found["runs"][name] = _by_rank(result)
        if name == "synth-4k":
            found["link"] = _commands_on_the_link(scenario, settings)
    return found


def _by_rank(result: rp.Result) -> dict[str, Any]:
    """Return latencies of every request, percentiles by nearest rank."""
    found: dict[str, Any] = {}
    log = result.requests
    times = (log["completion_ns"].to_numpy() - log["arrival_ns"].to_numpy()).tolist()
    ops = log["op"].to_pylist()
    for op in ("read", "write"):
        own = sorted(time for time, one in zip(times, ops, strict=True) if one == op)
        ranks = {
            name: own[-(-len(own) * share // 1000) - 1]
            for name, share in (("p50", 500), ("p99", 990), ("p99_9", 999))
        }
        mean = sum(own) / len(own)
        found[op] = {"count": len(own), "mean": mean, **ranks, "max": own[-1]}
    flash = result.summary["flash"]
    return {**found, "reads": flash["reads"], "programs": flash["programs"]}


def _commands_on_the_link(
    scenario: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Say what the link is worth: commands across it, apart from it, and taking no time."""
    ways: Mapping[str, Mapping[str, Any]] = {
        "cross": {},
        "apart": {"host.commands_cross_link": False, "host.t_command_us": 0.06},
        "nothing": {"host.commands_cross_link": False, "host.t_command_us": 0},
    }
    found = {}
    for name, changed in ways.items():
        result = rp.run(scenario, requests=True, **{**settings, **changed})
        reads = sorted(
            completion - arrival
            for completion, arrival, op in zip(
                result.requests["completion_ns"].to_pylist(),
                result.requests["arrival_ns"].to_pylist(),
                result.requests["op"].to_pylist(),
                strict=True,
            )
            if op == "read"
        )
        found[name] = {
            "mean": sum(reads) / len(reads),
            "median": reads[(len(reads) + 1) // 2 - 1],
            "alone_percent": 100 * reads.count(reads[0]) / len(reads),
        }
    return found


STUDIES: Mapping[str, Study] = {
    "demo": Study("make demo", lambda out, _wanted: demo(out), {}),
    "guide": Study("reprieve compare", lambda _out, _wanted: guide(), {}),
    "tutorial": Study(
        "the commands of docs/guide/tutorial.md",
        lambda out, _wanted: tutorial(out),
        {"tutorial-limits.svg": "tutorial-limits.svg"},
    ),
    "power-loss": Study(
        "reprieve power-loss examples/power-loss.toml --cuts 1000",
        lambda out, _wanted: power_losses(out),
        {"power_loss.svg": "power-loss.svg"},
    ),
    "loads": Study("reprieve trace info --load NAME --device fast12-slc",
                   lambda _out, _wanted: counterparts(), {}),
    "mqsim": Study("reprieve run synth-4k.toml --requests", _mqsim, {}),
    "validate": Study("reprieve validate", _validate, {}),
    "fast12": Study(
        "reprieve reproduce fast12", _paper("fast12"),
        {"figures/figure-1.svg": "fast12-figure-1.svg",
         "figures/figure-4.svg": "fast12-figure-4.svg"},
    ),
    **{f"{name}-joint": Study(f"reprieve reproduce {name} --joint --quick",
                              _paper(name, joint=True, quick=True), {})
       for name in ("fast12", "starblaze", "zambelli21", "mbm")},
    "committed": Study(f"python {_COMMITTED}",
                       lambda *_: dict(runpy.run_path(str(ROOT / _COMMITTED))["table"]()), {}),
    "mbm": Study("reprieve reproduce mbm", _paper("mbm"),
                 {"figures/figure-8.svg": "mbm-figure-8.svg"}),
    "starblaze": Study("reprieve reproduce starblaze", _paper("starblaze"),
                       {"figures/read-mean.svg": "starblaze-read-mean.svg",
                        "figures/read-tail.svg": "starblaze-read-tail.svg"}),
    "databases": Study(COMMAND, lambda out, _wanted: databases(out), {}, is_apart=True),
    "aero": Study("reprieve reproduce aero", _paper("aero"),
                  {"figures/gains.svg": "aero-gains.svg"}),
    "deadline": Study(
        "reprieve reproduce deadline",
        _paper("deadline"),
        {"figures/suspensions.svg": "deadline-suspensions.svg"},
    ),
    "zones": Study("reprieve reproduce zones", _paper("zones"), {"figures/zones.svg": "zones.svg"}),
    "arrays": Study(
        "reprieve reproduce arrays", _paper("arrays"), {"figures/arrays.svg": "arrays.svg"}
    ),
    "kv-cache": Study("reprieve reproduce kv-cache", _paper("kv-cache"),
                      {"figures/kv-cache.svg": "kv-cache.svg"}),
    "zambelli21": Study(
        "reprieve reproduce zambelli21",
        _paper("zambelli21"),
        {"figures/figure-10a.svg": "zambelli21-figure-10a.svg",
         "figures/figure-13b.svg": "zambelli21-figure-13b.svg"},
    ),
    "zns-a": Study(
        "reprieve reproduce zns-a",
        _paper("zns-a"),
        {"figures/conventional.svg": "zns-a-conventional.svg"},
    ),
    "drives": Study("reprieve reproduce drives", _paper("drives"),
                    {"figures/drives.svg": "measured-drives.svg"}),
}  # fmt: skip
"""In the order in which they are run: short ones first."""


def record(name: str, wanted: Wanted) -> None:
    """Run a study, and write its file and its pictures."""
    study = STUDIES[name]
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        out = (wanted.keep or Path(folder)) / name
        numbers = study.run(out, wanted)
        for source, target in study.pictures.items():
            shutil.copy(out / source, HERE / target)
    write(name, numbers)


def write(name: str, numbers: Mapping[str, Any]) -> None:
    """Write the file of a study, with the results of a few of its runs, that tests repeat."""
    recorded = {"command": STUDIES[name].what, **numbers}
    if name in SAMPLES:
        recorded["sample"] = SAMPLES[name](recorded)
    DATA.mkdir(exist_ok=True)
    text = json.dumps(recorded, indent=1, ensure_ascii=False, allow_nan=False)
    (DATA / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
