//! Format `blkparse`: the text that `blkparse` prints by default, `%D %2c %8s %5T.%9t %5p %2a %3d`.
//!
//! Rows `major,minor cpu sequence seconds pid action rwbs [sector + sectors] [process]`. As of
//! `blktrace`, events Q, I or D are the requests; rows of other actions, messages and the summary
//! behind the rows are passed over. `rwbs` has an `F` before the operation for a flush before it,
//! and one behind it for forced unit access.

use std::io::Write;

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::blktrace::{device_name, device_number, device_parts};
use super::fields::{decimal, integer, small_integer};
use super::{Format, PLAIN, RawRequest, Row, WRITER, Writer, lines, rwbs};
use crate::reading::BlktraceAction;

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "blkparse",
        doc: "blkparse's text: device cpu number seconds pid action rwbs sector + sectors.",
    },
    has_devices: true,
    device_name,
    options: &["blktrace_action"],
    new_parser: |context| {
        let action = match context.options.blktrace_action.unwrap_or(BlktraceAction::Queue) {
            BlktraceAction::Queue => b"Q",
            BlktraceAction::Insert => b"I",
            BlktraceAction::Issue => b"D",
        };
        Ok(lines(move |line| parse(line, action)))
    },
    writer: Some(Writer { row: write, holds_fua: true, ..WRITER }),
    ..PLAIN
};

fn parse(line: &[u8], wanted: &[u8]) -> Result<Row, &'static str> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let device = fields.next().unwrap_or_default();
    // The summary is of words.
    if !device.first().is_some_and(u8::is_ascii_digit) {
        return Ok(Row::Other);
    }
    let device = number(device).ok_or("a row begins with its device, such as 8,16")?;
    let expected = "it needs device cpu number seconds pid action rwbs sector + sectors";
    let (_, _, time) = (
        fields.next().and_then(integer).ok_or(expected)?,
        fields.next().and_then(integer).ok_or(expected)?,
        fields.next().ok_or(expected)?,
    );
    let time_ns = decimal(time, 9).ok_or("the time must be seconds, such as 0.000001850")?;
    let (_, action) = (fields.next().ok_or(expected)?, fields.next().ok_or(expected)?);
    if !action.iter().all(u8::is_ascii_alphabetic) {
        return Err("the action must be letters, such as Q");
    }
    if action != wanted {
        return Ok(Row::Other);
    }
    let letters = fields.next().ok_or(expected)?;
    // A request without an address has its process next, which may have any name.
    let place = (fields.next().and_then(integer), fields.next(), fields.next().and_then(integer));
    let place = match place {
        (Some(sector), Some(b"+"), Some(sectors)) => Some((sector, sectors)),
        _ => None,
    };
    rwbs::row(time_ns, device, letters, place)
}

/// The number of a device as the kernel prints it, `8,16`.
pub(super) fn number(device: &[u8]) -> Option<u32> {
    let comma = device.iter().position(|&byte| byte == b',')?;
    device_number(small_integer(&device[..comma])?, small_integer(&device[comma + 1..])?)
}

fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let (major, minor) = device_parts(raw.device);
    let (seconds, ns) = (raw.time_ns / 1_000_000_000, raw.time_ns % 1_000_000_000);
    let rwbs = match (raw.op, raw.fua) {
        (Op::Read, _) => "R",
        (Op::Write, false) => "W",
        (Op::Write, true) => "WF",
        (Op::Trim, _) => "D",
        (Op::Flush, _) => "FN",
        _ => return Err("it holds no operations of zones"),
    };
    let place = match raw.op {
        Op::Flush => String::new(),
        _ => {
            let sectors = u64::from(raw.bytes) / SECTOR_BYTES;
            format!(" {} + {sectors}", raw.offset_bytes / SECTOR_BYTES)
        }
    };
    // Processor, number and process are not known; nothing that reads requests uses them.
    writeln!(out, "{major:3},{minor:<3} 0 1 {seconds:5}.{ns:09} 0 Q {rwbs:>3}{place} [reprieve]")
        .expect("writing to memory does not fail");
    Ok(())
}
