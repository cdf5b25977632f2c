"""A steady drive that nobody has asked for anything rests; what is written costs its share."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import reprieve as rp

WRITES = 100
FAR_NS = 10**15
DEVICES = [
    "970pro-like", "fast12-mlc", "fast12-slc", "mbm", "mqsim-default-like", "qlc-enterprise",
    "tlc-enterprise", "tlc-nvme", "tlc3d-1tb", "znand-like", "zns-a",
]  # fmt: skip


def drive_of(device: str, background: bool, **more: Any) -> rp.Drive:
    """Return a steady drive with planes of 64 blocks."""
    settings = {
        "geometry": {"blocks_per_plane": 64},
        "ftl": {"precondition": "steady", "gc_background": background, "over_provisioning": 0.25},
    }
    return rp.Drive({"device": device, "seed": 1, **settings, **more})


def summary_of(drive: rp.Drive) -> dict[str, Any]:
    return drive.summary()


@pytest.mark.seconds(40)
@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("device", DEVICES)
def test_writes_to_a_drive_at_rest_cause_no_storm(device: str, background: bool) -> None:
    """All devices once set off 5,000 to a million programs of collection by a hundred writes."""
    drive = drive_of(device, background)
    at_open = drive.next()
    before = summary_of(drive)
    drive.run(FAR_NS)
    begun = summary_of(drive)["flash"]["programs"] - before["flash"]["programs"]
    assert (at_open is None) == (begun == 0), "what next() says at open is what then happens"
    page_bytes = int(drive.scenario.split("page_bytes = ")[1].split()[0])
    random, pages = Random(1), drive.capacity_bytes // page_bytes
    for number in range(WRITES):
        lba = random.randrange(pages) * page_bytes // 512
        drive.submit("write", lba=lba, bytes=page_bytes, at_ns=drive.now_ns + 1000 * number)
    drive.run(2 * FAR_NS, completions=2 * WRITES)
    after = summary_of(drive)
    assert "random writes" in after["prepare"]["load"]
    programs = after["flash"]["programs"] - before["flash"]["programs"] - begun
    assert WRITES <= programs <= WRITES * (after["prepare"]["waf"] + 1)


def test_a_load_by_hand_is_named_in_the_summary() -> None:
    load = {"read_fraction": 0.5, "request_bytes": 4096, "queue_depth": 4}
    drive = drive_of("fast12-mlc", True, precondition={"load": load})
    prepared = summary_of(drive)["prepare"]
    assert prepared["load"] == "the load of [precondition.load]"
    assert prepared["requests"] > 0 and prepared["waf"] > 1


def test_a_run_with_much_write_amplification_says_why() -> None:
    load = {
        "generator": "mixed", "requests": 20_000, "read_fraction": 0.0,
        "request_bytes": 512, "queue_depth": 4,
    }  # fmt: skip
    small = {"geometry": {"blocks_per_plane": 64}, "buffer": {"bytes": 1 << 20}}
    run = rp.run({"device": "tlc-enterprise", **small, "workload": load})
    warning = run.summary["measure"]["warning"]
    assert "write amplification is" in warning and "workload.request_bytes" in warning
    full = {"precondition": "steady", "over_provisioning": 0.07}
    even = {**load, "request_bytes": 4096, "align_bytes": 4096}
    drive = {"device": "fast12-mlc", "geometry": {"blocks_per_plane": 128}}
    run = rp.run({**drive, "ftl": full, "workload": even})
    assert run.summary["flash"]["waf"] > 10
    assert "ftl.over_provisioning" in run.summary["measure"]["warning"]
