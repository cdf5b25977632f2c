//! Format `alibaba`: the block traces of Alibaba Cloud (2020, CC-BY 4.0).
//!
//! Rows `device_id,opcode,offset,length,timestamp` without a heading: the number of a virtual
//! disk, `R` or `W`, bytes, bytes, microseconds of Unix time.

use reprieve_base::Entry;

use super::fields::{integer, letter, row_of_bytes, small_integer, split};
use super::{Format, PLAIN, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "alibaba",
        doc: "Alibaba block traces: device,R or W,offset,bytes,microseconds.",
    },
    has_devices: true,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [device, op, offset, bytes, time] =
        split(line, b',').ok_or("it needs device_id,opcode,offset,length,timestamp")?;
    let device = small_integer(device).ok_or("the device must be a whole number")?;
    let op = letter(op)?;
    let offset_bytes = integer(offset).ok_or("the offset must be a whole number of bytes")?;
    let bytes = integer(bytes).ok_or("the length must be a whole number of bytes")?;
    let time_ns = integer(time)
        .and_then(|us| us.checked_mul(1000))
        .ok_or("the timestamp must be a whole number of microseconds")?;
    row_of_bytes(time_ns, device, op, offset_bytes, bytes)
}
