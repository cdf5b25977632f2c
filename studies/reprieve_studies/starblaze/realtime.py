"""Cases of the slides in real time: a real fio against the served drive."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprieve import UserError
from reprieve import run as simulate_file
from reprieve_studies.article import Section, Table
from reprieve_studies.served import served_drive
from reprieve_studies.starblaze.claims import measured
from reprieve_studies.starblaze.runs import (
    CASES,
    SEED,
    SETTINGS,
    Plan,
    job_file,
    scenario_text,
    settled,
    write_jobs,
)
from reprieve_studies.verdicts import AT_LEAST, Verdict

SETTINGS_SERVED = ("none", "both")
STATISTICAL_SHARE = 0.05
"""By which the means of two runs of this length differ without any lateness."""
SCALE = 20
"""By which the model's clock is slowed: a round trip of fio is then a twentieth of what it takes,
and fio comes to the rates that it is to hold."""
_STATE = "drive.state"
_MEMORY_BYTES = 1 << 30
"""For data: a case writes some ten megabytes of a drive that has 18 GB."""
RUNTIME_S = 2
"""Of a case by the model's clock, without a ramp; fio runs `SCALE` times as long."""


@dataclass(frozen=True)
class Served:
    """A case with a setting, simulated and served."""

    case: str
    setting: str
    simulated_us: float
    """Mean read, by `reprieve run`."""
    simulated_us_max: float
    model_us: float
    """Mean read of the served drive, by the model."""
    model_us_max: float
    client_us: float
    """Mean read as fio saw it."""
    client_us_max: float
    client_iops: float
    """Reads and writes of fio a second."""
    late_us: float
    """By which answers were later than the model said, in the mean."""
    late_us_p99: float
    late_us_max: float


def require_fio() -> None:
    """Raise UserError unless there is a fio that speaks NBD."""
    fio = shutil.which("fio")
    if fio is None:
        raise UserError("--real-time: there is no fio on this machine; install it, or leave it out")
    engines = subprocess.run([fio, "--enghelp"], capture_output=True, text=True, check=False)
    if "nbd" not in engines.stdout.split():
        raise UserError(f"--real-time: {fio} has no engine nbd; install one that was built with it")


def serve_all(runtime_s: int, folder: Path) -> list[Served]:
    """Serve every case with every setting, one after the other: each needs both cores."""
    write_jobs(Plan(runtime_s, 0, 1), folder)
    settled({}, folder).settle(folder / _STATE)
    return [
        _serve(case, setting, runtime_s, folder) for case in CASES for setting in SETTINGS_SERVED
    ]


def _serve(case: str, setting: str, runtime_s: int, folder: Path) -> Served:
    name = f"{case}-{setting}"
    scenario = folder / f"{name}.toml"
    scenario.write_text(scenario_text(case, setting))
    (folder / f"{case}.fio").write_text(job_file("paced", case, runtime_s, 0))
    state = folder / _STATE
    simulated = measured(simulate_file(scenario, from_state=state).summary, "read")
    options = ["--time-scale", str(SCALE), "--from-state", str(state)]
    options += ["--memory-bytes", str(_MEMORY_BYTES)]
    with served_drive(scenario, folder, name, options) as ended:
        client = _fio(case, runtime_s, folder / "drive.sock", folder)
    summary = ended()
    late = summary["served"]["lateness_ns"]
    model = summary["served"]["commands"]["read"]["latency_ns"]
    read, write = client["read"], client["write"]
    return Served(
        case, setting, simulated[1], simulated[2], model["mean"] / 1e3, model["max"] / 1e3,
        read["clat_ns"]["mean"] / 1e3 / SCALE, read["clat_ns"]["max"] / 1e3 / SCALE,
        (read["iops"] + write["iops"]) * SCALE,
        late["mean"] / 1e3 / SCALE, late["p99"] / 1e3 / SCALE, late["max"] / 1e3 / SCALE,
    )  # fmt: skip


def _fio(case: str, runtime_s: int, socket: Path, folder: Path) -> dict[str, Any]:
    engine = ("ioengine=nbd", f"uri=nbd+unix:///?socket={socket}")
    job = folder / f"{case}-nbd.fio"
    job.write_text(job_file("paced", case, runtime_s, 0, SCALE, engine))
    output = folder / f"{case}-nbd.json"
    command = ["fio", "--output-format=json", f"--output={output}", str(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"--real-time: fio refused {case}: {done.stderr.strip()}")
    text = output.read_text()
    # Notes of fio stand before the object.
    found: dict[str, Any] = json.loads(text[text.index("{") :])["jobs"][0]
    return found


def verdicts(served: list[Served]) -> list[Verdict]:
    """Compare what was served with what was simulated."""
    found = []
    for one in served:
        name = f"{one.case}, {SETTINGS[one.setting]['title']}"
        note = (
            f"tolerance: answers were late by {one.late_us:,.1f} µs in the mean (99 % by less than "
            f"{one.late_us_p99:,.0f}), and {100 * STATISTICAL_SHARE:.0f} % between two runs"
        )
        tolerance = one.late_us + STATISTICAL_SHARE * one.simulated_us
        found.append(
            Verdict(f"{name}: mean read served as simulated, by the model", "reprieve run", "µs",
                    one.simulated_us, one.model_us, tolerance, note=note)
        )  # fmt: skip
        found.append(
            Verdict(f"{name}: mean read of fio is never below the model's", "reprieve serve", "µs",
                    one.model_us, one.client_us, STATISTICAL_SHARE * one.model_us, AT_LEAST,
                    f"fio had {one.client_iops:,.0f} IOPS")
        )  # fmt: skip
    return found


def section(served: list[Served]) -> Section:
    """Write it up."""
    rows = [
        [one.case, SETTINGS[one.setting]["title"], f"{one.simulated_us:.1f}", f"{one.model_us:.1f}",
         f"{one.client_us:.1f}", f"{one.simulated_us_max:,.0f}", f"{one.model_us_max:,.0f}",
         f"{one.client_us_max:,.0f}", f"{one.client_iops:,.0f}", f"{one.late_us:.1f}",
         f"{one.late_us_p99:,.0f}", f"{one.late_us_max:,.0f}"]
        for one in served
    ]  # fmt: skip
    columns = ["case", "suspended", "mean read simulated, µs", "served, model", "seen by fio",
               "longest simulated, µs", "served, model", "seen by fio", "IOPS of fio",
               "late, mean, µs", "late, p99", "late, longest"]  # fmt: skip
    text = (
        f"The job files, run by fio against reprieve serve, {RUNTIME_S} s each "
        f"(seed {SEED}). The model's clock is slowed by {SCALE}, and fio's "
        "rates with it; all numbers are by the model's clock. What fio sees beyond lateness is "
        "its own time and that of the socket."
    )
    return Section("In real time", [text], tables=[Table("Served and simulated", columns, rows, 2)])
