//! Packets of a Perfetto trace: tracks, slices and counters, compressed continuously.
//!
//! The numbers of fields are those of `protos/perfetto/trace` of the Perfetto project, whose format
//! is stable. Every track is a separate sequence of packets, with a clock that counts from packet
//! to packet, so that tracks need no order among each other.

use flate2::{Compress, Compression, FlushCompress, Status};
use reprieve_base::Time;

use super::names::{Name, Note, names, notes};
use super::proto::{ProtoMessage, put_bytes};

/// Bytes of packets in a compressed block.
const CHUNK_BYTES: usize = 1 << 18;

/// Field numbers, message by message.
mod field {
    pub const TRACE_PACKET: u32 = 1;

    pub const PACKET_CLOCK_SNAPSHOT: u32 = 6;
    pub const PACKET_TIMESTAMP: u32 = 8;
    pub const PACKET_SEQUENCE: u32 = 10;
    pub const PACKET_TRACK_EVENT: u32 = 11;
    pub const PACKET_INTERNED: u32 = 12;
    pub const PACKET_FLAGS: u32 = 13;
    pub const PACKET_COMPRESSED: u32 = 50;
    pub const PACKET_CLOCK: u32 = 58;
    pub const PACKET_DEFAULTS: u32 = 59;
    pub const PACKET_DESCRIPTOR: u32 = 60;

    pub const DEFAULTS_TRACK_EVENT: u32 = 11;
    pub const DEFAULTS_CLOCK: u32 = 58;

    pub const SNAPSHOT_CLOCK: u32 = 1;
    pub const CLOCK_ID: u32 = 1;
    pub const CLOCK_TIMESTAMP: u32 = 2;
    pub const CLOCK_IS_INCREMENTAL: u32 = 3;

    pub const INTERNED_EVENT_NAME: u32 = 2;
    pub const INTERNED_NOTE_NAME: u32 = 3;
    pub const INTERNED_IID: u32 = 1;
    pub const INTERNED_TEXT: u32 = 2;

    pub const EVENT_NOTE: u32 = 4;
    pub const EVENT_TYPE: u32 = 9;
    pub const EVENT_NAME: u32 = 10;
    pub const EVENT_TRACK: u32 = 11;
    pub const EVENT_VALUE: u32 = 44;
    pub const EVENT_FLOW: u32 = 47;
    pub const EVENT_LAST_FLOW: u32 = 48;
    pub const NOTE_NAME: u32 = 1;
    pub const NOTE_NUMBER: u32 = 3;

    pub const DESCRIPTOR_UUID: u32 = 1;
    pub const DESCRIPTOR_NAME: u32 = 2;
    pub const DESCRIPTOR_PARENT: u32 = 5;
    pub const DESCRIPTOR_COUNTER: u32 = 8;
    pub const DESCRIPTOR_CHILD_ORDER: u32 = 11;
    pub const DESCRIPTOR_RANK: u32 = 12;
    pub const COUNTER_UNIT: u32 = 3;
    pub const COUNTER_UNIT_NAME: u32 = 6;
}

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const COUNTER: u64 = 4;
const STATE_CLEARED: u64 = 1;
const STATE_NEEDED: u64 = 2;
/// The clock of a trace, and the incremental one of a sequence.
const CLOCK_BOOT: u64 = 6;
const CLOCK_INCREMENTAL: u64 = 64;
const UNIT_COUNT: u64 = 2;
/// Children are in the order of their ranks.
const ORDER_EXPLICIT: u64 = 3;

/// The sequence in which tracks are described.
const DESCRIPTIONS: u64 = 1;

/// Units of counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterUnit {
    /// A count.
    Count,
    /// Milliwatts.
    Milliwatts,
}

/// A track, which is a sequence of packets as well.
#[derive(Clone, Debug)]
pub struct Track {
    /// Number of the track and of its sequence.
    number: u64,
    /// Time of its last packet, if any.
    last: Option<Time>,
}

/// A number with its name.
pub type Annotation = (Note, u64);

/// Arrows between slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowArrow {
    /// None.
    None,
    /// From the one before it and to the one after it, if any.
    Through(u64),
    /// From the one before it.
    Last(u64),
}

