"""Results of fio beside their options: what contradicts them is refused by its cause."""

import dataclasses
import math
from collections.abc import Sequence

from reprieve._native import UserError
from reprieve.calibration.measured import Entry, Job, Measured

_WRAPPED_NS = 2**34
"""17.18 s: about what fio reports for completions that it did not see in time."""
_NEAR = 0.02
_LITTLE = 1.3
"""Depth that mean latency and rate imply, over the depth of the job, from which on they contradict
each other: fio's own time a request makes it less than one, and never more."""

_TOLD_S = 0.1
"""Shortest time that is checked: fio reports whole milliseconds."""
_MORE = 1.1
"""Factor by which times, sizes or rates that should be equal may differ."""
_MORE_CLONES = 1.25
_SLACK_S = 2.0
_FEW = 2
"""Requests, of a rate that is kept by the second."""
_RARE = 0.01
"""A share of requests at another depth that may be of the beginning and the end."""
_SHARE_OFF = 0.05
_SIGMAS = 6.0
_SIZE_OFF = 0.01
_GROUPED = "fio merges jobs under group_reporting, with the options of one: remove it"


def checked(entries: Sequence[Entry]) -> list[Job]:
    """Return the jobs that had any request, one of a clone each; raises UserError."""
    entries = [each for each in entries if each.job.measured]
    for entry in entries:
        _directions(entry)
        _alone(entry)
        _sizes(entry)
        _rates(entry)
        _depth(entry)
        for direction, measured in entry.job.measured.items():
            _latencies(entry, direction, measured)
        _length(entry)
    _together(entries)
    return [_clones(entry, entries) for entry in entries]


def _directions(entry: Entry) -> None:
    """Refuse directions that `rw` does not ask for, and a mix of another share."""
    asked, measured = entry.job.asked, entry.job.measured
    rw = entry.job.options.get("rw", entry.job.options.get("readwrite", "read"))
    for direction, each in measured.items():
        if direction not in asked.sizes:
            raise UserError(
                f"{entry.where}: has {each.count} {direction}s, and rw={rw} asks for none; "
                f"{_GROUPED}"
            )
    share = asked.read_share
    if share is None or asked.is_paced:
        return
    counts = {key: measured[key].count if key in measured else 0 for key in ("read", "write")}
    total = sum(counts.values())
    found = counts["read"] / total
    if abs(found - share) > _SHARE_OFF + _SIGMAS * (0.25 / total) ** 0.5:
        raise UserError(
            f"{entry.where}: {found:.0%} of its requests are reads, and its options ask for "
            f"{share:.0%}; {_GROUPED}"
        )


def _threads(entry: Entry) -> float | None:
    """Return how many clones an entry has the time of; None where it is too short to tell."""
    time_s = _time_s(entry)
    if entry.threads_s is None or time_s is None or time_s < _TOLD_S:
        return None
    return entry.threads_s / time_s


def _alone(entry: Entry) -> None:
    """Refuse an entry that has the time of more clones than its job."""
    threads, clones = _threads(entry), entry.job.asked.clones
    if threads is not None and threads > _MORE_CLONES * clones:
        raise UserError(
            f"{entry.where}: has the time of {threads:.1f} clones (job_runtime over runtime), and "
            f"numjobs={clones}; {_GROUPED}"
        )


def _sizes(entry: Entry) -> None:
    """Refuse bytes a request that are not those of `bs`."""
    for direction, amount in entry.amounts.items():
        if amount.bytes is None:
            continue
        count = entry.job.measured[direction].count
        found, wanted = amount.bytes / count, entry.job.asked.bytes_mean(direction)
        sizes = [size for size, _ in entry.job.asked.sizes[direction]]
        scatter = _SIGMAS * (max(sizes) - min(sizes)) / 2 / count**0.5
        if abs(found - wanted) > _SIZE_OFF * wanted + scatter:
            raise UserError(
                f"{entry.where}: its {direction}s have {found:.0f} bytes on average, and its "
                f"options ask for {wanted:.0f}; {_GROUPED}"
            )


def _rates(entry: Entry) -> None:
    """Refuse rates above their limit, and those that do not fit count and time."""
    asked = entry.job.asked
    for direction, amount in entry.amounts.items():
        measured = entry.job.measured[direction]
        time_s = amount.runtime_s
        if time_s is None or time_s < _TOLD_S:
            continue
        told = measured.count / time_s
        if not 1 / _MORE < told / measured.iops < _MORE:
            raise UserError(
                f"{entry.where}: {direction}.iops = {measured.iops:g}: must be its total_ios over "
                f"its runtime, {told:.0f}"
            )
        limit: float = asked.iops.get(direction, math.inf)
        if direction in asked.bytes_per_s:
            limit = asked.bytes_per_s[direction] / asked.bytes_mean(direction)
        # What is issued at once when the job begins is above its rate.
        most = (_MORE * limit * time_s + asked.queue_depth) * asked.clones
        if measured.count > most + _FEW:
            raise UserError(
                f"{entry.where}: has {told:.0f} {direction}s a second, and its rate is "
                f"{limit * asked.clones:.0f} at most; {_GROUPED}"
            )


