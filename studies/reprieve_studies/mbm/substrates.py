"""Substrates on which the policies are compared: what a chip is, and how collection behaves."""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from reprieve_studies.mbm.paper import DIES_PER_CHIP, PLANES_PER_DIE, TABLE_1_CHIPS
from reprieve_studies.mbm.readings import (
    DEVICE,
    DRIVE,
    FTLS,
    IPC,
    MBM,
    NO_SUSPENSION,
    PLAIN,
    QUEUE_DEPTH,
    SPRINKLER,
    SUSPENSION,
    TBM,
)
from reprieve_studies.runs import Overrides, Setup

FCFS, VAS, MBM_PAIRED = "FCFS", "VAS", "MBM, paired collection"
IN_ORDER = (FCFS, VAS)

_MBM: Overrides = {"policy": SUSPENSION[IPC], **FTLS[MBM]}
_READS_FIRST: Overrides = {"policy": SUSPENSION[NO_SUSPENSION]}
WRITES_PER_REDISTRIBUTED_PAGE = 20
"""A budget of 5 % more programs."""
AS_PRINTED: Overrides = MappingProxyType(
    {
        "ftl.gc_parallel_planes": True,
        "ftl.gc_victims_in_step": True,
        "scheduling.mbm_read_areas": "even",
        "scheduling.mbm_writes_per_redistributed_page": WRITES_PER_REDISTRIBUTED_PAGE,
    }
)
"""MBM that collects planes side by side and in step, spreads evenly and keeps to a budget."""
POLICIES: Mapping[str, Overrides] = MappingProxyType(
    {
        FCFS: {**_READS_FIRST, "scheduling.dispatch": "fcfs"},
        VAS: {**_READS_FIRST, "scheduling.dispatch": "vas"},
        PLAIN: {**_READS_FIRST, **FTLS[PLAIN]},
        TBM: {**_READS_FIRST, **FTLS[TBM]},
        SPRINKLER: {**_READS_FIRST, **FTLS[SPRINKLER]},
        MBM: _MBM,
        MBM_PAIRED: {**_MBM, **AS_PRINTED},
    }
)


COURSES: Mapping[str, Overrides] = MappingProxyType(
    {
        "makes way": {"ftl.gc_preemptible": True},
        "runs through": {"ftl.gc_preemptible": False},
        "holds the channel": {"ftl.gc_preemptible": False, "ftl.gc_holds_channel": True},
    }
)
"""The host gets in between any two steps; or only after the erase; or nobody on the channel gets
anything across before the last page is moved, as on SSDsim."""
THRESHOLDS_PERCENT = (5, 30)
"""Of the blocks of a plane, the free ones below which it collects: the device's, and SSDsim's."""
OVER_PROVISIONING = 0.45
"""So that a drive can have 30 % of its blocks free."""
REQUEST_BYTES = 16384
READ_FRACTION = 0.5


class Substrate(NamedTuple):
    """What a policy runs on."""

    chip_is_one: bool
    """The dies of a chip are one, with the planes of all."""
    course: str
    """What a block's collection, once begun, does: one of `COURSES`."""
    threshold_percent: int
    """One of `THRESHOLDS_PERCENT`."""

    @property
    def settings(self) -> Overrides:
        """What it sets in a scenario."""
        dies = 1 if self.chip_is_one else DIES_PER_CHIP
        return {
            "geometry.chips_per_channel": TABLE_1_CHIPS,
            "geometry.dies_per_channel": TABLE_1_CHIPS * dies,
            "geometry.planes_per_die": PLANES_PER_DIE * DIES_PER_CHIP // dies,
            **COURSES[self.course],
            "ftl.gc_start_free_share": self.threshold_percent / 100,
        }

    def __str__(self) -> str:
        unit = "chip" if self.chip_is_one else "die"
        return f"{unit}, {self.course}, {self.threshold_percent} %"


SUBSTRATES = tuple(map(Substrate._make, product((False, True), COURSES, THRESHOLDS_PERCENT)))


def setup(
    substrate: Substrate, policy: str, requests: int, pages_per_block: int, seed: int
) -> Setup:
    """Return a drive at its limit: always so many requests outstanding, over the whole of it."""
    workload = {
        "generator": "mixed",
        "read_fraction": READ_FRACTION,
        "request_bytes": REQUEST_BYTES,
        "align_bytes": REQUEST_BYTES,
        "arrivals": "closed",
        "queue_depth": QUEUE_DEPTH,
        "requests": requests,
        "footprint_share": 1.0,
    }
    scenario = {"device": DEVICE, "seed": seed, "workload": workload}
    drive = {
        **DRIVE,
        "ftl.over_provisioning": OVER_PROVISIONING,
        "geometry.pages_per_block": pages_per_block,
    }
    return Setup(scenario, {**drive, **substrate.settings, **POLICIES[policy]})
