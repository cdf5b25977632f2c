//! Where chunks are, and which operations of drives a read or write of a stripe takes.

use std::ops::Range;

use crate::options::{MOST_CHUNK_BYTES, Options};

/// An operation of one drive: bytes from an address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub drive: usize,
    pub at_byte: u64,
    pub bytes: u64,
}

/// Stripes over drives. Column `c` of a stripe has its data chunk `c`; with parity, columns from
/// the number of data chunks on have that.
#[derive(Debug)]
pub(crate) struct Layout {
    drives: usize,
    pub parity: usize,
    mirrors: usize,
    pub chunk_bytes: u64,
    /// The stripes of each drive of which it has its chunk: those below this one.
    pub has_below: Vec<u64>,
    /// The stripes that writes reach: besides, those that are being rebuilt.
    pub written_below: Vec<u64>,
}

impl Layout {
    pub fn new(options: &Options) -> Layout {
        let &Options { drives, parity, mirrors, chunk_bytes, .. } = options;
        let below = |drive| if options.failed.contains(&drive) { 0 } else { u64::MAX };
        let has_below: Vec<u64> = (0..drives).map(below).collect();
        Layout { drives, parity, mirrors, chunk_bytes, written_below: has_below.clone(), has_below }
    }

    /// Data chunks of a stripe.
    fn data(&self) -> usize {
        self.drives / self.mirrors - self.parity
    }

    /// Bytes of data in a stripe.
    pub fn stripe_bytes(&self) -> u64 {
        self.data() as u64 * self.chunk_bytes
    }

    /// Whether a drive lacks its chunk of a stripe.
    pub fn lacks(&self, drive: usize, stripe: u64) -> bool {
        stripe >= self.has_below[drive]
    }

    fn is_written(&self, drive: usize, stripe: u64) -> bool {
        stripe < self.written_below[drive]
    }

    /// Appends the reads that give a drive's chunk of a stripe.
    pub fn rebuild(&self, stripe: u64, drive: usize, into: &mut Vec<Part>) {
        let span = 0..self.chunk_bytes;
        let has = |other: &usize| *other != drive && !self.lacks(*other, stripe);
        let part = |other| self.part(other, stripe, &span);
        let (first, drives, wanted) = match self.mirrors {
            1 => (0, self.drives, self.data()),
            mirrors => (drive - drive % mirrors, mirrors, 1),
        };
        into.extend((first..first + drives).filter(has).map(part).take(wanted));
    }

    /// The drive that logs the parity of a partial write.
    pub fn log_drive(&self, stripe: u64) -> Option<usize> {
        let drive = self.drive(stripe, self.data());
        self.is_written(drive, stripe).then_some(drive)
    }

    /// The drive of a column. Parity moves by one drive from stripe to stripe, from the last one
    /// down, and data follows it: left-symmetric, as the Linux driver md has it by default.
    fn drive(&self, stripe: u64, column: usize) -> usize {
        if self.parity == 0 {
            return column;
        }
        let turn = (stripe % self.drives as u64) as usize;
        let first_parity = self.drives - 1 - turn;
        let behind = if column < self.data() { column + self.parity } else { column - self.data() };
        (first_parity + behind) % self.drives
    }