/// The packets of a trace.
pub struct Trace {
    tracks: u64,
    pending: Vec<u8>,
    packed: Vec<u8>,
    packer: Compress,
    event: ProtoMessage,
    note: ProtoMessage,
    packet: ProtoMessage,
    /// Number of slices.
    pub slices: u64,
}

impl Trace {
    pub fn new() -> Trace {
        Trace {
            tracks: DESCRIPTIONS,
            pending: Vec::with_capacity(CHUNK_BYTES + 1024),
            packed: Vec::new(),
            packer: Compress::new(Compression::fast(), true),
            event: ProtoMessage::new(),
            note: ProtoMessage::new(),
            packet: ProtoMessage::new(),
            slices: 0,
        }
    }

    /// Creates a track under another, at this rank among its siblings.
    pub fn track(&mut self, name: &str, parent: Option<&Track>, rank: u64) -> Track {
        self.describe(name, parent, rank, None)
    }

    /// Creates a track of a counter.
    pub fn counter(&mut self, name: &str, parent: &Track, rank: u64, unit: CounterUnit) -> Track {
        let mut counter = ProtoMessage::new();
        match unit {
            CounterUnit::Count => counter.number(field::COUNTER_UNIT, UNIT_COUNT),
            CounterUnit::Milliwatts => counter.text(field::COUNTER_UNIT_NAME, "mW"),
        }
        self.describe(name, Some(parent), rank, Some(&counter))
    }

    fn describe(
        &mut self,
        name: &str,
        parent: Option<&Track>,
        rank: u64,
        counter: Option<&ProtoMessage>,
    ) -> Track {
        self.tracks += 1;
        let mut descriptor = ProtoMessage::new();
        descriptor.number(field::DESCRIPTOR_UUID, self.tracks);
        descriptor.text(field::DESCRIPTOR_NAME, name);
        if let Some(parent) = parent {
            descriptor.number(field::DESCRIPTOR_PARENT, parent.number);
        }
        if let Some(counter) = counter {
            descriptor.message(field::DESCRIPTOR_COUNTER, counter);
        }
        descriptor.number(field::DESCRIPTOR_CHILD_ORDER, ORDER_EXPLICIT);
        descriptor.number(field::DESCRIPTOR_RANK, rank);
        self.packet.clear();
        self.packet.number(field::PACKET_SEQUENCE, DESCRIPTIONS);
        self.packet.message(field::PACKET_DESCRIPTOR, &descriptor);
        self.put_packet();
        Track { number: self.tracks, last: None }
    }

    /// Starts a slice on a track, not before its last packet.
    #[inline]
    pub fn begin(
        &mut self,
        track: &mut Track,
        at: Time,
        name: Name,
        notes: &[Annotation],
        flow: FlowArrow,
    ) {
        self.slices += 1;
        self.event.clear();
        self.event.number(field::EVENT_TYPE, SLICE_BEGIN);
        self.event.number(field::EVENT_NAME, name.iid());
        for (note, value) in notes {
            self.note.clear();
            self.note.number(field::NOTE_NAME, note.iid());
            self.note.number(field::NOTE_NUMBER, *value);
            self.event.message(field::EVENT_NOTE, &self.note);
        }
        match flow {
            FlowArrow::None => {}
            FlowArrow::Through(id) => self.event.fixed(field::EVENT_FLOW, id),
            FlowArrow::Last(id) => self.event.fixed(field::EVENT_LAST_FLOW, id),
        }
        self.put_event(track, at);
    }

    /// Ends the last open slice.
    #[inline]
    pub fn end(&mut self, track: &mut Track, at: Time) {
        self.event.clear();
        self.event.number(field::EVENT_TYPE, SLICE_END);
        self.put_event(track, at);
    }

    /// Draws a slice without inner slices.
    pub fn slice(
        &mut self,
        track: &mut Track,
        (from, to): (Time, Time),
        name: Name,
        notes: &[Annotation],
    ) {
        self.begin(track, from, name, notes, FlowArrow::None);
        self.end(track, to);
    }

    /// Sets a counter to this value.
    pub fn measure(&mut self, track: &mut Track, at: Time, value: f64) {
        self.event.clear();
        self.event.number(field::EVENT_TYPE, COUNTER);
        self.event.double(field::EVENT_VALUE, value);
        self.put_event(track, at);
    }

