"""One die in the simulator: the suspensions and late reads of a policy on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import reprieve as rp
from reprieve import Decision, OperationView, SuspensionPolicy
from reprieve_studies.deadline.grid import Die, Grid, Solved

_NS = 1000
_WARM_UP_SHARE = 0.02


@dataclass(frozen=True)
class Measured:
    """Results of a policy."""

    suspensions_per_s: float
    late_share: float
    programs_per_s: float


class FromGrid(SuspensionPolicy):
    """The policy of a solution."""

    def __init__(self, grid: Grid, solved: Solved) -> None:
        self._step_ns = round(grid.step_us * _NS)
        self._wait = solved.wait_steps
        self._read_ns = round(grid.die.read_us * _NS)
        self._lost_ns = round((grid.die.slo_us - grid.die.read_us) * _NS)

    def decide(self, view: OperationView) -> Decision | int:
        """Suspend where the solution does, or ask again when it would."""
        if view.is_suspended:
            return Decision.LEAVE
        arrivals = view.read_arrivals_ns
        urgencies = [
            view.now_ns - came + place * self._read_ns for place, came in enumerate(arrivals)
        ]
        # A read that is late whatever is done urges no more.
        urgency = max((each for each in urgencies if each <= self._lost_ns), default=None)
        if urgency is None:
            return Decision.LEAVE
        left, most, oldest = (size - 1 for size in self._wait.shape)
        steps = int(
            self._wait[
                min(left, -(-view.remaining_ns // self._step_ns)),
                min(most, len(arrivals)),
                min(oldest, urgency // self._step_ns),
            ]
        )
        if steps < 0:
            return Decision.LEAVE
        return Decision.SUSPEND if steps == 0 else view.now_ns + steps * self._step_ns


def scenario(die: Die, reads: int) -> dict[str, Any]:
    """Return the drive of one die: Poisson reads, and writes that always wait."""
    phases = round(die.program_us)
    programs = round(reads / die.rate / die.program_us)
    return {
        "device": "fast12-slc",
        "geometry": {
            "channels": 1,
            "planes_per_die": 1,
            "blocks_per_plane": max(1024, programs // 32),
        },
        "host": {"link_bytes_per_s": "none"},
        "ftl": {"gc_background": False, "over_provisioning": 0.2},
        "timing": {
            "t_bus_us": 0,
            "t_read_us": die.read_us,
            "program_iterations": phases,
            "t_program_pulse_us": die.program_us / phases,
            "t_verify_us": 0,
            "t_voltage_reset_us": 0,
            "t_buffer_us": die.resume_us,
            "t_suspend_overhead_us": die.entry_us,
        },
        "scheduling": {"policy": "rps"},
        "suspension": {"program": "iteration", "same_block": "page"},
        "workload": {"generator": "mixed", "request_bytes": 2048},
        "flow": {
            "reads": {
                "read_fraction": 1.0,
                "arrivals": "poisson",
                "rate_iops": die.rate * 1e6,
                "requests": reads,
            },
            # As many as would fit without any read: they last as long as the reads.
            "writes": {
                "read_fraction": 0.0,
                "arrivals": "closed",
                "queue_depth": 2,
                "requests": programs,
            },
        },
    }


def measure(
    die: Die, reads: int, sets: Mapping[str, Any], policy: SuspensionPolicy | None = None
) -> Measured:
    """Simulate the given number of reads under these keys, or under a policy of one's own."""
    result = rp.run(scenario(die, reads), requests=True, suspension_policy=policy, **sets)
    log = result.requests
    is_read = np.asarray(log["op"].to_numpy(zero_copy_only=False) == "read")
    ended = log["completion_ns"].to_numpy().astype(np.int64)
    took_us = (ended - log["arrival_ns"].to_numpy().astype(np.int64))[is_read] / _NS
    last_ns = int(ended[is_read].max())
    if int(ended[~is_read].max()) < last_ns:
        raise AssertionError("writes must outlast the reads")
    steady = took_us[int(_WARM_UP_SHARE * len(took_us)) :]
    seconds = last_ns / 1e9
    suspensions = result.summary["flash"]["suspensions"]["program"]
    return Measured(
        suspensions / seconds,
        float((steady > die.slo_us).mean()),
        float((ended[~is_read] <= last_ns).sum()) / seconds,
    )
