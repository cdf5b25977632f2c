"""What the paper's own numbers allow its sentences to be, by hand.

A read that comes at random while a die programs waits for half of the program on average, without
suspension; for a reset with PES_IPC, and for equation (1) with PES_IPS. Table 1 has all three, so
that the distances of RPS, PES_IPS and PES_IPC from PE0, which has no such wait, go together
whatever the load is.
"""

from dataclasses import dataclass
from statistics import fmean

from reprieve_studies.fast12.formulas import cancellation_us, equation_1_us
from reprieve_studies.fast12.paper import DEVICES, SENTENCES, TABLE_1, TABLE_2_MS, TRACES


@dataclass(frozen=True)
class Distances:
    """What a part makes of a read that finds a program running, against PE0."""

    rps_us: float
    """Half of a program."""
    ips_us: float
    ipc_us: float

    def ipc_percent(self, contention: float) -> float:
        """How far PES_IPC is above PE0 where RPS takes so many times as long as PE0."""
        return 100 * (contention - 1) * self.ipc_us / self.rps_us

    def ips_above_ipc_percent(self, contention: float) -> float:
        """How far PES_IPS then is above PES_IPC."""
        ipc = 1 + self.ipc_percent(contention) / 100
        ips = 1 + (contention - 1) * self.ips_us / self.rps_us
        return 100 * (ips / ipc - 1)

    def contention_at(self, ipc_percent: float) -> float:
        """Return how many times as long RPS takes where PES_IPC is so far above PE0."""
        return 1 + ipc_percent / 100 * self.rps_us / self.ipc_us


def distances(device: str) -> Distances:
    """Return those of "SLC" or "MLC"."""
    part = TABLE_1[device]
    return Distances(
        part.program / 2, equation_1_us(part), cancellation_us(part, reset_inside=True)
    )


@dataclass(frozen=True)
class Gap:
    """By how much PE0 shortens reads more than RPS does, in points of FIFO's latency."""

    paper: float
    half_a_program: float
    """If every read waited for half of a program under RPS, at the latencies of Table 2."""
    wait_us: float
    """What reads would wait on average, for the paper's gap."""


def gap(device: str) -> Gap:
    """Return the gap of the averages of section 3.2, and what Table 2 leaves of it.

    Reads go first under RPS, so that they wait for one program at most. An average over the loads
    is of ratios, to which each load adds its wait over its latency under FIFO.
    """
    named = {sentence.measure: sentence.of(device) for sentence in SENTENCES}
    paper = named["pe0_read_reduction"] - named["rps_read_reduction"]
    fifo_us = [1e3 * TABLE_2_MS[trace][0 if device == "SLC" else 2] for trace in TRACES]
    per_us = fmean(100 / one for one in fifo_us)
    half = distances(device).rps_us
    return Gap(paper, fmean(min(100.0, 100 * half / one) for one in fifo_us), paper / per_us)


def numbers() -> dict[str, dict[str, float]]:
    """Return them by device, at the paper's "about 2x" and its 1 %."""
    found = {}
    for device in DEVICES:
        apart, between = distances(device), gap(device)
        found[device] = {
            "rps_us": apart.rps_us,
            "ips_us": apart.ips_us,
            "ipc_us": apart.ipc_us,
            "ipc_percent_at_twice": apart.ipc_percent(2.0),
            "ips_above_ipc_percent_at_twice": apart.ips_above_ipc_percent(2.0),
            "contention_at_one_percent": apart.contention_at(1.0),
            "gap_paper": between.paper,
            "gap_half_a_program": between.half_a_program,
            "gap_wait_us": between.wait_us,
            "program_us": TABLE_1[device].program,
        }
    return found
