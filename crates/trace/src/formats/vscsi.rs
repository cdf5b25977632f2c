//! Format `vscsi`: binary traces of virtual machines' disks in VMware's form, as CloudPhysics took
//! them, versions 1 and 2.
//!
//! Little-endian records. Version 1, 32 bytes: number, bytes, elements, code of SCSI and version
//! (16 bits each), sector (64 bits), microseconds (64 bits). Version 2, 40 bytes: code and version
//! first, and a response time last.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::binary::{u16_le, u32_le, u64_le};
use super::fields::{flush, row_of_bytes};
use super::{Format, PLAIN, Row, Step, records, scsi};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "vscsi",
        doc: "vSCSI (CloudPhysics), versions 1 and 2: binary records with microseconds.",
    },
    new_parser: |_| {
        let mut layout = None;
        Ok(records(move |bytes| step(bytes, &mut layout)))
    },
    ..PLAIN
};

/// Places of the fields of a version; the version is behind the code.
#[derive(Clone, Copy)]
struct Layout {
    record_bytes: usize,
    version: u16,
    code_at: usize,
    bytes_at: usize,
}

const LAYOUTS: [Layout; 2] = [
    Layout { record_bytes: 32, version: 1, code_at: 12, bytes_at: 4 },
    Layout { record_bytes: 40, version: 2, code_at: 0, bytes_at: 8 },
];

/// The place of the sector, before that of the time.
const SECTOR_AT: usize = 16;

impl Layout {
    /// The version is in the high byte, and codes of SCSI have one.
    fn fits(&self, record: &[u8]) -> bool {
        u16_le(record, self.code_at + 2) >> 8 == self.version && u16_le(record, self.code_at) < 256
    }
}

/// The first record settles the version of all.
fn step(bytes: &[u8], settled: &mut Option<Layout>) -> Result<Step, &'static str> {
    let least_bytes = settled.map_or(LAYOUTS[0].record_bytes, |layout| layout.record_bytes);
    if bytes.len() < least_bytes {
        return Ok(Step::Needs(least_bytes));
    }
    let expected = "a record has version 1 or 2, and a code of SCSI below 256";
    let layout = match *settled {
        Some(layout) => layout,
        None => *LAYOUTS.iter().find(|layout| layout.fits(bytes)).ok_or(expected)?,
    };
    if bytes.len() < layout.record_bytes {
        return Ok(Step::Needs(layout.record_bytes));
    }
    if !layout.fits(bytes) {
        return Err("a record must be of the first one's version, with a code of SCSI below 256");
    }
    *settled = Some(layout);
    Ok(Step::Record(row(bytes, &layout)?, layout.record_bytes))
}

fn row(record: &[u8], layout: &Layout) -> Result<Row, &'static str> {
    let us = u64_le(record, SECTOR_AT + 8);
    let time_ns = us.checked_mul(1000).ok_or("the time must be below 584 years")?;
    let code = u16_le(record, layout.code_at).to_le_bytes()[0];
    let sector = u64_le(record, SECTOR_AT);
    match scsi::op(code) {
        Err(reason) => Ok(Row::Drop(reason)),
        Ok(Op::Flush) => Ok(flush(time_ns, 0)),
        Ok(op) => {
            let offset_bytes = sector.saturating_mul(SECTOR_BYTES);
            row_of_bytes(time_ns, 0, op, offset_bytes, u32_le(record, layout.bytes_at).into())
        }
    }
}
