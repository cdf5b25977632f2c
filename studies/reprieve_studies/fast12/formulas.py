"""Table 1 and equation (1), by formula and on the simulated die."""

from statistics import fmean
from typing import Any

from reprieve import rig
from reprieve_studies.fast12.paper import DEVICES, PAPER, SLIDES, TABLE_1, Part
from reprieve_studies.verdicts import AT_MOST, Kind, Verdict

_US = 1000
_ARRIVAL_STEP_NS = 50
"""Distance of the reads that stand for uniform arrivals: their mean is exact to half of it."""
_SPACING_US = 10_000
"""Between one measurement and the next on the same die: more than anything takes."""


def equation_1_us(part: Part) -> float:
    """Mean wait of a uniform arrival for the end of its phase: (Tp² + Tv²) / (2 (Tp + Tv))."""
    return (part.pulse**2 + part.verify**2) / (2 * (part.pulse + part.verify))


def cancellation_us(part: Part, *, reset_inside: bool) -> float:
    """Mean wait under intra-phase cancellation.

    A whole reset, but in the last T_reset of a phase, if the reset lies inside the phase, where
    the phase ends first: Σ T (R − R² / 2T) / ΣT.
    """
    reset = part.voltage_reset
    if not reset_inside:
        return reset
    phases = (part.pulse, part.verify)
    return sum(length * reset - reset**2 / 2 for length in phases) / sum(phases)


def simulated_wait_us(device: str, policy: str, part: Part, *, reset_inside: bool = True) -> float:
    """Mean extra latency of a read that arrives uniformly over the phases of a program.

    One program after the other on one die, each with a read of another block; the reads' places
    cover the program evenly.
    """
    offsets_ns = range(_ARRIVAL_STEP_NS // 2, round(part.program * _US), _ARRIVAL_STEP_NS)
    commands: list[tuple[int, str, int, int, int]] = []
    for index, offset_ns in enumerate(offsets_ns):
        begin_ns = index * _SPACING_US * _US
        arrival_ns = begin_ns + round(part.bus * _US) + offset_ns
        block, page = divmod(index, 64)
        commands.append((begin_ns, "program", 0, block, page))
        commands.append((arrival_ns, "read", 1, 0, 0))
    settings: dict[str, Any] = {"policy": policy, "suspension.reset_inside_phase": reset_inside}
    rows = rig(device, commands, **settings)
    alone_ns = round((part.read + part.bus) * _US)
    waits_ns = [row.completion_ns - row.arrival_ns - alone_ns for row in rows if row.op == "read"]
    return fmean(waits_ns) / _US


def simulated_times_us(device: str) -> dict[str, float]:
    """Return what a read, a program and an erase take on an idle die, transfers included."""
    apart_ns = _SPACING_US * _US
    commands = [
        (0, "program", 0, 0, 0),
        (apart_ns, "read", 0, 0, 0),
        (2 * apart_ns, "erase", 0, 0, 0),
    ]
    rows = rig(device, commands, policy="fifo")
    return {row.op: (row.completion_ns - row.arrival_ns) / _US for row in rows}


def verdicts() -> list[Verdict]:
    """Table 1 and equation (1) for both parts."""
    return [verdict for name in DEVICES for verdict in _of_part(name)]


def _of_part(name: str) -> list[Verdict]:
    part, device = TABLE_1[name], DEVICES[name]
    times = simulated_times_us(device)

    def us(
        claim: str, source: str, paper: float, ours: float, note: str = "", kind: Kind = "input"
    ) -> Verdict:
        return Verdict(f"{name}: {claim}", source, "µs", paper, ours, 0.01, note=note, kind=kind)

    table = f"{PAPER}, Table 1"
    found = [
        us("program in the array", table, part.program, times["program"] - part.bus,
           note="simulated; iterations × (pulse + verify)"),
        us("erase pulse", table, part.erase, times["erase"] - part.verify,
           note="simulated, without the verify that ends the erase"),
        us("read of a page", table, part.read + part.bus, times["read"],
           note="simulated; sensing and transfer"),
        us("equation (1), by formula", f"{PAPER}, section 4.2", part.equation_1,
           equation_1_us(part), kind="arithmetic"),
        us("equation (1), by simulation of uniform arrivals", f"{PAPER}, section 4.2",
           part.equation_1, simulated_wait_us(device, "pes-ips", part), kind="derived"),
        Verdict(f"{name}: wait under IPC is no longer than a voltage reset",
                f"{PAPER}, section 4.2", "µs", part.voltage_reset,
                simulated_wait_us(device, "pes-ipc", part), 0.01, AT_MOST,
                f"by formula {cancellation_us(part, reset_inside=True):.4f} µs with the reset "
                "inside the phase", kind="derived"),
    ]  # fmt: skip
    slower = {
        ("a", "program"): (10, part.program / part.read),
        ("an", "erase"): (100, part.erase / part.read),
    }
    found += [
        Verdict(f"{name}: {article} {what} is about {paper} times slower than a read", SLIDES, "1",
                paper, ours, paper, note="array times of Table 1; twice as much passes",
                kind="arithmetic")
        for (article, what), (paper, ours) in slower.items()
    ]  # fmt: skip
    return found
