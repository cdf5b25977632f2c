"""The same cases in real time: a real fio against the served drive."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reprieve import UserError
from reprieve import run as simulate_file
from reprieve_studies.article import Section, Table
from reprieve_studies.starblaze.experiment import SEED, save_state, scenario_text
from reprieve_studies.starblaze.jobs import job_file
from reprieve_studies.starblaze.measures import measured_of
from reprieve_studies.starblaze.paper import CASES, Case
from reprieve_studies.starblaze.readings import BASE, SETTINGS, drive
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
_STOP_S = 60


@dataclass(frozen=True)
class Plan:
    """How long a case runs, by the model's clock; fio runs `SCALE` times as long."""

    runtime_s: int
    """Without a ramp: the model's latencies of a served drive are those of the whole of it."""


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


def serve_all(plan: Plan, folder: Path) -> list[Served]:
    """Serve every case with every setting, one after the other: each wants both cores."""
    base = {"seed": SEED, **drive(BASE.shape)}
    save_state(base, BASE.shape, folder / _STATE, lambda _share, _requests: None)
    return [
        _serve(case, setting, plan, folder)
        for case in CASES.values()
        for setting in SETTINGS_SERVED
    ]


def _serve(case: Case, setting: str, plan: Plan, folder: Path) -> Served:
    name = f"{case.name}-{setting}"
    scenario = folder / f"{name}.toml"
    scenario.write_text(scenario_text(case, setting))
    job = folder / f"{case.name}.fio"
    job.write_text(job_file("paced", case, plan.runtime_s, 0))
    state = folder / _STATE
    simulated = measured_of(simulate_file(scenario, from_state=state), "read")
    options = ["--time-scale", str(SCALE), "--from-state", str(state)]
    options += ["--memory-bytes", str(_MEMORY_BYTES)]
    with served_drive(scenario, folder, name, options) as ended:
        client = _fio(case, plan, folder / "drive.sock", folder)
    told = ended()
    late = told["served"]["lateness_ns"]
    model = told["served"]["commands"]["read"]["latency_ns"]
    read, write = client["read"], client["write"]
    return Served(
        case.name, setting, simulated[1], simulated[2], model["mean"] / 1e3, model["max"] / 1e3,
        read["clat_ns"]["mean"] / 1e3 / SCALE, read["clat_ns"]["max"] / 1e3 / SCALE,
        (read["iops"] + write["iops"]) * SCALE,
        late["mean"] / 1e3 / SCALE, late["p99"] / 1e3 / SCALE, late["max"] / 1e3 / SCALE,
    )  # fmt: skip


@contextmanager
def served_drive(
    scenario: Path, folder: Path, name: str, options: Sequence[str]
) -> Iterator[Callable[[], dict[str, Any]]]:
    """Serve a scenario at `folder / "drive.sock"`; what it yields tells the summary afterwards."""
    summary = folder / f"{name}.json"
    command = [str(Path(sys.executable).with_name("reprieve")), "serve", str(scenario), *options]
    command += ["--socket", str(folder / "drive.sock"), "--summary", str(summary)]
    # In a session of its own: Ctrl-C would end it while its clients still need it.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        try:
            _until_ready(server, name)
            yield lambda: dict(json.loads(summary.read_text()))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(_STOP_S)


def _until_ready(server: subprocess.Popen[str], name: str) -> None:
    assert server.stdout is not None
    for line in server.stdout:
        if line.startswith("serving "):
            return
    raise UserError(f"reprieve serve ended before it served {name}; try it by itself")


def _fio(case: Case, plan: Plan, socket: Path, folder: Path) -> dict[str, Any]:
    engine = ("ioengine=nbd", f"uri=nbd+unix:///?socket={socket}")
    job = folder / f"{case.name}-nbd.fio"
    job.write_text(job_file("paced", _slowed(case), SCALE * plan.runtime_s, 0, *engine))
    output = folder / f"{case.name}-nbd.json"
    command = ["fio", "--output-format=json", f"--output={output}", str(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"--real-time: fio refused {case.name}: {done.stderr.strip()}")
    text = output.read_text()
    # Notes of fio stand before the object.
    found: dict[str, Any] = json.loads(text[text.index("{") :])["jobs"][0]
    return found


def _slowed(case: Case) -> Case:
    """Return the case with the rates that fio has by its own clock."""
    read, write = (replace(row, iops=round(row.iops / SCALE)) for row in (case.read, case.write))
    return replace(case, read=read, write=write)


def verdicts(served: list[Served]) -> list[Verdict]:
    """Compare what was served with what was simulated."""
    found = []
    for one in served:
        name = f"{one.case}, {SETTINGS[one.setting][0]}"
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


def section(plan: Plan, served: list[Served]) -> Section:
    """Write it up."""
    rows = [
        [one.case, SETTINGS[one.setting][0], f"{one.simulated_us:.1f}", f"{one.model_us:.1f}",
         f"{one.client_us:.1f}", f"{one.simulated_us_max:,.0f}", f"{one.model_us_max:,.0f}",
         f"{one.client_us_max:,.0f}", f"{one.client_iops:,.0f}", f"{one.late_us:.1f}",
         f"{one.late_us_p99:,.0f}", f"{one.late_us_max:,.0f}"]
        for one in served
    ]  # fmt: skip
    columns = ["case", "suspended", "mean read simulated, µs", "served, model", "seen by fio",
               "longest simulated, µs", "served, model", "seen by fio", "IOPS of fio",
               "late, mean, µs", "late, p99", "late, longest"]  # fmt: skip
    text = (
        f"The job files, run by fio against reprieve serve, {plan.runtime_s} s each "
        f"(seed {SEED}). The model's clock is slowed by {SCALE}, and fio's "
        "rates with it; all numbers are by the model's clock. What fio sees beyond lateness is "
        "its own time and that of the socket."
    )
    return Section("In real time", [text], tables=[Table("Served and simulated", columns, rows, 2)])
