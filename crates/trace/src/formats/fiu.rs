//! Format `fiu`: the block traces of Florida International University (SNIA IOTTA).
//!
//! Rows `time pid process block size W|R major minor md5` between blanks: nanoseconds, sectors of
//! 512 bytes, sectors. A process may have blanks in its name. What was written is not looked at.

use reprieve_base::Entry;

use super::blktrace::{device_name, device_number};
use super::fields::{integer, letter, row_of_sectors, small_integer};
use super::{Format, PLAIN, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry { name: "fiu", doc: "FIU: ns pid process sector sectors W or R major minor md5." },
    has_devices: true,
    device_name,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let expected = "it needs time pid process block size W|R major minor md5";
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let (time, _) = (fields.next().ok_or(expected)?, fields.next().ok_or(expected)?);
    let mut last = || fields.next_back().ok_or(expected);
    let (_, minor, major, op, sectors, sector) =
        (last()?, last()?, last()?, last()?, last()?, last()?);
    if fields.next().is_none() {
        return Err(expected);
    }
    let time_ns = integer(time).ok_or("the time must be a whole number of nanoseconds")?;
    let sector = integer(sector).ok_or("the block must be a whole number")?;
    let sectors = integer(sectors).ok_or("the size must be a whole number of sectors")?;
    let op = letter(op)?;
    let device = small_integer(major)
        .zip(small_integer(minor))
        .and_then(|(major, minor)| device_number(major, minor))
        .ok_or("major and minor must be below 4096 and 1048576")?;
    row_of_sectors(time_ns, device, op, sector, sectors)
}
