//! Format `blktrace`: the binary files that Linux's `blktrace` writes, one for each processor.
//!
//! Records of 48 bytes and the data that each announces, in the byte order of the machine that was
//! recorded. A request has many events; which of them is taken for it says `blktrace_action`: Q, as
//! the host asked, or D, as the device got it. A queued flush has no sectors. Sectors have 512
//! bytes, times are nanoseconds since the recording began.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::binary::u32_le;
use super::fields::{flush, row_of_bytes};
use super::names::Names;
use super::{Format, PLAIN, RawRequest, Row, Step, records};
use crate::reading::BlktraceAction;

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "blktrace",
        doc: "blktrace's binary files, one for each processor; events Q or D are the requests.",
    },
    has_devices: true,
    device_name,
    magic: |bytes| bytes.len() >= 4 && swapped(bytes).is_some(),
    options: &["blktrace_action"],
    new_parser: |context| {
        let action = context.options.blktrace_action.unwrap_or(BlktraceAction::Queue);
        Ok(records(move |bytes| step(bytes, action)))
    },
    ..PLAIN
};

/// What every record begins with, but for the version in the last byte.
const MAGIC: u32 = 0x6561_7400;

const HEADER_BYTES: usize = 48;

/// Bits of a device's number that are the minor one.
const MINOR_BITS: u32 = 20;

/// Q and D among the actions, which are in the low byte; the next bit says that a control group
/// stands in the data.
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;

/// Categories of an event, in the upper half of its action.
mod category {
    pub(super) const READ: u32 = 1 << 16;
    pub(super) const WRITE: u32 = 1 << 17;
    pub(super) const FLUSH: u32 = 1 << 18;
    pub(super) const PASS_THROUGH: u32 = 1 << 25;
    pub(super) const NOTIFY: u32 = 1 << 26;
    pub(super) const DISCARD: u32 = 1 << 29;
    pub(super) const FUA: u32 = 1 << 31;
}

/// Whether the bytes of numbers stand the other way round; `None` if this is no record.
fn swapped(bytes: &[u8]) -> Option<bool> {
    let number = u32_le(bytes, 0);
    let is_magic = |number: u32| number & !0xff == MAGIC;
    if is_magic(number) { Some(false) } else { is_magic(number.swap_bytes()).then_some(true) }
}

/// A record's numbers, whatever their byte order.
struct Record<'a> {
    bytes: &'a [u8],
    is_swapped: bool,
}

impl Record<'_> {
    fn u16(&self, at: usize) -> u16 {
        let number = super::binary::u16_le(self.bytes, at);
        if self.is_swapped { number.swap_bytes() } else { number }
    }

    fn u32(&self, at: usize) -> u32 {
        let number = u32_le(self.bytes, at);
        if self.is_swapped { number.swap_bytes() } else { number }
    }

    fn u64(&self, at: usize) -> u64 {
        let number = super::binary::u64_le(self.bytes, at);
        if self.is_swapped { number.swap_bytes() } else { number }
    }
}

fn step(bytes: &[u8], wanted: BlktraceAction) -> Result<Step, &'static str> {
    if bytes.len() < HEADER_BYTES {
        return Ok(Step::Needs(HEADER_BYTES));
    }
    let is_swapped =
        swapped(bytes).ok_or("a record begins with 0x65617407 in either byte order")?;
    let record = Record { bytes, is_swapped };
    let whole_bytes = HEADER_BYTES + usize::from(record.u16(46));
    if bytes.len() < whole_bytes {
        return Ok(Step::Needs(whole_bytes));
    }
    Ok(Step::Record(row(&record, wanted)?, whole_bytes))
}

fn row(record: &Record, wanted: BlktraceAction) -> Result<Row, &'static str> {
    let action = record.u32(28);
    let wanted = match wanted {
        BlktraceAction::Queue => QUEUE,
        BlktraceAction::Issue => ISSUE,
    };
    let is = |bits: u32| action & bits != 0;
    if is(category::NOTIFY) || action & 0xff != wanted {
        return Ok(Row::Other);
    }
    let (time_ns, device, bytes) = (record.u64(8), record.u32(36), record.u32(24));
    if bytes == 0 && is(category::FLUSH) {
        return Ok(flush(time_ns, device));
    }
    let op = if is(category::PASS_THROUGH) {
        return Ok(Row::Drop(super::DropReason::NeitherReadNorWrite));
    } else if is(category::DISCARD) {
        Op::Trim
    } else if is(category::WRITE) {
        Op::Write
    } else if is(category::READ) {
        Op::Read
    } else {
        return Ok(Row::Drop(super::DropReason::NeitherReadNorWrite));
    };
    let offset_bytes = record.u64(16).saturating_mul(SECTOR_BYTES);
    let row = row_of_bytes(time_ns, device, op, offset_bytes, bytes.into())?;
    Ok(match row {
        Row::Request(raw) => {
            Row::Request(RawRequest { fua: op == Op::Write && is(category::FUA), ..raw })
        }
        other => other,
    })
}

/// Major and minor number, as tools print them.
pub(super) fn device_name(device: u32, _: &Names) -> Option<String> {
    let (major, minor) = device_parts(device);
    Some(format!("{major},{minor}"))
}

/// Major and minor number of a device.
pub(super) fn device_parts(device: u32) -> (u32, u32) {
    (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
}

/// The number of a device with these.
pub(super) fn device_number(major: u32, minor: u32) -> Option<u32> {
    let fits = major < 1 << (32 - MINOR_BITS) && minor < 1 << MINOR_BITS;
    fits.then_some(major << MINOR_BITS | minor)
}
