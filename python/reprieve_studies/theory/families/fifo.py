"""Order of arrival: a die is an M/D/1 queue of reads, an M/G/1 queue of reads and programs."""

from collections.abc import Mapping, Sequence

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.families.one_die import PROGRAM_US, READ_US, classes_of, one_die, waits
from reprieve_studies.theory.formulas import Class, fifo_wait, with_load
from reprieve_studies.theory.models import Drive

_ONLY_READS = "reads only: M/D/1"
_BOTH = "reads and programs: M/G/1"
_SOURCE = "Pollaczek and Khinchine: λE[S²]/(2(1−ρ))"


def experiments(quick: bool) -> Sequence[Experiment]:
    """Return loads up to 0.9; 0.6 in a quick run."""
    reads_only = {0.3: 1_000_000, 0.6: 1_500_000}
    both = {0.3: 2_000_000, 0.6: 3_000_000}
    if not quick:
        reads_only = {0.3: 2_000_000, 0.6: 4_000_000, 0.9: 16_000_000}
        both = {0.3: 3_000_000, 0.6: 5_000_000, 0.9: 16_000_000}
    return [
        *(_reads(load, number) for load, number in reads_only.items()),
        *(_mixed(load, number) for load, number in both.items()),
    ]


def _reads(load: float, requests: int) -> Experiment:
    reads = with_load(load, READ_US)
    scenario = one_die({"policy": "fifo"}, reads, Class(0.0, PROGRAM_US), requests)
    claim = f"wait of a read among reads at a load of {load}"
    check = Check(claim, fifo_wait(reads), "µs", "read wait", _SOURCE, _ONLY_READS, load)
    return Experiment(f"M/D/1 at {load}", Drive(scenario, waits), [check])


def _mixed(load: float, requests: int) -> Experiment:
    classes = classes_of(load)
    wait = fifo_wait(*classes)
    checks = [
        Check(
            f"wait of a {op} among both in order of arrival at a load of {load}",
            wait,
            "µs",
            f"{op} wait",
            _SOURCE,
            _BOTH,
            load,
        )
        for op in ("read", "write")
    ]
    drive = Drive(one_die({"policy": "fifo"}, *classes, requests), waits)
    return Experiment(f"M/G/1 at {load}", drive, checks)


def curves() -> Mapping[str, Curve]:
    """Return the waits over the load."""
    loads = [step / 100 for step in range(5, 94)]
    return {
        _ONLY_READS: [(load, fifo_wait(with_load(load, READ_US))) for load in loads],
        _BOTH: [(load, fifo_wait(*classes_of(load))) for load in loads],
    }
