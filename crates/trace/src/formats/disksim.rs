//! Format `disksim`: the ASCII traces of the simulator DiskSim (manual of version 4.0, 4.1.1).
//!
//! Rows `time device block blocks flags`: milliseconds with a fraction, blocks of 512 bytes
//! unless `sector_bytes` says otherwise, flags in hexadecimal, of which bit 0 says read.

use std::io::Write;

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::fields::{
    decimal, hexadecimal, integer, read_or_write, row_of_blocks, small_integer, split_blanks,
};
use super::{Format, PLAIN, RawRequest, Row, Writer, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "disksim",
        doc: "DiskSim ASCII: ms device block blocks flags (hexadecimal, bit 0: read).",
    },
    has_devices: true,
    // Without a fraction in the times and with no flag but the read bit, it is a row of mqsim.
    reads_like: Some("mqsim"),
    guess: Some(
        "format disksim was found by its columns alone: that times are milliseconds and addresses \
         sectors is a guess; for seconds give columns = \
         \"time_s,device,sector,sectors,flags_hex\", else name the format",
    ),
    options: &["sector_bytes"],
    new_parser: |context| {
        let sector_bytes = context.options.sector_bytes.unwrap_or(SECTOR_BYTES as u32);
        Ok(lines(move |line| parse(line, sector_bytes)))
    },
    writer: Some(Writer {
        heading: "",
        row: write,
        tick_ns: 1,
        whole_sectors: true,
        holds_fua: false,
        holds_devices: true,
    }),
    ..PLAIN
};

/// Bit 0 of the flags.
const FLAG_READ: u64 = 1;

fn parse(line: &[u8], sector_bytes: u32) -> Result<Row, &'static str> {
    let [time, device, block, blocks, flags] =
        split_blanks(line).ok_or("it needs five fields: time device block blocks flags")?;
    let time_ns = decimal(time, 6).ok_or("the time must be milliseconds, such as 5265.313")?;
    let device = small_integer(device).ok_or("the device must be a whole number")?;
    let block = integer(block).ok_or("the block must be a whole number")?;
    let blocks = integer(blocks).ok_or("the length must be a whole number of blocks")?;
    let flags = hexadecimal(flags).ok_or("the flags must be a hexadecimal number")?;
    let op = if flags & FLAG_READ == 0 { Op::Write } else { Op::Read };
    let bytes = blocks.saturating_mul(sector_bytes.into());
    row_of_blocks(time_ns, device, op, block, sector_bytes, bytes)
}

fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let flags = read_or_write(raw.op, FLAG_READ, 0)?;
    let (ms, ns) = (raw.time_ns / 1_000_000, raw.time_ns % 1_000_000);
    let (device, block) = (raw.device, raw.offset_bytes / SECTOR_BYTES);
    let blocks = u64::from(raw.bytes) / SECTOR_BYTES;
    writeln!(out, "{ms}.{ns:06} {device} {block} {blocks} {flags:x}")
        .expect("writing to memory does not fail");
    Ok(())
}
