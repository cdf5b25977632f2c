"""Roles of keys: what is chosen, what is given, and values that no drive can have."""

from dataclasses import dataclass

import pytest

from reprieve.roles import bases, bound_runs, bounds_in, is_environment
from reprieve.scenario import Source

LOAD = {"generator": "mixed", "requests": 500, "read_fraction": 0.7, "queue_depth": 8}


def resolved(**keys: object) -> str:
    return Source.of({"device": "fast12-mlc", "workload": LOAD, **keys}, {}).resolve()


@pytest.mark.parametrize(
    ("keys", "bounds"),
    [
        ({"policy": "PE0"}, ["policy = pe0"]),
        ({"policy": "per"}, ["policy = per"]),
        ({"policy": "PES-IPC"}, []),
        ({"scheduling": {"policy": "pe0"}}, ["policy = pe0"]),
        ({"timing": {"t_erase_us": 0.0, "t_voltage_reset_us": 0}}, ["t_erase_us = 0"]),
        ({"timing": {"t_erase_us": 0.5, "t_voltage_reset_us": 0}}, []),
    ],
)
def test_values_that_no_drive_can_have(keys: dict[str, object], bounds: list[str]) -> None:
    assert bounds_in(resolved(**keys)) == bounds


def test_what_is_given() -> None:
    given = ["seed", "load", "workload.rate_iops", "flow.a.read_fraction", "ftl.precondition"]
    assert all(map(is_environment, given))
    chosen = ["policy", "device", "suspension.max_per_program", "timing.t_read_us", "no.such.key"]
    assert not any(map(is_environment, chosen))


@dataclass
class Made:
    """A result as far as roles are concerned."""

    scenario: str


def test_the_base_is_read_priority_under_the_same_load() -> None:
    runs = {name: Made(resolved(policy=name)) for name in ("FIFO", "PES-IPC", "PE0", "RPS")}
    assert {*bases(runs).values()} == {"RPS"}
    assert {*bases(runs, "FIFO").values()} == {"FIFO"}
    assert bound_runs(runs) == ["PE0"]
    # Without read priority the first; erase suspension alone is suspension, too.
    del runs["RPS"]
    erases = resolved(scheduling={"policy": "rps"}, suspension={"program": "none", "erase": True})
    assert {*bases({**runs, "erases": Made(erases)}).values()} == {"FIFO"}


def test_every_load_has_a_base_of_its_own() -> None:
    depths, policies = (1, 16), ("FIFO", "RPS", "PES-IPC")
    runs = {
        f"policy={policy} queue_depth={depth}": Made(
            resolved(policy=policy, workload={**LOAD, "queue_depth": depth})
        )
        for policy in policies
        for depth in depths
    }
    for baseline in (None, "policy=FIFO"):
        word = baseline or "policy=RPS"
        expected = {
            f"policy={policy} queue_depth={depth}": f"{word} queue_depth={depth}"
            for policy in policies
            for depth in depths
        }
        assert bases(runs, baseline) == expected
    # A policy with an absent key of the load has the same load.
    late = {"policy": "deadline", "deadline": {"read_slo_us": 500}}
    one = {name: Made(resolved(policy=name)) for name in ("FIFO", "RPS")}
    one["late"] = Made(resolved(policy="PES-IPC", suspension=late))
    assert {*bases(one).values()} == {"RPS"}
    # Loads alone are measured by the first.
    loads = {label: run for label, run in runs.items() if "RPS" in label}
    assert {*bases(loads).values()} == {"policy=RPS queue_depth=1"}
