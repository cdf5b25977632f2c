//! Requests to an array, and their completions.

use reprieve_base::{Op, SECTOR_BYTES, Time, UserError};
use reprieve_embed::LAST;

/// A read, write, trim or flush of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it reaches the array.
    pub arrival: Time,
    /// Operation, none of those of zones.
    pub op: Op,
    /// First byte, a multiple of 512; 0 of a flush.
    pub offset: u64,
    /// Length in bytes, a multiple of 512; 0 of a flush.
    pub bytes: u64,
}

impl Request {
    /// Returns the reason why an array of `capacity` bytes cannot take the request at `now`.
    pub(crate) fn wrong(&self, now: Time, capacity: u64) -> Option<UserError> {
        let Request { arrival, op, offset, bytes } = *self;
        let (at, is_late) = (arrival.ns(), arrival > Time::from_ns(LAST.ns() / 2));
        let what = if arrival < now {
            format!("arrival_ns = {at}: the array is at {} ns; must not be earlier", now.ns())
        } else if is_late {
            format!("arrival_ns = {at}: must be at most 2^61")
        } else if op > Op::Flush {
            format!("op = \"{}\": an array reads, writes, trims and flushes", op.name())
        } else if op == Op::Flush && (offset, bytes) == (0, 0) {
            return None;
        } else if op == Op::Flush {
            format!("bytes = {bytes} at offset = {offset}: a flush has neither; must be 0")
        } else if bytes == 0 || bytes % SECTOR_BYTES > 0 {
            format!("bytes = {bytes}: must be a positive multiple of 512")
        } else if offset % SECTOR_BYTES > 0 {
            format!("offset = {offset}: must be a multiple of 512")
        } else if offset > capacity || bytes > capacity - offset {
            format!("{bytes} bytes at offset = {offset}: the array has {capacity} bytes")
        } else {
            return None;
        };
        Some(UserError::new(what))
    }
}

/// A request with its completion and the operations of drives that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The request.
    pub request: Request,
    /// When it was complete.
    pub completion: Time,
    /// Reads of drives, of hedges as well.
    pub reads: u32,
    /// Writes of drives.
    pub writes: u32,
    /// Chunks that were read from other drives at once.
    pub reconstructed: u32,
    /// Chunks that were read from other drives as well, after some time.
    pub hedged: u32,
    pub(crate) open_pieces: u32,
}

impl Row {
    pub(crate) fn of(request: Request) -> Row {
        let (completion, reads, writes, reconstructed, hedged) = (Time::ZERO, 0, 0, 0, 0);
        Row { request, completion, reads, writes, reconstructed, hedged, open_pieces: 0 }
    }
}
