//! Format `ftrace`: the block layer's tracepoints as text (`include/trace/events/block.h`).
//!
//! Lines of `/sys/kernel/tracing/trace`, `trace-cmd report` or `perf script`: the process, the
//! processor and more, then `seconds: block_rq_issue: 259,0 R 4096 () 2050624 + 8 none,0,0 [fio]`.
//! `block_bio_queue`, whose lines have no bytes and no command, is a request of the host,
//! `block_rq_insert` its insertion into a scheduler and `block_rq_issue` its issue to the device;
//! `blktrace_action` selects one where a file has several. Other lines are skipped.

use reprieve_base::Entry;

use super::blkparse::number;
use super::blktrace::device_name;
use super::fields::{decimal, integer};
use super::{Format, PLAIN, Row, lines, rwbs};
use crate::reading::BlktraceAction;

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "ftrace",
        doc: "Linux tracepoints as text: trace-cmd report, perf script, or tracing/trace.",
    },
    has_devices: true,
    device_name,
    magic: |bytes| EVENTS.iter().any(|(name, _)| has_event(bytes, name)),
    options: &["blktrace_action"],
    new_parser: |context| {
        let mut wanted = context.options.blktrace_action;
        let is_chosen = wanted.is_some();
        Ok(lines(move |line| parse(line, &mut wanted, is_chosen)))
    },
    ..PLAIN
};

const EVENTS: [(&[u8], BlktraceAction); 3] = [
    (b"block_bio_queue:", BlktraceAction::Queue),
    (b"block_rq_insert:", BlktraceAction::Insert),
    (b"block_rq_issue:", BlktraceAction::Issue),
];

/// Whether a line has the event behind a time: `1234.567890: block_rq_issue:`.
fn has_event(bytes: &[u8], name: &[u8]) -> bool {
    bytes
        .split(|&byte| byte == b'\n')
        .any(|line| event_of(line).is_some_and(|(_, event, _)| event.eq_ignore_ascii_case(name)))
}

/// The time, the event and the fields behind them; `None` of a line that has no event.
fn event_of(line: &[u8]) -> Option<(&[u8], &[u8], impl Iterator<Item = &[u8]> + Clone)> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let mut time = None;
    loop {
        let field = fields.next()?;
        if let Some(time) = time {
            if field.ends_with(b":") && !field.first()?.is_ascii_digit() {
                // perf names the subsystem, too.
                let (subsystem, rest) = field.split_at_checked(b"block:".len()).unwrap_or_default();
                let is_named = subsystem.eq_ignore_ascii_case(b"block:");
                let event = if is_named { rest } else { field };
                return Some((time, event, fields));
            }
        }
        // A process may be called like a number, but is not followed by an event.
        let is_time = field.first()?.is_ascii_digit();
        time = field.strip_suffix(b":").filter(|_| is_time);
    }
}

fn parse(
    line: &[u8],
    wanted: &mut Option<BlktraceAction>,
    is_chosen: bool,
) -> Result<Row, &'static str> {
    let Some((time, event, mut fields)) = event_of(line) else { return Ok(Row::Other) };
    let Some((_, action)) = EVENTS.iter().find(|(name, _)| event.eq_ignore_ascii_case(name)) else {
        return Ok(Row::Other);
    };
    if *wanted.get_or_insert(*action) != *action {
        return match is_chosen {
            true => Ok(Row::Other),
            false => Err("the file has events of another kind before it; choose one by \
                          blktrace_action: queue (block_bio_queue), insert (block_rq_insert) or \
                          issue (block_rq_issue)"),
        };
    }
    let time_ns = Some(time).filter(|time| time.contains(&b'.'));
    let time_ns = time_ns.and_then(|time| decimal(time, 9)).ok_or(
        "the time must be seconds with a fraction, such as 1234.567890, not a counter's ticks",
    )?;
    let device = fields.next().and_then(number).ok_or("the device must be such as 259,0")?;
    let letters = fields.next().ok_or("it needs device rwbs sector + sectors")?;
    let mut sector = None;
    while let Some(field) = fields.next() {
        if field == b"+" {
            let sectors = fields.next().and_then(integer);
            return rwbs::row(time_ns, device, letters, sector.zip(sectors));
        }
        sector = integer(field);
    }
    rwbs::row(time_ns, device, letters, None)
}
