//! Format `k5cloud`: the block traces of Fujitsu's K5 cloud (SNIA IOTTA).
//!
//! Rows `volume,seconds,R or W,offset,length`: a number, seconds with a fraction, bytes, bytes.

use reprieve_base::Entry;

use super::fields::{decimal, integer, letter, row_of_bytes, small_integer, split};
use super::{Format, PLAIN, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry { name: "k5cloud", doc: "Fujitsu K5 cloud: volume,seconds,R or W,offset,bytes." },
    has_devices: true,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [volume, time, op, offset, bytes] =
        split(line, b',').ok_or("it needs volume,seconds,R or W,offset,length")?;
    let volume = small_integer(volume).ok_or("the volume must be a whole number")?;
    let time_ns = decimal(time, 9).ok_or("the time must be seconds, such as 86400.121837")?;
    let op = letter(op)?;
    let offset_bytes = integer(offset).ok_or("the offset must be a whole number of bytes")?;
    let bytes = integer(bytes).ok_or("the length must be a whole number of bytes")?;
    row_of_bytes(time_ns, volume, op, offset_bytes, bytes)
}