def _depth(entry: Entry) -> None:
    """Refuse depths that fio did not have."""
    asked = entry.job.asked
    above = sum(share for level, share in entry.levels.items() if level > asked.queue_depth)
    if above > _RARE:
        raise UserError(
            f"{entry.where}: {above:.0%} of its requests were issued at a greater depth than "
            f"iodepth={asked.queue_depth}; {_GROUPED}"
        )
    alone = 1 - entry.levels.get(1, 0.0) < _RARE and not asked.is_paced
    if asked.queue_depth > 1 and (alone or asked.is_synchronous):
        engine = entry.job.options.get("ioengine", "the default, psync,")
        raise UserError(
            f"{entry.where}: iodepth={asked.queue_depth}, and fio had one request outstanding: "
            f"ioengine {engine} has no more; must be one such as libaio or io_uring, or iodepth=1"
        )


def _latencies(entry: Entry, direction: str, measured: Measured) -> None:
    """Refuse latencies that contradict depth and rate."""
    options, depth = entry.job.options, entry.job.asked.depth
    high = [ns for ns in measured.percentile_ns.values() if abs(ns / _WRAPPED_NS - 1) < _NEAR]
    if high and ("sqthread_poll" in options or "hipri" in options):
        raise UserError(
            f"{entry.where}: completions of its {direction}s take {high[0] / 1e9:.1f} s: fio "
            "measures so with hipri and sqthread_poll, whose completions it does not see in time; "
            "it must run without one of them, or with another engine"
        )
    implied = measured.mean_ns * 1e-9 * measured.iops
    if implied > _LITTLE * depth:
        raise UserError(
            f"{entry.where}: its mean latency of {measured.mean_ns / 1e3:.1f} us and "
            f"{measured.iops:.0f} {direction}s a second need {implied:.0f} requests at a time, and "
            f"its depth is {depth}"
        )


def _time_s(entry: Entry) -> float | None:
    """Return how long a job ran, by its slowest direction."""
    times = [each.runtime_s for each in entry.amounts.values() if each.runtime_s is not None]
    return max(times, default=None)


def _length(entry: Entry) -> None:
    """Refuse a run that was longer than its limit, or was ended before it."""
    asked, time_s = entry.job.asked, _time_s(entry)
    if time_s is None or asked.runtime_s is None:
        return
    if time_s > _MORE * asked.runtime_s + _SLACK_S:
        raise UserError(
            f"{entry.where}: ran for {time_s:g} s, and runtime={asked.runtime_s:g}s is its limit"
        )
    if asked.is_time_based and time_s < asked.runtime_s / _MORE - _SLACK_S:
        raise UserError(
            f"{entry.where}: ended after {time_s:g} s of runtime={asked.runtime_s:g}s; must have "
            "run to its end"
        )


def _together(entries: Sequence[Entry]) -> None:
    """Refuse jobs that did not run at the same time, as the simulated ones do."""
    times = [(entry, _time_s(entry)) for entry in entries]
    known = [(entry, time_s) for entry, time_s in times if time_s is not None]
    if len(known) > 1:
        shortest = min(known, key=lambda each: each[1])
        longest = max(known, key=lambda each: each[1])
        if longest[1] > _MORE * shortest[1] + _SLACK_S:
            raise UserError(
                f"{shortest[0].where}: ran for {shortest[1]:g} s, and job "
                f'"{longest[0].job.name}" for {longest[1]:g} s; jobs of a file must run at the '
                "same time, each with time_based and one runtime"
            )
    delays = {entry.job.asked.delay_s for entry in entries}
    if len(delays) > 1:
        late = max(entries, key=lambda each: each.job.asked.delay_s)
        raise UserError(
            f"{late.where}: startdelay={late.job.asked.delay_s:g}s: jobs of a file must begin "
            "together; remove it, or run the jobs by themselves"
        )
    groups = {entry.group: time_s + entry.job.asked.ramp_s for entry, time_s in known}
    elapsed_s = max((each.elapsed_s for each in entries if each.elapsed_s is not None), default=0.0)
    waits = any(each.job.asked.waits for each in entries[1:])
    one_by_one = len(groups) > 1 and sum(groups.values()) > 1 and elapsed_s >= sum(groups.values())
    if waits or one_by_one:
        raise UserError(
            f"{entries[-1].where}: its jobs ran one after the other; fio must run without "
            "stonewall, or each job by itself"
        )


def _clones(entry: Entry, entries: Sequence[Entry]) -> Job:
    """Return the job of an entry: all of its clones, or the one that the entry is of."""
    job, clones = entry.job, entry.job.asked.clones
    alike = [
        each for each in entries if (each.job.name, each.job.options) == (job.name, job.options)
    ]
    threads = _threads(entry)
    if clones == 1 or (len(alike) == 1 and (threads is None or threads > _MORE_CLONES)):
        return job
    if len(alike) != clones:
        raise UserError(
            f"{entry.where}: numjobs={clones}, and the file has figures of {len(alike)}; must have "
            "an entry for each, or one for all, with group_reporting"
        )
    return dataclasses.replace(job, options={**job.options, "numjobs": "1"})
