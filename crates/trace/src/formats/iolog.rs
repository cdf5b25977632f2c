//! Format `iolog`: what fio writes with `write_iolog`, versions 2 and 3.
//!
//! A line `fio version 2 iolog` or `fio version 3 iolog`, then rows `file action [offset length]`,
//! in version 3 with microseconds since the start before them. Version 2 has no times but `wait`s,
//! whose meaning `iolog_wait` settles: fio's manual and fio disagree. A file is a device.

use reprieve_base::{Entry, Op};

use super::fields::{flush, integer, row_of_bytes};
use super::names::Names;
use super::table::write;
use super::{Format, PLAIN, Row, WRITER, Writer, lines};
use crate::reading::IologWait;

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "iolog",
        doc: "fio's write_iolog, versions 2 and 3: file, action, offset, bytes.",
    },
    has_devices: true,
    device_name: |device, names| names.name(device),
    magic: is_heading,
    options: &["iolog_wait"],
    new_parser: |context| {
        let mut log = Log {
            wait: context.options.iolog_wait.unwrap_or(IologWait::RelativeUs),
            names: context.names.clone(),
            version: None,
            now_ns: 0,
        };
        Ok(lines(move |line| log.parse(line)))
    },
    writer: Some(Writer {
        heading: "fio version 3 iolog\n0 trace add\n0 trace open\n",
        row: |raw, out| {
            let ops = ["read", "write", "trim", "sync"];
            write("{us} trace {op} {offset_bytes} {bytes}", &ops, raw, out)
        },
        tick_ns: 1000,
        whole_sectors: false,
        holds_devices: false,
        ..WRITER
    }),
    ..PLAIN
};

const HEADING: &[u8] = b"fio version ";

fn is_heading(bytes: &[u8]) -> bool {
    let start = bytes.get(..HEADING.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(HEADING))
}

/// Waits below this many microseconds are none, says fio's manual.
const WAIT_US_MIN: u64 = 100;

struct Log {
    wait: IologWait,
    names: Names,
    /// As the heading says; `None` before it.
    version: Option<u64>,
    /// Time of the row, in version 2 the sum of the waits.
    now_ns: u64,
}

impl Log {
    fn parse(&mut self, line: &[u8]) -> Result<Row, &'static str> {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        if is_heading(line) {
            let version =
                fields.nth(2).and_then(integer).filter(|version| [2, 3].contains(version));
            self.version = Some(version.ok_or("the version must be 2 or 3")?);
            self.now_ns = 0;
            return Ok(Row::Other);
        }
        let version = self.version.ok_or("it must begin with fio version 2 iolog, or 3")?;
        if version == 3 {
            let us = fields.next().and_then(integer).and_then(|us| us.checked_mul(1000));
            self.now_ns = us.ok_or("a row begins with whole microseconds")?;
        }
        let file = fields.next().ok_or("it needs a file and an action")?;
        let action = fields.next().ok_or("it needs a file and an action")?;
        let numbers = (fields.next().map(integer), fields.next().map(integer));
        if fields.next().is_some() {
            return Err("it needs file, action, offset and length, and no more");
        }
        let op = match action.to_ascii_lowercase().as_slice() {
            b"add" | b"open" | b"close" => return Ok(Row::Other),
            b"wait" if version == 2 => return self.waits(numbers.0.flatten()),
            b"wait" => return Err("version 3 has no wait, as its rows have times"),
            b"sync" | b"datasync" => return Ok(flush(self.now_ns, self.names.number(file))),
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            _ => return Err("the action must be add, open, close, read, write, trim or sync"),
        };
        let (Some(Some(offset_bytes)), Some(Some(bytes))) = numbers else {
            return Err("offset and length must be whole numbers of bytes");
        };
        row_of_bytes(self.now_ns, self.names.number(file), op, offset_bytes, bytes)
    }

    fn waits(&mut self, time: Option<u64>) -> Result<Row, &'static str> {
        let time = time.ok_or("the time of a wait must be a whole number")?;
        let now_ns = match self.wait {
            IologWait::RelativeUs if time < WAIT_US_MIN => Some(self.now_ns),
            IologWait::RelativeUs => {
                time.checked_mul(1000).and_then(|wait_ns| self.now_ns.checked_add(wait_ns))
            }
            // A time that has passed is not waited for.
            IologWait::AbsoluteMs => time.checked_mul(1_000_000).map(|ns| ns.max(self.now_ns)),
        };
        self.now_ns = now_ns.ok_or("the waits must be below 584 years")?;
        Ok(Row::Other)
    }
}
