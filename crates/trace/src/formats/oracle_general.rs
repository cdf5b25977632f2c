//! Format `oracle-general`: binary traces of the cache simulator libCacheSim.
//!
//! Records of 24 bytes, little-endian and packed: seconds (32 bits), object (64), bytes (32), and
//! the number of the request that asks for the object next (64; -1 or the greatest for none). Of
//! block traces an object is a block, whose size `sector_bytes` says. There is no operation, so
//! that `row_op` must name one; the rows of a second are spread over it unless `same_second`
//! says otherwise.

use reprieve_base::{Entry, Op};

use super::binary::{i64_le, u32_le, u64_le};
use super::fields::row_of_blocks;
use super::{Context, Format, PLAIN, Parser, Step, records};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "oracle-general",
        doc: "libCacheSim's oracleGeneral: seconds, block, bytes; row_op says what it does.",
    },
    options: &["row_op", "sector_bytes", "same_second"],
    whole_seconds: true,
    new_parser,
    ..PLAIN
};

const RECORD_BYTES: usize = 24;

/// Far above the requests of any trace, and far below text or times taken for a number.
const REQUESTS_MAX: i64 = 1 << 48;

fn new_parser(context: &Context) -> Result<Parser, String> {
    let op = context.options.row_op.ok_or("has no operations; give row_op, read or write")?;
    let sector_bytes = sector_bytes(context);
    Ok(records(move |bytes| step(bytes, op, sector_bytes)))
}

/// Bytes of a block, also of `oracle-general-opns`.
pub(super) fn sector_bytes(context: &Context) -> u32 {
    context.options.sector_bytes.unwrap_or(reprieve_base::SECTOR_BYTES as u32)
}

fn step(bytes: &[u8], op: Op, sector_bytes: u32) -> Result<Step, &'static str> {
    if bytes.len() < RECORD_BYTES {
        return Ok(Step::Needs(RECORD_BYTES));
    }
    check_next(i64_le(bytes, 16))?;
    let time_ns = u64::from(u32_le(bytes, 0)) * 1_000_000_000;
    let (block, length) = (u64_le(bytes, 4), u32_le(bytes, 12).into());
    let row = row_of_blocks(time_ns, 0, op, block, sector_bytes, length)?;
    Ok(Step::Record(row, RECORD_BYTES))
}

/// Refuses what cannot be the number of a later request.
pub(super) fn check_next(next: i64) -> Result<(), &'static str> {
    if next == -1 || next == i64::MAX || (1..REQUESTS_MAX).contains(&next) {
        return Ok(());
    }
    Err("the next access must be the number of a request, or -1 for none")
}
