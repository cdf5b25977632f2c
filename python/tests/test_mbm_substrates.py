"""The substrates of the MBM study: the same drive in other units, and who is in order on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reprieve_studies.mbm import experiment, substrate_table
from reprieve_studies.mbm.experiment import SUBSTRATE, Outcome, Plan, Spot
from reprieve_studies.mbm.measured import Measured, latencies
from reprieve_studies.mbm.readings import MBM, SPRINKLER
from reprieve_studies.mbm.substrates import (
    COURSES,
    FCFS,
    MBM_PAIRED,
    POLICIES,
    SUBSTRATES,
    VAS,
    Substrate,
    setup,
)

REQUESTS = 300


def test_a_drive_has_the_same_planes_in_whatever_units() -> None:
    shapes = set()
    for substrate in SUBSTRATES:
        drive = setup(substrate, FCFS, REQUESTS, 128, 1).resolved()
        shape = drive.geometry
        assert shape.channels * shape.dies_per_channel * shape.planes_per_die == 32
        assert shape.chips_per_channel == 2
        shapes.add((substrate.chip_is_one, shape.dies_per_channel, shape.planes_per_die))
    assert shapes == {(False, 4, 2), (True, 2, 4)}
    assert len({str(substrate) for substrate in SUBSTRATES}) == 12


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("chip_is_one", [False, True])
def test_every_policy_completes_everything(chip_is_one: bool, course: str, policy: str) -> None:
    substrate = Substrate(chip_is_one, course, 30)
    one = setup(substrate, policy, REQUESTS, 16, 1)
    found = one.simulate(None, requests=True)  # type: ignore[arg-type]
    assert len(found.requests) == REQUESTS


def outcome(bandwidth: dict[str, float], erases: int) -> Outcome:
    """Return one in which every substrate is alike, with two drafts."""
    none = dict.fromkeys(("read", "write", "total"), latencies(np.zeros(0)))
    run = Measured(none, 1.0, erases, 1.0, 0.0, 0.0, 50.0, 0.0)
    runs = {
        Spot(SUBSTRATE, str(substrate), policy, draft=draft): replace(
            run, mb_per_s=bandwidth.get(policy, 1.0) * (1 + 3 * draft)
        )
        for substrate in SUBSTRATES
        for policy in POLICIES
        for draft in (0, 1)
    }
    return Outcome(Plan([], [], 1000, drafts=2), {}, runs)


def test_sprinkler_is_over_the_better_of_those_in_order() -> None:
    found = substrate_table.numbers(outcome({FCFS: 10.0, VAS: 20.0, SPRINKLER: 30.0}, 15))
    for name, own in found.items():
        # The geometric mean of 30 and 120 is 60.
        assert own["mb_per_s"][SPRINKLER] == pytest.approx(60), name
        assert own["sprinkler_over_in_order"] == pytest.approx(1.5), name
    assert sum("paired_percent" in own for own in found.values()) == 6


def test_what_rests_on_too_few_erases_is_left_out() -> None:
    few = substrate_table.section(outcome({}, 14))
    assert {cell for row in few.tables[0].rows for cell in row[1:]} == {"–"}


def test_each_substrate_is_run_once_a_draft() -> None:
    jobs = experiment.list_jobs(Plan([], [], 1000, drafts=2), None)
    assert len(jobs) == 2 * len(SUBSTRATES) * len(POLICIES)
    assert len({job.spot for job in jobs}) == len(jobs)
    paired = next(job for job in jobs if job.spot.scheme == MBM_PAIRED).setup.overrides
    assert {**paired, **POLICIES[MBM]} == paired
    assert paired["ftl.gc_parallel_planes"] is True
