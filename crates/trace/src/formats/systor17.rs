//! Format `systor17`: the block traces of a virtual desktop cluster (Lee et al., SYSTOR 2017; SNIA
//! IOTTA 4964).
//!
//! A heading, then rows `Timestamp,Response,IOType,LUN,Offset,Size`: seconds of Unix time, seconds
//! or nothing, `R` or `W`, a number, bytes, bytes. There is a file for each hour and unit; a folder
//! of them is read as one trace. Rows that lack fields occur, and are left out and counted.

use reprieve_base::Entry;

use super::fields::{decimal, integer, letter, row_of_bytes, small_integer, split};
use super::{DropReason, Format, PLAIN, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "systor17",
        doc: "SYSTOR '17: seconds,response,R or W,unit,offset,bytes; a folder of such files.",
    },
    has_devices: true,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

const FIELDS: usize = 6;

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    if line.trim_ascii_start().to_ascii_lowercase().starts_with(b"timestamp") {
        return Ok(Row::Other);
    }
    let count = line.split(|&byte| byte == b',').count();
    if count < FIELDS {
        return Ok(Row::Drop(DropReason::Incomplete));
    }
    let [time, response, op, unit, offset, bytes] =
        split(line, b',').ok_or("it needs Timestamp,Response,IOType,LUN,Offset,Size")?;
    let time_ns = decimal(time, 9).ok_or("the timestamp must be seconds of Unix time")?;
    if !response.is_empty() && decimal(response, 9).is_none() {
        return Err("the response must be seconds, or nothing");
    }
    let op = letter(op)?;
    let unit = small_integer(unit).ok_or("the LUN must be a whole number")?;
    let offset_bytes = integer(offset).ok_or("the offset must be a whole number of bytes")?;
    let bytes = integer(bytes).ok_or("the size must be a whole number of bytes")?;
    row_of_bytes(time_ns, unit, op, offset_bytes, bytes)
}
