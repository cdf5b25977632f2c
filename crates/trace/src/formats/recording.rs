//! Format `recording`: what `reprieve serve --record` writes.
//!
//! A heading, then rows `arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns` in order of
//! arrival: nanoseconds of the model's clock, the operation by its name, the first sector of 512
//! bytes, the length, 1 for forced unit access. The last two are what the drive made of the
//! request, and change nothing for a drive that gets it again.

use reprieve_base::{Entry, Op};

use super::fields::{bit, integer, operation, row_of_sectors, small_integer, split};
use super::{Format, PLAIN, RawRequest, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "recording",
        doc: "reprieve serve --record: arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns.",
    },
    has_devices: false,
    may_be_cut: true,
    new_parser: |_| Ok(lines(parse)),
    ..PLAIN
};

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [arrival, op, lba, bytes, fua, _, _] = split(line, b',')
        .ok_or("it needs arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns")?;
    let time_ns = integer(arrival).ok_or("the arrival must be a whole number of nanoseconds")?;
    let op = operation(op).ok_or("the operation must be read, write, trim or flush")?;
    let fua = bit(fua).filter(|fua| !fua || op == Op::Write);
    let fua = fua.ok_or("fua must be 0, or 1 of a write")?;
    let lba = integer(lba).ok_or("the sector must be a whole number")?;
    let bytes = small_integer(bytes).ok_or("the length must be a whole number of bytes")?;
    if op == Op::Flush {
        return match (lba, bytes) {
            (0, 0) => {
                Ok(Row::Request(RawRequest { time_ns, device: 0, op, offset_bytes: 0, bytes, fua }))
            }
            _ => Err("a flush has no address and no length"),
        };
    }
    if bytes % 512 != 0 {
        return Err("the length must be a multiple of 512 bytes");
    }
    let row = row_of_sectors(time_ns, 0, op, lba, u64::from(bytes / 512))?;
    Ok(match row {
        Row::Request(raw) => Row::Request(RawRequest { fua, ..raw }),
        other => other,
    })
}
