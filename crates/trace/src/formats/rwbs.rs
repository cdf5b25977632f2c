//! The letters by which Linux's block layer says what a request is (`blk_fill_rwbs`, up to 6.19).

use reprieve_base::{Op, SECTOR_BYTES};

use super::fields::{flush, row_of_bytes};
use super::{DropReason, Row};

/// The letters of a request, decoded.
struct Rwbs {
    /// `None`: neither read nor write nor discard.
    op: Option<Op>,
    flushes: bool,
    fua: bool,
}

/// The letters of operations, the longer before those that they begin with.
///
/// A zone that is reset has lost its data, and zeroes are written without data: both are trims, as
/// a server's are. Opening, closing or finishing a zone moves nothing.
const OPERATIONS: [(&[u8], Option<Op>); 12] = [
    (b"WZ", Some(Op::Trim)),
    (b"ZRA", Some(Op::Trim)),
    (b"ZR", Some(Op::Trim)),
    (b"ZA", Some(Op::Write)),
    (b"ZF", None),
    (b"ZO", None),
    (b"ZC", None),
    (b"R", Some(Op::Read)),
    (b"W", Some(Op::Write)),
    // The E says that the erase is to be secure.
    (b"DE", Some(Op::Trim)),
    (b"D", Some(Op::Trim)),
    (b"N", None),
];

/// Behind the operation: forced unit access, read ahead, synchronous, metadata, barrier, atomic.
const FLAGS: &[u8] = b"FASMBU";

impl Rwbs {
    /// `None`: the letters are of no kernel that is known.
    fn of(letters: &[u8]) -> Option<Rwbs> {
        let (flushes, rest) = match letters.strip_prefix(b"F") {
            Some(rest) => (true, rest),
            None => (false, letters),
        };
        let known = OPERATIONS.iter().find_map(|(name, op)| Some((*op, rest.strip_prefix(*name)?)));
        let (op, flags) = known.or(flushes.then_some((None, rest)))?;
        let are_known = flags.iter().all(|letter| FLAGS.contains(letter));
        are_known.then_some(Rwbs { op, flushes, fua: flags.contains(&b'F') })
    }
}

/// The row of an event; a request without an address has no place, of sector and sectors.
pub(super) fn row(
    time_ns: u64,
    device: u32,
    letters: &[u8],
    place: Option<(u64, u64)>,
) -> Result<Row, &'static str> {
    let Some(rwbs) = Rwbs::of(letters) else { return Ok(Row::Drop(DropReason::UnknownEvent)) };
    let Some((sector, sectors)) = place else {
        return match rwbs.op {
            _ if rwbs.flushes => Ok(flush(time_ns, device)),
            None => Ok(Row::Drop(DropReason::NeitherReadNorWrite)),
            Some(_) => Err("the place must be sector + sectors"),
        };
    };
    let op = match rwbs.op {
        Some(op) if sectors > 0 || !rwbs.flushes => op,
        _ if rwbs.flushes => return Ok(flush(time_ns, device)),
        _ => return Ok(Row::Drop(DropReason::NeitherReadNorWrite)),
    };
    let [offset_bytes, bytes] = [sector, sectors].map(|count| count.saturating_mul(SECTOR_BYTES));
    Ok(row_of_bytes(time_ns, device, op, offset_bytes, bytes)?.with_fua(rwbs.fua))
}