    /// Puts the event into a packet of its track.
    #[inline]
    fn put_event(&mut self, track: &mut Track, at: Time) {
        let last = match track.last {
            Some(last) => last,
            None => self.open(track),
        };
        self.packet.clear();
        self.packet.number(field::PACKET_TIMESTAMP, (at - last).ns());
        self.packet.number(field::PACKET_SEQUENCE, track.number);
        self.packet.number(field::PACKET_FLAGS, STATE_NEEDED);
        self.packet.message(field::PACKET_TRACK_EVENT, &self.event);
        track.last = Some(at);
        self.put_packet();
    }

    /// Writes the first packet of a sequence: its clock, its track, and all names.
    #[cold]
    fn open(&mut self, track: &Track) -> Time {
        let mut inner = ProtoMessage::new();
        let mut snapshot = ProtoMessage::new();
        for clock in [CLOCK_BOOT, CLOCK_INCREMENTAL] {
            inner.clear();
            inner.number(field::CLOCK_ID, clock);
            inner.number(field::CLOCK_TIMESTAMP, 0);
            if clock == CLOCK_INCREMENTAL {
                inner.number(field::CLOCK_IS_INCREMENTAL, 1);
            }
            snapshot.message(field::SNAPSHOT_CLOCK, &inner);
        }
        let mut defaults = ProtoMessage::new();
        inner.clear();
        inner.number(field::EVENT_TRACK, track.number);
        defaults.message(field::DEFAULTS_TRACK_EVENT, &inner);
        defaults.number(field::DEFAULTS_CLOCK, CLOCK_INCREMENTAL);
        let mut interned = ProtoMessage::new();
        for (iid, name) in names() {
            intern(&mut interned, field::INTERNED_EVENT_NAME, iid, name);
        }
        for (iid, name) in notes() {
            intern(&mut interned, field::INTERNED_NOTE_NAME, iid, name);
        }
        self.packet.clear();
        self.packet.message(field::PACKET_CLOCK_SNAPSHOT, &snapshot);
        self.packet.number(field::PACKET_TIMESTAMP, 0);
        self.packet.number(field::PACKET_SEQUENCE, track.number);
        self.packet.message(field::PACKET_INTERNED, &interned);
        self.packet.number(field::PACKET_FLAGS, STATE_CLEARED);
        self.packet.number(field::PACKET_CLOCK, CLOCK_BOOT);
        self.packet.message(field::PACKET_DEFAULTS, &defaults);
        self.put_packet();
        Time::ZERO
    }

    #[inline]
    fn put_packet(&mut self) {
        put_bytes(&mut self.pending, field::TRACE_PACKET, self.packet.bytes());
        if self.pending.len() >= CHUNK_BYTES {
            self.pack();
        }
    }

    /// Compresses the pending packets into one.
    #[cold]
    fn pack(&mut self) {
        self.packer.reset();
        // Incompressible data grows by five bytes for each 16 KiB, and a few at the ends.
        let most_bytes = self.pending.len() + self.pending.len() / 1024 + 64;
        let mut packed = Vec::with_capacity(most_bytes);
        let status = self.packer.compress_vec(&self.pending, &mut packed, FlushCompress::Finish);
        assert_eq!(status.expect("packing into memory"), Status::StreamEnd, "it all fits");
        self.pending.clear();
        let mut packet = Vec::with_capacity(packed.len() + 16);
        put_bytes(&mut packet, field::PACKET_COMPRESSED, &packed);
        put_bytes(&mut self.packed, field::TRACE_PACKET, &packet);
    }

    /// Takes the compressed bytes since the last call; with `all`, the rest as well.
    pub fn take(&mut self, all: bool) -> Vec<u8> {
        if all && !self.pending.is_empty() {
            self.pack();
        }
        std::mem::take(&mut self.packed)
    }
}

fn intern(interned: &mut ProtoMessage, table: u32, iid: u64, text: &str) {
    let mut entry = ProtoMessage::new();
    entry.number(field::INTERNED_IID, iid);
    entry.text(field::INTERNED_TEXT, text);
    interned.message(table, &entry);
}
