//! Format `tencent`: the block traces of Tencent Cloud (SNIA IOTTA).
//!
//! Rows `Timestamp,Offset,Size,IOType,VolumeID` without a heading: whole seconds of Unix time,
//! sectors, sectors, 0 read or 1 write. The clock ticks once a second, so that rows of the same
//! second are spread over it unless `same_second` says otherwise.

use reprieve_base::{Entry, Op};

use super::fields::{bit, integer, row_of_sectors, seconds, small_integer, split};
use super::{Format, PLAIN, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "tencent",
        doc: "Tencent block traces: seconds,sector,sectors,0 read or 1 write,volume.",
    },
    has_devices: true,
    options: &["same_second"],
    whole_seconds: true,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [time, sector, sectors, op, volume] =
        split(line, b',').ok_or("it needs Timestamp,Offset,Size,IOType,VolumeID")?;
    let time_ns = seconds(time).ok_or("the timestamp must be a whole number of seconds")?;
    let sector = integer(sector).ok_or("the offset must be a whole number of sectors")?;
    let sectors = integer(sectors).ok_or("the size must be a whole number of sectors")?;
    let writes = bit(op).ok_or("the type must be 0 for a read or 1 for a write")?;
    let op = if writes { Op::Write } else { Op::Read };
    let volume = small_integer(volume).ok_or("the volume must be a whole number")?;
    row_of_sectors(time_ns, volume, op, sector, sectors)
}
