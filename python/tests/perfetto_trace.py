"""Reads a Perfetto trace with the Perfetto project's own description of the format."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    ClockSnapshot,
    Trace,
    TracePacket,
    TrackEvent,
)

BOOTTIME = 6
CLEARED, NEEDED = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED, TracePacket.SEQ_NEEDS_INCREMENTAL_STATE


@dataclass
class Slice:
    """A slice, with what lies inside it."""

    track: str
    lane: int
    """Uuid of the track: several may have one name."""
    name: str
    begin: int
    end: int | None
    """In ns; None: it never ends."""
    notes: dict[str, int]
    flows: list[int]
    """Arrows through it, and those that end in it."""
    is_last: bool
    """They end in it."""
    parts: list[Slice] = field(default_factory=list)

    @property
    def span(self) -> tuple[int, int]:
        """From when to when, of one that ends."""
        assert self.end is not None
        return self.begin, self.end

    @property
    def ns(self) -> int:
        """How long it is, of one that ends."""
        return self.span[1] - self.begin

    def told(self) -> tuple[str, int, int | None]:
        """Name, begin and end."""
        return self.name, self.begin, self.end


@dataclass
class Timeline:
    """Contents of a trace."""

    slices: list[Slice]
    """Those that lie in no other, track by track in order of time."""
    counters: dict[str, list[tuple[int, float]]]
    parents: dict[str, str | None]
    """Name of each track and of the one above it."""

    def on(self, prefix: str) -> list[Slice]:
        """Slices on tracks whose name begins so."""
        return [each for each in self.slices if each.track.startswith(prefix)]

    def all(self) -> Iterator[Slice]:
        """Every slice, however deep."""
        rest = list(self.slices)
        while rest:
            each = rest.pop()
            rest += each.parts
            yield each


@dataclass
class _Sequence:
    clock_ns: int
    names: dict[int, str]
    notes: dict[int, str]
    track: int
    open: list[Slice] = field(default_factory=list)


def packets(data: bytes) -> Iterator[Any]:
    """Every packet, those that are packed into one included."""
    trace = Trace()
    trace.ParseFromString(data)
    for packet in trace.packet:
        if packet.HasField("compressed_packets"):
            yield from packets(zlib.decompress(packet.compressed_packets))
        else:
            yield packet


def read(path: Path) -> Timeline:
    """Read a trace; asserts that it keeps the rules of the format."""
    tracks: dict[int, Any] = {}
    sequences: dict[int, _Sequence] = {}
    slices: list[Slice] = []
    counters: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for packet in packets(path.read_bytes()):
        assert packet.trusted_packet_sequence_id > 0
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid not in tracks
            assert descriptor.parent_uuid == 0 or descriptor.parent_uuid in tracks
            tracks[descriptor.uuid] = descriptor
        elif packet.sequence_flags & CLEARED:
            assert packet.trusted_packet_sequence_id not in sequences
            sequences[packet.trusted_packet_sequence_id] = _opened(packet)
        else:
            assert packet.sequence_flags == NEEDED
            _event(packet, sequences[packet.trusted_packet_sequence_id], tracks, slices, counters)
    parents = {
        each.name: tracks[each.parent_uuid].name if each.parent_uuid else None
        for each in tracks.values()
    }
    return Timeline(slices, dict(counters), parents)


def _opened(packet: Any) -> _Sequence:
    clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
    defaults = packet.trace_packet_defaults
    own = clocks[defaults.timestamp_clock_id]
    assert own.is_incremental and own.clock_id in range(64, 128)
    assert own.timestamp == clocks[BOOTTIME].timestamp == 0
    assert ClockSnapshot.Clock.BOOTTIME == packet.timestamp_clock_id == BOOTTIME
    return _Sequence(
        clock_ns=0,
        names={entry.iid: entry.name for entry in packet.interned_data.event_names},
        notes={entry.iid: entry.name for entry in packet.interned_data.debug_annotation_names},
        track=defaults.track_event_defaults.track_uuid,
    )


def _event(
    packet: Any,
    sequence: _Sequence,
    tracks: dict[int, Any],
    slices: list[Slice],
    counters: dict[str, list[tuple[int, float]]],
) -> None:
    event, uuid = packet.track_event, sequence.track
    assert not packet.HasField("timestamp_clock_id") and not event.HasField("track_uuid")
    sequence.clock_ns += packet.timestamp
    now = sequence.clock_ns
    if event.type == TrackEvent.TYPE_COUNTER:
        assert tracks[uuid].HasField("counter")
        counters[tracks[uuid].name].append((now, event.double_counter_value))
    elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
        notes = {sequence.notes[it.name_iid]: it.uint_value for it in event.debug_annotations}
        flows = [*event.flow_ids, *event.terminating_flow_ids]
        is_last = bool(event.terminating_flow_ids)
        name = sequence.names[event.name_iid]
        begun = Slice(tracks[uuid].name, uuid, name, now, None, notes, flows, is_last)
        (sequence.open[-1].parts if sequence.open else slices).append(begun)
        sequence.open.append(begun)
    else:
        assert event.type == TrackEvent.TYPE_SLICE_END
        sequence.open.pop().end = now
