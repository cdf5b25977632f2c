"""Saturation: dies that share a channel, and a drive behind its host link."""

from reprieve_studies.theory.checks import Point
from reprieve_studies.theory.families.tables import scenario
from reprieve_studies.theory.formulas import channel_share
from reprieve_studies.theory.models import Drive, count

_TRANSFER_US = 20.0
_PROGRAM_US = 140.0


def channel(dies: float) -> Point:
    """Return dies that are written all the time, over one channel."""
    share = channel_share(dies, _TRANSFER_US, _PROGRAM_US)
    pages = 1 / (_TRANSFER_US if share == 1 else (_TRANSFER_US + _PROGRAM_US) / dies)
    keys = {
        "geometry.dies_per_channel": dies,
        "workload.queue_depth": 16 * dies,
        "workload.requests": 5_000 * dies,
    }
    figures = {"busy": count("device", "channel_busy_share"), "iops": count("device", "iops")}
    drive = Drive(scenario("channel", keys), figures=figures, logged=False)
    return {"busy": share, "iops": pages * 1e6}, drive


def link(mb_per_s: int) -> Point:
    """Return reads over a link that is slower than the dies."""
    rate = mb_per_s * 1_000_000
    keys = {"host.link_bytes_per_s": rate}
    figures = {"bandwidth": count("device", "bandwidth_bytes_per_s")}
    return {"bandwidth": rate}, Drive(scenario("link", keys), figures=figures, logged=False)
