//! Format `arc`: the `.lis` traces with which the ARC cache policy was published (Megiddo and
//! Modha, FAST 2003).
//!
//! Rows `start_block blocks ignored sequence`. There is neither a time nor an operation: a scenario
//! must give both, by `row_interval_us` and `row_op`. Blocks have 512 bytes unless `sector_bytes`
//! says otherwise.

use super::fields::{Rhythm, integer, row_of_blocks, split_blanks};
use super::{Context, Format, PLAIN, Parser, lines};
use reprieve_base::{Entry, SECTOR_BYTES};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "arc",
        doc: "ARC's .lis: block blocks ignored number; the scenario gives operation and time.",
    },
    options: &["row_op", "row_interval_us", "sector_bytes"],
    new_parser,
    ..PLAIN
};

fn new_parser(context: &Context) -> Result<Parser, String> {
    let options = &context.options;
    let (Some(op), Some(interval)) = (options.row_op, options.row_interval) else {
        let what = "has neither operations nor times; give both row_op and row_interval_us";
        return Err(what.to_string());
    };
    let sector_bytes = options.sector_bytes.unwrap_or(SECTOR_BYTES as u32);
    let mut rhythm = Rhythm::new(interval);
    Ok(lines(move |line| {
        let [block, blocks, _, number] =
            split_blanks(line).ok_or("it needs four fields: block blocks ignored number")?;
        let block = integer(block).ok_or("the block must be a whole number")?;
        let blocks = integer(blocks).ok_or("the length must be a whole number of blocks")?;
        integer(number).ok_or("the number must be a whole number")?;
        let bytes = blocks.saturating_mul(sector_bytes.into());
        row_of_blocks(rhythm.next_ns()?, 0, op, block, sector_bytes, bytes)
    }))
}
