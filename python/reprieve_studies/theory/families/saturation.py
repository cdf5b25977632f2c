"""Saturation: dies that share a channel, and a drive behind its host link."""

from collections.abc import Mapping, Sequence
from typing import Any

from reprieve_studies.theory.checks import Check, Curve, Experiment
from reprieve_studies.theory.formulas import channel_share
from reprieve_studies.theory.models import Drive, count, spread

_TRANSFER_US = 20.0
_PROGRAM_US = 140.0
_PAGE_BYTES = 2048
_SERIES = "channel busy"
_NOTE = "nothing is random here; filling and emptying the drive takes a few in ten thousand"


def experiments(quick: bool) -> Sequence[Experiment]:
    """Dies from 1 to past saturation, and links slower than the dies."""
    dies = (1, 4, 8, 12) if quick else (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16)
    links = (100_000_000,) if quick else (20_000_000, 100_000_000, 300_000_000)
    return [*map(_channel, dies), *map(_link, links)]


def _channel(dies: int) -> Experiment:
    share = channel_share(dies, _TRANSFER_US, _PROGRAM_US)
    claim = f"share of time that a channel with {dies} dies is busy under writes"
    source = "min(1, n·tx/(tx + tPROG))"
    check = Check(claim, share, "1", "busy", source, _SERIES, dies, note=_NOTE)
    pages = 1 / (_TRANSFER_US if share == 1 else (_TRANSFER_US + _PROGRAM_US) / dies)
    rate = Check(f"pages a second into {dies} dies", pages * 1e6, "1/s", "iops", source, note=_NOTE)
    scenario = _scenario(
        {
            "geometry.channels": 1,
            "geometry.dies_per_channel": dies,
            "workload.read_fraction": 0.0,
            "workload.queue_depth": 16 * dies,
            "workload.requests": 5_000 * dies,
        }
    )
    figures = {"busy": count("device", "channel_busy_share"), "iops": count("device", "iops")}
    return Experiment(claim, Drive(scenario, figures=figures, logged=False), [check, rate])


def _link(bytes_per_s: int) -> Experiment:
    claim = f"bytes a second of reads over a link of {bytes_per_s / 1e6:g} MB/s"
    check = Check(
        claim,
        bytes_per_s,
        "bytes/s",
        "bandwidth",
        "the slowest of a chain is never idle",
        note=_NOTE,
    )
    scenario = _scenario(
        {
            "geometry.channels": 16,
            "host.link_bytes_per_s": bytes_per_s,
            "workload.read_fraction": 1.0,
            "workload.queue_depth": 64,
            "workload.requests": 50_000,
        }
    )
    figures = {"bandwidth": count("device", "bandwidth_bytes_per_s")}
    return Experiment(claim, Drive(scenario, figures=figures, logged=False), [check])


def _scenario(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Whole pages, one after the other over all dies: all are equally busy."""
    return spread(
        {
            "device": "fast12-slc",
            "policy": "rps",
            "geometry.planes_per_die": 1,
            "host.link_bytes_per_s": "none",
            "ftl.gc_background": False,
            "workload.generator": "mixed",
            "workload.addresses": "sequential",
            "workload.request_bytes": _PAGE_BYTES,
            **keys,
        }
    )


def curves() -> Mapping[str, Curve]:
    """Return the channel's share over the dies."""
    return {
        _SERIES: [
            (float(dies), channel_share(dies, _TRANSFER_US, _PROGRAM_US)) for dies in range(1, 17)
        ]
    }
