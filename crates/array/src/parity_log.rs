//! The log of parity: a circle of bytes at the end of each drive.

use crate::layout::Part;
use crate::options::Options;

/// Bytes of the log on a drive, as the Linux driver md reserves them at most.
pub(crate) const LOG_BYTES: u64 = 1 << 20;

/// Bytes before the parity in an entry, as in md.
const HEADER_BYTES: u64 = 4096;

/// Where the next entry of each drive is written.
#[derive(Debug)]
pub(crate) struct ParityLog {
    first_byte: u64,
    next_bytes: Vec<u64>,
}

impl ParityLog {
    pub fn new(options: &Options, drive_bytes: u64) -> ParityLog {
        let first_byte = drive_bytes.saturating_sub(LOG_BYTES);
        ParityLog { first_byte, next_bytes: vec![0; options.drives] }
    }

    /// Returns the write of an entry for a write of parity.
    pub fn part(&mut self, parity: Part) -> Part {
        let bytes = (parity.bytes + HEADER_BYTES).min(LOG_BYTES);
        let next = &mut self.next_bytes[parity.drive];
        let at = if *next + bytes > LOG_BYTES { 0 } else { *next };
        *next = at + bytes;
        Part { drive: parity.drive, at_byte: self.first_byte + at, bytes }
    }
}
