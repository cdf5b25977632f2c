//! The split of a client's command into requests of the model: whole sectors of limited length.

use reprieve_base::{Op, Request, Time};

const SECTOR_BYTES: u64 = 512;
/// The longest request, as in real drives; a trim or a write of zeros may have 4 GiB, too much
/// for one instant.
const REQUEST_SECTORS_MAX: u64 = (1 << 20) / SECTOR_BYTES;

/// The rest of a command; the arrivals are not set.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    op: Op,
    fua: bool,
    /// Sectors from the first to before the last.
    first: u64,
    last: u64,
    is_flush_left: bool,
}

impl Split {
    /// Splits `bytes` bytes from `offset` on.
    ///
    /// Reads and writes cover every sector that they touch, trims only whole sectors.
    pub fn of(op: Op, offset: u64, bytes: u64, fua: bool) -> Split {
        // A flush covers everything, whatever its fields say.
        let bytes = if op == Op::Flush { 0 } else { bytes };
        let (first, last) = match op {
            _ if bytes == 0 => (0, 0),
            Op::Trim => (offset.div_ceil(SECTOR_BYTES), (offset + bytes) / SECTOR_BYTES),
            _ => (offset / SECTOR_BYTES, (offset + bytes).div_ceil(SECTOR_BYTES)),
        };
        Split { op, fua, first, last, is_flush_left: op == Op::Flush }
    }

    /// Returns the next request without taking it.
    pub fn peek(&self) -> Option<Request> {
        let (arrival, op) = (Time::ZERO, self.op);
        if self.is_flush_left {
            return Some(Request { arrival, op, lba: 0, bytes: 0, fua: false });
        }
        let sectors = self.last.saturating_sub(self.first).min(REQUEST_SECTORS_MAX);
        let bytes = (sectors * SECTOR_BYTES) as u32;
        let request = Request { arrival, op, lba: self.first, bytes, fua: self.fua };
        (sectors > 0).then_some(request)
    }
}

impl Iterator for Split {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let next = self.peek();
        if !std::mem::take(&mut self.is_flush_left) {
            self.first += REQUEST_SECTORS_MAX;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(op: Op, offset: u64, bytes: u64) -> Vec<(u64, u32)> {
        let split = Split::of(op, offset, bytes, false);
        split.map(|request| (request.lba, request.bytes)).collect()
    }

    #[test]
    fn the_model_gets_whole_sectors() {
        assert_eq!(ranges(Op::Read, 511, 2), [(0, 1024)]);
        assert_eq!(ranges(Op::Write, 512, 512), [(1, 512)]);
        assert_eq!(ranges(Op::Trim, 511, 1026), [(1, 1024)]);
        assert_eq!(ranges(Op::Trim, 1, 510), []);
        assert_eq!(ranges(Op::Read, 700, 0), []);
        assert_eq!(ranges(Op::Flush, 0, 0), [(0, 0)]);
        assert_eq!(ranges(Op::Flush, u64::MAX, u64::MAX), [(0, 0)]);
        assert_eq!(ranges(Op::Read, 0, (1 << 20) + 1), [(0, 1 << 20), (2048, 512)]);
        // 2^32 - 1 bytes: 8,388,607 whole sectors, 4,096 requests, the last a sector short.
        let whole = ranges(Op::Trim, 0, u64::from(u32::MAX));
        assert_eq!(whole.len(), 4096);
        assert_eq!(whole[4095], (4095 * 2048, (1 << 20) - 512));
    }
}
