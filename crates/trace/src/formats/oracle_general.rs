//! Formats `oracle-general` and `oracle-general-opns`: binary traces of the cache simulator
//! libCacheSim, without and with an operation and a name space, which is the device.
//!
//! Records of 24 or 27 bytes, little-endian and packed: seconds (32 bits), object (64), bytes (32),
//! in the longer ones operation (8) and name space (16), and the number of the next request for
//! the object (64; -1 or the greatest for none). Of block traces an object is a block of
//! `sector_bytes`. The rows of a second are spread over it unless `same_second` says otherwise.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::binary::{i64_le, u16_le, u32_le, u64_le};
use super::fields::row_of_bytes;
use super::{Context, DropReason, Format, PLAIN, Parser, Row, Step, records};

pub(super) const ENTRIES: [Format; 2] = [
    Format {
        entry: Entry {
            name: "oracle-general",
            doc: "libCacheSim's oracleGeneral: seconds, block, bytes; row_op says what it does.",
        },
        options: &["row_op", "sector_bytes", "same_second"],
        whole_seconds: true,
        new_parser: |context| {
            let op = context.options.row_op;
            let op = op.ok_or("has no operations; give row_op, read or write")?;
            Ok(parser(context, Some(op)))
        },
        ..PLAIN
    },
    Format {
        entry: Entry {
            name: "oracle-general-opns",
            doc: "libCacheSim's oracleGeneralOpNS: seconds, block, bytes, operation, name space.",
        },
        has_devices: true,
        options: &["sector_bytes", "same_second"],
        whole_seconds: true,
        new_parser: |context| Ok(parser(context, None)),
        ..PLAIN
    },
];

/// Far above the requests of any trace, and far below text or times taken for a number.
const REQUESTS_MAX: i64 = 1 << 48;

/// A parser of records without an operation, which is given, or of those with one.
fn parser(context: &Context, op: Option<Op>) -> Parser {
    let sector_bytes = context.options.sector_bytes.map_or(SECTOR_BYTES, u64::from);
    records(move |bytes| step(bytes, op, sector_bytes))
}

fn step(bytes: &[u8], op: Option<Op>, sector_bytes: u64) -> Result<Step, &'static str> {
    let record_bytes = if op.is_some() { 24 } else { 27 };
    if bytes.len() < record_bytes {
        return Ok(Step::Needs(record_bytes));
    }
    let next = i64_le(bytes, record_bytes - 8);
    if next != -1 && next != i64::MAX && !(1..REQUESTS_MAX).contains(&next) {
        return Err("the next access must be the number of a request, or -1 for none");
    }
    let (op, device) = match op {
        Some(op) => (Some(op), 0),
        None => (operation(bytes[16])?, u16_le(bytes, 17).into()),
    };
    let Some(op) = op else {
        return Ok(Step::Record(Row::Drop(DropReason::NeitherReadNorWrite), record_bytes));
    };
    let time_ns = u64::from(u32_le(bytes, 0)) * 1_000_000_000;
    let offset_bytes = u64_le(bytes, 4).saturating_mul(sector_bytes);
    let row = row_of_bytes(time_ns, device, op, offset_bytes, u32_le(bytes, 12).into())?;
    Ok(Step::Record(row, record_bytes))
}

/// An operation of libCacheSim: 1 and 2 get, 3 to 8 set in one way or another, 9 deletes, 10 and
/// 11 count up or down, 12 reads, 13 writes, 14 updates.
fn operation(code: u8) -> Result<Option<Op>, &'static str> {
    match code {
        1 | 2 | 12 => Ok(Some(Op::Read)),
        3..=8 | 10 | 11 | 13 | 14 => Ok(Some(Op::Write)),
        9 => Ok(Some(Op::Trim)),
        0 | 255 => Ok(None),
        _ => Err("the operation must be from 0 to 14, or 255 for none"),
    }
}
