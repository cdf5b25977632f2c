//! Format `oracle-general-opns`: `oracle-general` with an operation and a name space.
//!
//! Records of 27 bytes: an operation (8 bits) and a name space (16 bits), which is the device,
//! stand between the bytes and the next access. Operations are libCacheSim's: 1 and 2 get, 3 to
//! 8 set in one way or another, 9 delete, 10 and 11 count up or down, 12 read, 13 write, 14 update.

use reprieve_base::{Entry, Op};

use super::binary::{i64_le, u16_le, u32_le, u64_le};
use super::fields::row_of_blocks;
use super::oracle_general::{check_next, sector_bytes};
use super::{DropReason, Format, PLAIN, Row, Step, records};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "oracle-general-opns",
        doc: "libCacheSim's oracleGeneralOpNS: seconds, block, bytes, operation, name space.",
    },
    has_devices: true,
    options: &["sector_bytes", "same_second"],
    whole_seconds: true,
    new_parser: |context| {
        let sector_bytes = sector_bytes(context);
        Ok(records(move |bytes| step(bytes, sector_bytes)))
    },
    ..PLAIN
};

const RECORD_BYTES: usize = 27;

fn step(bytes: &[u8], sector_bytes: u32) -> Result<Step, &'static str> {
    if bytes.len() < RECORD_BYTES {
        return Ok(Step::Needs(RECORD_BYTES));
    }
    check_next(i64_le(bytes, 19))?;
    let op = match bytes[16] {
        1 | 2 | 12 => Op::Read,
        3..=8 | 10 | 11 | 13 | 14 => Op::Write,
        9 => Op::Trim,
        0 | 255 => {
            return Ok(Step::Record(Row::Drop(DropReason::NeitherReadNorWrite), RECORD_BYTES));
        }
        _ => return Err("the operation must be from 0 to 14, or 255 for none"),
    };
    let time_ns = u64::from(u32_le(bytes, 0)) * 1_000_000_000;
    let (block, length) = (u64_le(bytes, 4), u32_le(bytes, 12).into());
    let device = u16_le(bytes, 17).into();
    let row = row_of_blocks(time_ns, device, op, block, sector_bytes, length)?;
    Ok(Step::Record(row, RECORD_BYTES))
}
