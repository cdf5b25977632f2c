//! Format `disksim-validate`: the traces with which DiskSim's models were validated.
//!
//! Rows `R|W buffer block blocks service next`: what the disk's buffer did, blocks of 512 bytes
//! unless `sector_bytes` says otherwise, the measured service time and the time to the next request
//! in microseconds. The first request comes at 0.

use reprieve_base::{Entry, SECTOR_BYTES};

use super::fields::{decimal, integer, letter, row_of_blocks, split_blanks};
use super::{Format, PLAIN, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "disksim-validate",
        doc: "DiskSim's validate: R or W, buffer, block, blocks, service us, us to the next.",
    },
    options: &["sector_bytes"],
    new_parser: |context| {
        let sector_bytes = context.options.sector_bytes.unwrap_or(SECTOR_BYTES as u32);
        let mut now_ns = 0;
        Ok(lines(move |line| parse(line, sector_bytes, &mut now_ns)))
    },
    ..PLAIN
};

fn parse(line: &[u8], sector_bytes: u32, now_ns: &mut u64) -> Result<Row, &'static str> {
    let [op, _, block, blocks, service, next] =
        split_blanks(line).ok_or("it needs six fields: R|W buffer block blocks service next")?;
    let op = letter(op)?;
    let block = integer(block).ok_or("the block must be a whole number")?;
    let blocks = integer(blocks).ok_or("the length must be a whole number of blocks")?;
    decimal(service, 3).ok_or("the service time must be microseconds, such as 15362.00000")?;
    let next_ns = decimal(next, 3).ok_or("the time to the next must be microseconds")?;
    let bytes = blocks.saturating_mul(sector_bytes.into());
    let row = row_of_blocks(*now_ns, 0, op, block, sector_bytes, bytes)?;
    *now_ns = now_ns.checked_add(next_ns).ok_or("the times must be below 584 years")?;
    Ok(row)
}
