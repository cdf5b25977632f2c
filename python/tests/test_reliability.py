"""Rates of raw bit errors from Python against the formula, written down a second time."""

from __future__ import annotations

from pathlib import Path

import pytest

import reprieve as rp
from reprieve.reliability import characterised_rber, rber

from .drive import Reprieve

DEVICE = "tlc3d-1tb"


def by_hand(cycles: float, days: float, reads: float) -> float:
    """Return the fit that the part quotes, in reads per page of its 768."""
    wear = 3.90e-10 * cycles**2.05
    retention = 6.28e-5 * cycles**0.14 * days**0.54
    disturb = 3.73e-9 * cycles**0.33 * (reads / 768) ** 1.71
    return float(1.48e-3 + wear + retention + disturb)


@pytest.mark.parametrize(
    ("cycles", "days", "reads"), [(0, 0, 0), (1000, 0, 0), (1000, 365, 0), (3000, 30, 1e5)]
)
def test_the_part_has_the_rate_of_its_source(cycles: float, days: float, reads: float) -> None:
    # The factor of read disturb is written to four digits.
    expected = pytest.approx(by_hand(cycles, days, reads), rel=1e-4)
    assert rber(DEVICE, cycles, days, reads) == expected


def test_a_fresh_page_at_the_rated_cycles_has_a_stated_share_of_the_limit() -> None:
    # 1.48e-3 + 3.9e-10 * 3000^2.05 is 6.72e-3; 72 of 8192 / 0.9 bits are 7.91e-3.
    limit = 72 / (8192 / 0.9)
    assert rber("tlc3d-1tb", 3000) / limit == pytest.approx(0.849, abs=0.001)


def test_suspensions_change_nothing_unless_they_are_said_to() -> None:
    assert rber(DEVICE, 1000, suspensions=10) == rber(DEVICE, 1000)
    raised = rber(DEVICE, 1000, suspensions=10, reliability__delta=1e-5)
    assert raised == pytest.approx(rber(DEVICE, 1000) + 1e-4)


def test_a_characterisation_wears_one_block_and_ages_the_other() -> None:
    found = characterised_rber(DEVICE, 1000, 100, 10, 2)
    assert found.suspended == pytest.approx((by_hand(1000, 0, 0), by_hand(1100, 0, 0)))
    assert found.untouched == pytest.approx((by_hand(1000, 0, 0), by_hand(1000, 2, 0)))
    wear = {"reliability__model": "power", "reliability__wear_per_suspend": 0.1}
    worn = characterised_rber(DEVICE, 1000, 100, 10, 2, **wear)
    assert worn.suspended.after == pytest.approx(by_hand(1200, 0, 0))


def test_amounts_are_not_negative() -> None:
    with pytest.raises(rp.UserError, match="cycles = -1 must be a number of at least 0"):
        rber(DEVICE, -1)


def test_the_log_tells_decoding_and_lost_pages() -> None:
    scenario = {
        "device": "fast12-slc",
        "geometry": {"channels": 2, "blocks_per_plane": 64},
        "reliability": {"model": "power", "epsilon": 0.5},
        "ecc": {"code": "ldpc", "retries_max": 0, "soft_senses": 0},
        "workload": {"generator": "mixed", "requests": 50, "read_fraction": 1, "queue_depth": 1},
    }
    result = rp.run(scenario, requests=True)
    assert result.requests is not None
    rows = result.requests.to_pylist()
    assert sum(row["uncorrectable_pages"] for row in rows) == 50 * (rows[0]["bytes"] // 2048)
    # Every page fails its only decoding; the last one's is in the parts.
    assert {row["ecc_ns"] for row in rows} == {20_000}


def test_a_run_says_how_many_pages_were_lost(reprieve: Reprieve, tmp_path: Path) -> None:
    file = tmp_path / "lost.toml"
    file.write_text(
        'device = "fast12-slc"\n[geometry]\nchannels = 2\nblocks_per_plane = 64\n'
        '[reliability]\nmodel = "power"\nepsilon = 0.5\n'
        '[ecc]\ncode = "ldpc"\nretries_max = 0\nsoft_senses = 0\n'
        '[workload]\ngenerator = "mixed"\nrequests = 50\nread_fraction = 1\n'
        "request_bytes = 2048\nqueue_depth = 1\n"
    )
    said = reprieve("run", str(file), "--out", str(tmp_path / "out")).stdout
    assert "pages read: 0 by hard decoding, 0 by soft, 50 lost" in said