    /// The drives that have a copy of a data chunk.
    fn copies(&self, stripe: u64, column: usize) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = match self.mirrors {
            1 => (self.drive(stripe, column), 1),
            mirrors => (column * mirrors, mirrors),
        };
        let turn = (stripe % count as u64) as usize;
        (0..count).map(move |copy| first + (turn + copy) % count)
    }

    /// The drive that serves reads of a data chunk: copies take turns; a failed one is skipped.
    pub fn reader(&self, stripe: u64, column: usize) -> usize {
        let mut copies = self.copies(stripe, column);
        let first = copies.next().expect("a chunk has a copy");
        std::iter::once(first)
            .chain(copies)
            .find(|copy| !self.lacks(*copy, stripe))
            .unwrap_or(first)
    }

    pub fn part(&self, drive: usize, stripe: u64, span: &Range<u64>) -> Part {
        let at_byte = stripe * self.chunk_bytes + span.start;
        Part { drive, at_byte, bytes: span.end - span.start }
    }

    /// Appends reads of other drives that give a span of a data chunk; false if too few drives are
    /// left without those that `skips` names.
    pub fn around(
        &self,
        stripe: u64,
        column: usize,
        span: &Range<u64>,
        skips: impl Fn(usize) -> bool,
        into: &mut Vec<Part>,
    ) -> bool {
        let reader = self.reader(stripe, column);
        let wanted = if self.mirrors > 1 { 1 } else { self.data() };
        let first = into.len();
        let usable =
            |drive: &usize| *drive != reader && !self.lacks(*drive, stripe) && !skips(*drive);
        let part = |drive| self.part(drive, stripe, span);
        if self.mirrors > 1 {
            into.extend(self.copies(stripe, column).filter(usable).map(part).take(wanted));
        } else {
            let columns = (0..self.drives).map(|column| self.drive(stripe, column));
            into.extend(columns.filter(usable).map(part).take(wanted));
        }
        let is_enough = into.len() - first == wanted;
        if !is_enough {
            into.truncate(first);
        }
        is_enough
    }

    /// Appends the trims of bytes; with parity those of whole stripes, as others would make the
    /// parity wrong.
    pub fn trim(&self, bytes: &Range<u64>, into: &mut Vec<Part>) {
        let (chunk, stripe) = (self.chunk_bytes, self.stripe_bytes());
        let (start, end) = match self.parity {
            0 => (bytes.start, bytes.end),
            _ => (bytes.start.next_multiple_of(stripe), bytes.end / stripe * stripe),
        };
        for drive in 0..self.drives {
            let before = if self.parity > 0 { 0 } else { (drive / self.mirrors) as u64 * chunk };
            let at = |byte: u64| {
                byte / stripe * chunk + (byte % stripe).saturating_sub(before).min(chunk)
            };
            let end = at(end).min(self.written_below[drive].saturating_mul(chunk));
            let mut at_byte = at(start);
            while at_byte < end {
                let bytes = MOST_CHUNK_BYTES.min(end - at_byte);
                into.push(Part { drive, at_byte, bytes });
                at_byte += bytes;
            }
        }
    }

    /// Appends a flush of each drive.
    pub fn flush(&self, into: &mut Vec<Part>) {
        let drives = (0..self.drives).filter(|drive| self.is_written(*drive, 0));
        into.extend(drives.map(|drive| Part { drive, at_byte: 0, bytes: 0 }));
    }

    /// Appends the reads that come before a write of bytes of a stripe's data, and its writes.
    ///
    /// Parity follows from the chunks that are not written (as they are), from the old data and
    /// parity, or from any chunks that give all old data; the fewest reads are taken, of equally
    /// many in this order.
    pub fn write(
        &self,
        stripe: u64,
        bytes: &Range<u64>,
        reads: &mut Vec<Part>,
        writes: &mut Vec<Part>,
    ) {
        let chunk = self.chunk_bytes;
        let (first, last) = (bytes.start / chunk, (bytes.end - 1) / chunk);
        let touched = first as usize..last as usize + 1;
        let written = |column: usize| {
            let start = column as u64 * chunk;
            bytes.start.max(start) - start..bytes.end.min(start + chunk) - start
        };
        for column in touched.clone() {
            let alive = self.copies(stripe, column).filter(|copy| self.is_written(*copy, stripe));
            writes.extend(alive.map(|copy| self.part(copy, stripe, &written(column))));
        }
        // The span of parity: all spans of data together, which is a chunk for two or more.
        let whole = if first == last { written(first as usize) } else { 0..chunk };
        let drive = |column| self.drive(stripe, column);
        let parities = (self.data()..self.data() + self.parity).map(drive);
        let parities: Vec<usize> =
            parities.filter(|drive| self.is_written(*drive, stripe)).collect();
        let part = |drive: usize| self.part(drive, stripe, &whole);
        writes.extend(parities.iter().copied().map(part));
        let rest = |column: usize| match touched.contains(&column).then(|| written(column)) {
            None => whole.clone(),
            Some(written) if written.start > whole.start => whole.start..written.start,
            Some(written) => written.end..whole.end,
        };
        let of = |column: usize, span: Range<u64>| self.part(drive(column), stripe, &span);
        let rests = (0..self.data()).map(|column| of(column, rest(column)));
        let mut rests = rests.filter(|part| part.bytes > 0).peekable();
        if parities.is_empty() || rests.peek().is_none() {
            return;
        }
        let old = touched.clone().map(|column| of(column, written(column)));
        let old = old.chain(parities.iter().copied().map(part));
        let works = |parts: &Vec<Part>| parts.iter().all(|part| !self.lacks(part.drive, stripe));
        let any = (0..self.drives).map(drive).filter(|drive| !self.lacks(*drive, stripe)).map(part);
        let ways = [rests.collect(), old.collect(), any.take(self.data()).collect()];
        reads.extend(ways.into_iter().filter(works).min_by_key(Vec::len).expect("any way works"));
    }
}

#[cfg(test)]
mod tests;
