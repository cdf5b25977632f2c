//! Format `blktrace`: the binary files that Linux's `blktrace` writes, one for each processor.
//!
//! Records of 48 bytes, or of 64 in version 8 of the protocol (Linux 6.19), and the data that each
//! announces, in the byte order of the recorded machine. A request has many events;
//! `blktrace_action` selects the one that stands for it: Q (queued by the host), I (inserted into a
//! scheduler) or D (issued to the device). A queued flush has no sectors. Sectors have 512 bytes,
//! times are nanoseconds since the start of the recording.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::binary::u32_le;
use super::fields::{flush, row_of_bytes};
use super::names::Names;
use super::{DropReason, Format, PLAIN, Row, Step, records};
use crate::reading::BlktraceAction;

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "blktrace",
        doc: "blktrace's binary files, one for each processor; events Q, I or D are the requests.",
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

/// The first four bytes of a record, but for the version in the last.
const MAGIC: u32 = 0x6561_7400;

/// Offsets that depend on the version of a record, and its length.
struct RecordLayout {
    action: usize,
    device: usize,
    data_bytes: usize,
    whole_bytes: usize,
}

const VERSION_7: RecordLayout =
    RecordLayout { action: 28, device: 36, data_bytes: 46, whole_bytes: 48 };
/// The action has 64 bits, and 12 bytes are left free at the end.
const VERSION_8: RecordLayout =
    RecordLayout { action: 32, device: 40, data_bytes: 50, whole_bytes: 64 };

/// Bits of a device's number that are the minor one.
const MINOR_BITS: u32 = 20;

/// Q, I and D among the actions, which are in the low byte; the next bit marks a control group in
/// the data.
const QUEUE: u64 = 1;
const ISSUE: u64 = 7;
const INSERT: u64 = 12;

/// Categories of an event, in its action from bit 16 on; from bit 32 on there in version 8 only.
mod category {
    pub(super) const READ: u64 = 1 << 16;
    pub(super) const WRITE: u64 = 1 << 17;
    pub(super) const FLUSH: u64 = 1 << 18;
    pub(super) const PASS_THROUGH: u64 = 1 << 25;
    pub(super) const NOTIFY: u64 = 1 << 26;
    pub(super) const DISCARD: u64 = 1 << 29;
    pub(super) const FUA: u64 = 1 << 31;
    pub(super) const ZONE_RESET: u64 = 1 << 33 | 1 << 34;
    /// Finishing, opening and closing of zones.
    pub(super) const ZONE_STATE: u64 = 1 << 35 | 1 << 36 | 1 << 37;
    pub(super) const WRITE_ZEROES: u64 = 1 << 38;
    /// Every bit above those.
    pub(super) const UNKNOWN: u64 = !0 << 39;
}

/// Returns whether numbers are in the other byte order; `None` if this is no record.
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
    if bytes.len() < VERSION_7.whole_bytes {
        return Ok(Step::Needs(VERSION_7.whole_bytes));
    }
    let is_swapped =
        swapped(bytes).ok_or("a record begins with 0x65617407 in either byte order")?;
    let record = Record { bytes, is_swapped };
    let layout = match record.u32(0) & 0xff {
        7 => VERSION_7,
        8 => VERSION_8,
        _ => return Err("the version of blktrace's protocol must be 7, or 8 of Linux 6.19"),
    };
    if bytes.len() < layout.whole_bytes {
        return Ok(Step::Needs(layout.whole_bytes));
    }
    let whole_bytes = layout.whole_bytes + usize::from(record.u16(layout.data_bytes));
    if bytes.len() < whole_bytes {
        return Ok(Step::Needs(whole_bytes));
    }
    Ok(Step::Record(row(&record, &layout, wanted)?, whole_bytes))
}

fn row(
    record: &Record,
    layout: &RecordLayout,
    wanted: BlktraceAction,
) -> Result<Row, &'static str> {
    let action = match layout.whole_bytes == VERSION_8.whole_bytes {
        true => record.u64(layout.action),
        false => record.u32(layout.action).into(),
    };
    let wanted = match wanted {
        BlktraceAction::Queue => QUEUE,
        BlktraceAction::Insert => INSERT,
        BlktraceAction::Issue => ISSUE,
    };
    let is = |bits: u64| action & bits != 0;
    if is(category::NOTIFY) || action & 0xff != wanted {
        return Ok(Row::Other);
    }
    let (time_ns, device, bytes) = (record.u64(8), record.u32(layout.device), record.u32(24));
    if bytes == 0 && is(category::FLUSH) {
        return Ok(flush(time_ns, device));
    }
    let op = if is(category::UNKNOWN) {
        return Ok(Row::Drop(DropReason::UnknownEvent));
    } else if is(category::PASS_THROUGH | category::ZONE_STATE) {
        return Ok(Row::Drop(DropReason::NeitherReadNorWrite));
    } else if is(category::DISCARD | category::ZONE_RESET | category::WRITE_ZEROES) {
        Op::Trim
    } else if is(category::WRITE) {
        // A zone append is one, too.
        Op::Write
    } else if is(category::READ) {
        Op::Read
    } else {
        return Ok(Row::Drop(DropReason::NeitherReadNorWrite));
    };
    let offset_bytes = record.u64(16).saturating_mul(SECTOR_BYTES);
    let row = row_of_bytes(time_ns, device, op, offset_bytes, bytes.into())?;
    Ok(row.with_fua(is(category::FUA)))
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
