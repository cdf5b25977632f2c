//! The journal of a drive: all its requests, in about a dozen bytes each.

use reprieve_base::{Op, Time};
use reprieve_ssd::Completion;

use crate::ask::Ask;

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];
const FUA: u8 = 4;
const ADVANCED: u8 = 8;

/// All requests, and the time of each submission.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    pub(crate) bytes: Vec<u8>,
    last: Last,
    /// Time has advanced since the last submission.
    pub(crate) has_advanced: bool,
    /// Checksum of all completions so far, to verify a replay.
    pub(crate) fingerprint: Fingerprint,
}

/// The previous entry, to which each entry is a difference.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    now: u64,
    end: u64,
    tag: u64,
}

/// A request of a journal, and the time of its submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The instant up to which everything was simulated; `None`: time was not advanced.
    pub(crate) now: Option<Time>,
    pub(crate) at: Time,
    pub(crate) ask: Ask,
}

impl Journal {
    /// Records that time was advanced, if only at one instant.
    #[inline]
    pub(crate) fn advanced(&mut self) {
        self.has_advanced = true;
    }

    pub(crate) fn completed(&mut self, done: &Completion) {
        self.fingerprint.add(&done.number.to_le_bytes());
        self.fingerprint.add(&done.completion.ns().to_le_bytes());
    }

    pub(crate) fn submitted(&mut self, now: Time, at: Time, ask: &Ask) {
        let Ask { tag, op, lba, bytes, fua } = *ask;
        let advanced = std::mem::take(&mut self.has_advanced);
        let head = op as u8 + u8::from(fua) * FUA + u8::from(advanced) * ADVANCED;
        self.bytes.push(head);
        if advanced {
            put(&mut self.bytes, now.ns() - self.last.now);
            self.last.now = now.ns();
        }
        put(&mut self.bytes, at.ns() - now.ns());
        put_difference(&mut self.bytes, lba, self.last.end);
        put(&mut self.bytes, u64::from(bytes / 512));
        put_difference(&mut self.bytes, tag, self.last.tag);
        self.last.end = lba + u64::from(bytes / 512);
        self.last.tag = tag;
    }

    /// Decodes the entries of a journal; `None` in place of a malformed one, which is the last.
    pub(crate) fn entries(bytes: &[u8]) -> impl Iterator<Item = Option<Entry>> + '_ {
        let (mut rest, mut last) = (bytes, Last::default());
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let entry = entry(&mut rest, &mut last);
            if entry.is_none() {
                rest = &[];
            }
            Some(entry)
        })
    }
}

fn entry(rest: &mut &[u8], last: &mut Last) -> Option<Entry> {
    let (head, after) = rest.split_first()?;
    *rest = after;
    let mut now = None;
    if head & ADVANCED > 0 {
        last.now = last.now.checked_add(take(rest)?)?;
        now = Some(Time::from_ns(last.now));
    }
    let at = Time::from_ns(last.now.checked_add(take(rest)?)?);
    let lba = take_difference(rest, last.end)?;
    let sectors = take(rest)?;
    let tag = take_difference(rest, last.tag)?;
    let bytes = u32::try_from(sectors.checked_mul(512)?).ok()?;
    last.end = lba.checked_add(sectors)?;
    last.tag = tag;
    let op = OPS[usize::from(head & 3)];
    Some(Entry { now, at, ask: Ask { tag, op, lba, bytes, fua: head & FUA > 0 } })
}

/// Appends a number, seven bits a byte.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front; `None` if there is none.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Some(number);
        }
    }
    None
}

/// Appends the difference of two numbers, short if they are close.
fn put_difference(bytes: &mut Vec<u8>, number: u64, from: u64) {
    let difference = number.wrapping_sub(from) as i64;
    put(bytes, ((difference << 1) ^ (difference >> 63)) as u64);
}

fn take_difference(bytes: &mut &[u8], from: u64) -> Option<u64> {
    let folded = take(bytes)?;
    Some(from.wrapping_add((folded >> 1) ^ (folded & 1).wrapping_neg()))
}

/// A running checksum: FNV-1a of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(pub(crate) u64);

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    pub(crate) fn of(bytes: &[u8]) -> Fingerprint {
        let mut all = Fingerprint::default();
        all.add(bytes);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_was_asked() {
        let ask = |tag, op, lba, bytes, fua| Ask { tag, op, lba, bytes, fua };
        let asked = [
            (false, 0, 5, ask(u64::MAX, Op::Read, 0, 512, false)),
            (true, 5, 5, ask(0, Op::Write, 1 << 50, 0xffff_fe00, true)),
            (true, 5, 1 << 62, ask(1 << 63, Op::Flush, 0, 0, false)),
            (false, 5, 6, ask(7, Op::Trim, 8, 4096, false)),
        ];
        let mut journal = Journal::default();
        for (advanced, now, at, ask) in &asked {
            journal.has_advanced = *advanced;
            journal.submitted(Time::from_ns(*now), Time::from_ns(*at), ask);
        }
        let read: Option<Vec<Entry>> = Journal::entries(&journal.bytes).collect();
        let expected = asked.map(|(advanced, now, at, ask)| Entry {
            now: advanced.then_some(Time::from_ns(now)),
            at: Time::from_ns(at),
            ask,
        });
        assert_eq!(read.expect("all of it can be read"), expected);
        let cut = &journal.bytes[..journal.bytes.len() - 1];
        assert_eq!(Journal::entries(cut).last(), Some(None));
    }

    #[test]
    fn a_fingerprint_is_that_of_the_published_algorithm() {
        // Two test vectors of FNV-1a's authors.
        assert_eq!(Fingerprint::of(b"").0, 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fingerprint::of(b"foobar").0, 0x8594_4171_f739_67e8);
    }
}
