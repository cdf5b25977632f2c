//! Format `msbytes`: five columns like DiskSim's, but in bytes, as slices of MSR volumes
//! circulate.
//!
//! Rows `time device offset bytes type`: milliseconds with a decimal point, bytes, type 1 a read
//! and 0 a write. Nothing in a row tells it from a row of `disksim` whose blocks happen to be
//! multiples of 512, so a trace that fits both must have its format named.

use std::io::Write;

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::fields::{
    bit, decimal, integer, read_or_write, row_of_bytes, small_integer, split_blanks,
};
use super::{Format, PLAIN, RawRequest, Row, Writer, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "msbytes",
        doc: "Five columns in bytes: ms device offset bytes type (1 read, 0 write).",
    },
    has_devices: true,
    guess: Some(
        "format msbytes was found by its columns alone: that times are milliseconds and addresses \
         bytes is a guess; for seconds give columns = \
         \"time_s,device,offset_bytes,bytes,op_read_1\", else name the format",
    ),
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

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [time, device, offset, bytes, op] =
        split_blanks(line).ok_or("it needs five fields: time device offset bytes type")?;
    let expected = "the time must be milliseconds with a decimal point, such as 223.412";
    if !time.contains(&b'.') {
        return Err(expected);
    }
    let time_ns = decimal(time, 6).ok_or(expected)?;
    let device = small_integer(device).ok_or("the device must be a whole number")?;
    let sectors_only = |field| integer(field).filter(|bytes| bytes % SECTOR_BYTES == 0);
    let offset_bytes = sectors_only(offset).ok_or("the offset must be a multiple of 512 bytes")?;
    let bytes = sectors_only(bytes).ok_or("the length must be a multiple of 512 bytes")?;
    let reads = bit(op).ok_or("the type must be 0 for a write or 1 for a read")?;
    let op = if reads { Op::Read } else { Op::Write };
    row_of_bytes(time_ns, device, op, offset_bytes, bytes)
}

fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let op = read_or_write(raw.op, 1, 0)?;
    let (ms, ns) = (raw.time_ns / 1_000_000, raw.time_ns % 1_000_000);
    let (device, offset, bytes) = (raw.device, raw.offset_bytes, raw.bytes);
    writeln!(out, "{ms}.{ns:06} {device} {offset} {bytes} {op}")
        .expect("writing to memory does not fail");
    Ok(())
}
