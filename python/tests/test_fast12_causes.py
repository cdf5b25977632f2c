"""Why sentences of FAST 2012 do not hold: bounds by hand, and what reads wait for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reprieve_studies.fast12 import bounds, loads, waits
from reprieve_studies.fast12.numbers import given_by

DISTANCES = {"SLC": (70.0, 232 / 28, 96 / 28), "MLC": (330.0, 488 / 44, 160 / 44)}
"""Half a program; (20² + 8²) / 56 and (20² + 24²) / 88; (28 - 4) * 4 / 28 and (44 - 4) * 4 / 44."""


@pytest.mark.parametrize("device", DISTANCES)
def test_the_waits_of_a_read_that_finds_a_program(device: str) -> None:
    found = bounds.distances(device)
    assert (found.rps_us, found.ips_us, found.ipc_us) == pytest.approx(DISTANCES[device])


def test_a_percent_above_pe0_and_twice_its_latency_exclude_each_other_on_slc() -> None:
    slc, mlc = (bounds.distances(device) for device in ("SLC", "MLC"))
    # Twice the latency is a wait as long as the read; of it a reset is 3.43 of 70 parts.
    assert slc.ipc_percent(2.0) == pytest.approx(100 * (96 / 28) / 70)
    assert slc.contention_at(1.0) == pytest.approx(1 + 0.7 * 28 / 96)
    assert slc.ipc_percent(slc.contention_at(1.0)) == pytest.approx(1.0)
    # 1 + 8.2857 / 70 over 1 + 3.4286 / 70 is 78.2857 / 73.4286.
    assert slc.ips_above_ipc_percent(2.0) == pytest.approx(100 * (78.2857 / 73.4286 - 1), abs=1e-3)
    assert mlc.ipc_percent(2.0) == pytest.approx(1.102, abs=1e-3)
    assert mlc.contention_at(1.0) == pytest.approx(1.9075)


def test_the_gap_of_slc_takes_longer_waits_than_half_a_program() -> None:
    # 70 us over 370, 240, 1920, 4130, 250 and 440 us: 18.92, 29.17, 3.65, 1.69, 28.00, 15.91 %.
    slc = bounds.gap("SLC")
    assert slc.paper == pytest.approx(71.7 - 44.6)
    assert slc.half_a_program == pytest.approx(97.34 / 6, abs=0.01)
    assert slc.wait_us == pytest.approx(27.1 / (97.34 / 6) * 70, abs=0.1)
    # 330 us over 270 us is more than all of it.
    mlc = bounds.gap("MLC")
    shares = (330 / 440, 1.0, 330 / 5740, 330 / 8470, 330 / 520, 330 / 560)
    assert mlc.half_a_program == pytest.approx(100 * sum(shares) / 6)


def test_blame_is_told_in_parts_that_add_up() -> None:
    names = ("host_read", "host_program", "gc_read", "gc_program", "erase", "map", "channel")
    blame = {f"by_{name}_ns": 0 for name in (*names, "same_block")}
    blame |= {"by_host_program_ns": 300, "by_erase_ns": 100, "by_host_read_ns": 50}
    blame |= {"by_channel_ns": 150, "latency_ns": 1000}

    result: Any = SimpleNamespace(summary={"blame": {"read": {"all": blame}}})
    assert waits.behind(result) == {
        "behind_programs_percent": 40.0,
        "behind_reads_percent": 5.0,
        "behind_else_percent": 15.0,
        "own_percent": 40.0,
    }


def test_a_load_by_itself() -> None:
    load = next(one for one in loads.papers({}) if one.trace == "DAP")
    draw = waits.Draw(loads.CALIBRATED, "SLC", "DAP", 1)
    found = waits._measure(waits.Plan(1_000, (1,)), draw, load, lambda _share, _done: None)
    parts = [found[f"behind_{name}_percent"] for name in ("programs", "reads", "else")]
    assert sum(parts) + found["own_percent"] == pytest.approx(100)
    # Under PE0 nothing waits for a program: what is left is at most what else there was.
    assert found["pe0_percent"] <= found["rps_percent"] <= 100
    assert found["pe0_percent"] == pytest.approx(100 - parts[0], abs=15)
    assert 0 < found["hit_percent"] < 100
    assert found["suspensions_each"] >= 1


def test_what_gives_a_sentence_is_found_among_all_readings() -> None:
    # PE0 shortens reads by 71.7 and 75.6 %, with ten points allowed.
    claims: dict[str, Any] = {
        "calibrated": {
            "reprieve": {
                "SLC": {"pe0_read_reduction": 61.6},
                "MLC": {"pe0_read_reduction": 65.7},
            },
            "idle-dies": {
                "SLC": {"pe0_read_reduction": 81.7},
                "MLC": {"pe0_read_reduction": 85.7},
            },
        },
    }
    found = given_by(claims)
    assert [one["reading"] for one in found["SLC"]["pe0_read_reduction"]["by"]] == ["idle-dies"]
    assert [one["reading"] for one in found["MLC"]["pe0_read_reduction"]["by"]] == ["reprieve"]
    assert found["SLC"]["rps_read_reduction"] == {"paper": 44.6, "by": []}
