"""Roles of keys: what is chosen, what is given, and values that no drive can have."""

import pytest

from reprieve.roles import baseline, bounds_in, is_environment
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


def test_the_baseline_is_read_priority_without_suspension() -> None:
    arms = {name: resolved(policy=name) for name in ("FIFO", "PES-IPC", "PE0", "RPS", "PER")}
    assert baseline(arms.items()) == "RPS"
    del arms["RPS"]
    assert baseline(arms.items()) is None
    # Erase suspension alone is suspension, too.
    erases = resolved(scheduling={"policy": "rps"}, suspension={"erase": True})
    assert baseline([("erases", erases)]) is None
