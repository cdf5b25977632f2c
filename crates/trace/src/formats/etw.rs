//! Format `etw`: disk events of Windows, as Microsoft published its production servers' (MSNFS,
//! CFS, DAP, DTRS, Exchange, TPC-C and TPC-E; SNIA IOTTA).
//!
//! A heading from `BeginHeader` to `EndHeader`, then rows of many kinds, fields between commas and
//! blanks. Those of `DiskRead` and `DiskWrite` are `type, TimeStamp, process (pid), thread, IrpPtr,
//! ByteOffset, IOSize, ElapsedTime, DiskNum, ...`: microseconds, bytes in hexadecimal. An event is
//! written when the request is complete, so that it arrived `ElapsedTime` before, and rows are not
//! in order of arrival.

use reprieve_base::{Entry, Op};

use super::fields::{hexadecimal, integer, row_of_bytes, small_integer};
use super::{DropReason, Format, PLAIN, Row, lines};
use crate::reading::EtwTime;

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "etw",
        doc: "Microsoft ETW CSV: DiskRead and DiskWrite in microseconds, hexadecimal bytes.",
    },
    has_devices: true,
    magic: |bytes| {
        let start = bytes.trim_ascii_start().get(..BEGIN.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(BEGIN))
    },
    options: &["etw_time"],
    new_parser: |context| {
        let time = context.options.etw_time.unwrap_or(EtwTime::Begin);
        let mut in_heading = false;
        Ok(lines(move |line| parse(line, time, &mut in_heading)))
    },
    ..PLAIN
};

const BEGIN: &[u8] = b"BeginHeader";
const END: &[u8] = b"EndHeader";

fn is_hexadecimal(field: &[u8]) -> bool {
    field.starts_with(b"0x") || field.starts_with(b"0X")
}

fn parse(line: &[u8], time: EtwTime, in_heading: &mut bool) -> Result<Row, &'static str> {
    let line = line.trim_ascii();
    // Behind either word a tool may have set the commas of the other columns.
    let is = |word: &[u8]| {
        let end = line.iter().rposition(u8::is_ascii_alphanumeric).map_or(0, |at| at + 1);
        line[..end].eq_ignore_ascii_case(word)
    };
    *in_heading = (*in_heading && !is(END)) || is(BEGIN);
    if *in_heading || is(END) {
        return Ok(Row::Other);
    }
    let mut fields = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let kind = fields.next().unwrap_or_default();
    let op = match kind {
        _ if kind.eq_ignore_ascii_case(b"DiskRead") => Op::Read,
        _ if kind.eq_ignore_ascii_case(b"DiskWrite") => Op::Write,
        // Other events have other columns, and file names with commas and quotes in them.
        _ if kind.first().is_some_and(u8::is_ascii_alphabetic) => return Ok(Row::Other),
        _ => return Err("a row begins with its kind, such as DiskRead"),
    };
    let stamp = fields.next().and_then(integer);
    let stamp_us = stamp.ok_or("the timestamp must be a whole number of microseconds")?;
    // A process may have commas in its name, too; the pointer is the first number in hexadecimal.
    let mut fields = fields.skip_while(|field| !is_hexadecimal(field)).skip(1);
    let mut hex = || fields.next().filter(|field| is_hexadecimal(field)).and_then(hexadecimal);
    let offset_bytes = hex().ok_or("the offset must be bytes in hexadecimal, such as 0x200000")?;
    let bytes = hex().ok_or("the size must be bytes in hexadecimal, such as 0x1000")?;
    let elapsed = fields.next().and_then(integer);
    let elapsed_us = elapsed.ok_or("the elapsed time must be whole microseconds")?;
    let disk = fields.next().and_then(small_integer).ok_or("the disk must be a whole number")?;
    let arrival_us = match time {
        EtwTime::End => stamp_us,
        EtwTime::Begin => match stamp_us.checked_sub(elapsed_us) {
            Some(arrival_us) => arrival_us,
            None => return Ok(Row::Drop(DropReason::BeforeTrace)),
        },
    };
    let time_ns = arrival_us.checked_mul(1000).ok_or("the timestamp must be below 584 years")?;
    row_of_bytes(time_ns, disk, op, offset_bytes, bytes)
}
