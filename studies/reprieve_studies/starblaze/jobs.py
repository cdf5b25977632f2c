"""The slides' test cases as job files of fio."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from reprieve_studies.starblaze.arithmetic import little
from reprieve_studies.starblaze.paper import Case

OPEN_DEPTH = 64
"""Of a thread whose requests come at random: more than are ever outstanding."""
MIX_PERCENT = MappingProxyType({(2, 1): 66, (5, 4): 55})
"""Two of three and five of nine, without what comes after the point, as fio takes them: the slides
have 65.4 and 66.0, 53.9 and 55.2."""


def _global(runtime_s: int, ramp_s: int) -> list[str]:
    return [
        "[global]",
        "bs=4k",
        "direct=1",
        "norandommap",
        "group_reporting",
        "time_based",
        f"runtime={runtime_s}s",
        f"ramp_time={ramp_s}s",
    ]


def _mix(case: Case, *options: str) -> list[str]:
    return [
        f"[{case.name}]",
        "rw=randrw",
        f"rwmixread={MIX_PERCENT[case.readers, case.writers]}",
        f"numjobs={case.threads}",
        *options,
    ]


def _rates(case: Case) -> str:
    return f"rate_iops={case.read.iops // case.threads},{case.write.iops // case.threads}"


def _paced(case: Case) -> list[str]:
    return _mix(case, "iodepth=1", _rates(case))


def _closed(case: Case) -> list[str]:
    return _mix(case, "iodepth=1")


def _think(case: Case) -> list[str]:
    return _mix(case, "iodepth=1", f"thinktime={round(little(case).think_us)}us")


def _open(case: Case) -> list[str]:
    return _mix(case, f"iodepth={OPEN_DEPTH}", _rates(case), "rate_process=poisson")


def _jobs(case: Case) -> list[str]:
    lines = []
    for word, rw, clones, iops in (
        ("read", "randread", case.readers * case.threads, case.read.iops),
        ("write", "randwrite", case.writers * case.threads, case.write.iops),
    ):
        lines += [f"[{case.name}_{word}]", f"rw={rw}", f"numjobs={clones}", "iodepth=1"]
        lines += [f"rate_iops={iops // clones}"]
    return lines


LOADS: Mapping[str, Callable[[Case], list[str]]] = MappingProxyType(
    {"paced": _paced, "closed": _closed, "think": _think, "open": _open, "jobs": _jobs}
)


def job_file(load: str, case: Case, runtime_s: int, ramp_s: int, *engine: str) -> str:
    """Return the job file of a case; `engine`: lines for a real fio, which a simulation ignores."""
    return "\n".join([*_global(runtime_s, ramp_s), *engine, *LOADS[load](case)]) + "\n"
