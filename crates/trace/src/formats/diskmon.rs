//! Format `diskmon`: text saved by Sysinternals DiskMon on Windows.
//!
//! Rows of fields between tabs: number, seconds, duration, disk, `Read` or `Write`, sector,
//! sectors of 512 bytes. The clock ticks every 16 ms or so. Rows with sector numbers near 2^63
//! occur; no drive has them, and they are dropped.

use reprieve_base::{Entry, SECTOR_BYTES};

use super::fields::{decimal, integer, letter, row_of_sectors, small_integer, split};
use super::{ADDRESS_BYTES_MAX, DropReason, Format, PLAIN, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "diskmon",
        doc: "DiskMon text: number, seconds, duration, disk, Read or Write, sector, sectors.",
    },
    has_devices: true,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [_, time, _, disk, op, sector, sectors] =
        split(line, b'\t').ok_or("it needs seven fields between tabs")?;
    let time_ns = decimal(time, 9).ok_or("the time must be seconds, such as 0.016375")?;
    let disk = small_integer(disk).ok_or("the disk must be a whole number")?;
    let op = letter(op).map_err(|_| "the request must be Read or Write")?;
    let sector = integer(sector).ok_or("the sector must be a whole number")?;
    let sectors = integer(sectors).ok_or("the length must be a whole number of sectors")?;
    if sector >= ADDRESS_BYTES_MAX / SECTOR_BYTES {
        return Ok(Row::Drop(DropReason::AddressOutOfRange));
    }
    row_of_sectors(time_ns, disk, op, sector, sectors)
}
