//! Format `cloudphysics-csv`: the text form of CloudPhysics' traces, as libCacheSim has it.
//!
//! A heading, then rows `version,time,op,size,lbn`: whole seconds, the operation code of SCSI in
//! hexadecimal, bytes, sectors of 512 bytes. The binary form, `vscsi`, has microseconds; here the
//! rows of a second are spread over it unless `same_second` says otherwise.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::fields::{flush, hexadecimal, integer, row_of_bytes, seconds, split};
use super::{Format, PLAIN, Row, lines, scsi};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "cloudphysics-csv",
        doc: "CloudPhysics CSV: version,seconds,SCSI code (hexadecimal),bytes,sector.",
    },
    options: &["same_second"],
    whole_seconds: true,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [version, time, code, bytes, sector] =
        split(line, b',').ok_or("it needs version,time,op,size,lbn")?;
    if !matches!(integer(version), Some(1 | 2)) {
        return Err("the version must be 1 or 2");
    }
    let time_ns = seconds(time).ok_or("the time must be a whole number of seconds")?;
    let code = hexadecimal(code).and_then(|code| u8::try_from(code).ok());
    let code = code.ok_or("op must be a code of SCSI in hexadecimal, such as 2a")?;
    let bytes = integer(bytes).ok_or("the size must be a whole number of bytes")?;
    let sector = integer(sector).ok_or("the lbn must be a whole number")?;
    match scsi::op(code) {
        Err(reason) => Ok(Row::Drop(reason)),
        Ok(Op::Flush) => Ok(flush(time_ns, 0)),
        Ok(op) => row_of_bytes(time_ns, 0, op, sector.saturating_mul(SECTOR_BYTES), bytes),
    }
}
