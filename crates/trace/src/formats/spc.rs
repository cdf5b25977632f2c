//! Format `spc`: the Storage Performance Council's trace format (revision 1.0.1, 2002), in which
//! UMass published Financial1, Financial2 and WebSearch.
//!
//! Rows `ASU,LBA,Size,Opcode,Timestamp[,more]`: application storage unit (an address space of
//! its own), block of 512 bytes, size in *bytes*, `r` or `w` in either case, seconds.

use std::io::Write;

use reprieve_base::{Entry, SECTOR_BYTES};

use super::fields::{
    decimal, integer, letter, read_or_write, row_of_bytes, small_integer, split_first,
};
use super::{Format, PLAIN, RawRequest, Row, Writer, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "spc",
        doc: "SPC (UMass): ASU,sector,bytes,r or w,seconds; each ASU is a device.",
    },
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

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let [asu, lba, size, op, time] =
        split_first(line, b',').ok_or("it needs ASU,LBA,Size,Opcode,Timestamp")?;
    let asu = small_integer(asu).ok_or("the ASU must be a whole number")?;
    let lba = integer(lba).ok_or("the LBA must be a whole number of 512-byte blocks")?;
    let bytes = integer(size).ok_or("the size must be a whole number of bytes")?;
    let op = letter(op)?;
    let time_ns = decimal(time, 9).ok_or("the timestamp must be seconds, such as 0.026214")?;
    row_of_bytes(time_ns, asu, op, lba.saturating_mul(SECTOR_BYTES), bytes)
}

fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let op = read_or_write(raw.op, 'r', 'w')?;
    let (seconds, ns) = (raw.time_ns / 1_000_000_000, raw.time_ns % 1_000_000_000);
    let (device, lba, bytes) = (raw.device, raw.offset_bytes / SECTOR_BYTES, raw.bytes);
    writeln!(out, "{device},{lba},{bytes},{op},{seconds}.{ns:09}")
        .expect("writing to memory does not fail");
    Ok(())
}
