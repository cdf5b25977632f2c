//! Format `mqsim`: the ASCII traces of the simulator MQSim.
//!
//! Rows `time device sector sectors type`: nanoseconds, sectors of 512 bytes, type 0 a write and
//! 1 a read. MQSim takes single blanks only and stops at a row of another number of fields;
//! blanks in any number are read here, and another number of fields is an error.

use std::io::Write;

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::fields::{bit, integer, read_or_write, row_of_sectors, small_integer, split_blanks};
use super::{Format, PLAIN, RawRequest, Row, Writer, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry { name: "mqsim", doc: "MQSim: ns device sector sectors type (0 write, 1 read)." },
    has_devices: true,
    new_parser: |_| Ok(lines(parse)),
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

/// Also of `ssdsim`, whose columns are the same.
pub(super) fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [time, device, sector, sectors, op] =
        split_blanks(line).ok_or("it needs five fields: time device sector sectors type")?;
    // With a point it is milliseconds, of which disksim's rows are.
    let time_ns = Some(time).filter(|time| !time.contains(&b'.')).and_then(integer);
    let time_ns = time_ns.ok_or(
        "the time must be a whole number of nanoseconds without a point; milliseconds with one are \
         of format disksim",
    )?;
    let device = small_integer(device).ok_or("the device must be a whole number")?;
    let sector = integer(sector).ok_or("the sector must be a whole number")?;
    let sectors = integer(sectors).ok_or("the length must be a whole number of sectors")?;
    let reads = bit(op).ok_or("the type must be 0 for a write or 1 for a read")?;
    let op = if reads { Op::Read } else { Op::Write };
    row_of_sectors(time_ns, device, op, sector, sectors)
}

/// Also of `ssdsim`.
pub(super) fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let op = read_or_write(raw.op, 1, 0)?;
    let (time_ns, device) = (raw.time_ns, raw.device);
    let sector = raw.offset_bytes / SECTOR_BYTES;
    let sectors = u64::from(raw.bytes) / SECTOR_BYTES;
    writeln!(out, "{time_ns} {device} {sector} {sectors} {op}")
        .expect("writing to memory does not fail");
    Ok(())
}
