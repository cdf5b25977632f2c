//! Format `srt`: binary traces of HP-UX in HP's format SRT 1.3, which DiskSim calls `hpl`.
//!
//! A heading of text that ends with a form feed, then records of big-endian numbers of 32 bits:
//! length, kind and version, seconds, microseconds, start, stop, bytes, block, device, and more.
//! Blocks are the device's sectors, of 256 bytes in the recordings of HP's own disks; DiskSim takes
//! them for 512, as `sector_bytes` can.

use reprieve_base::{Entry, Op};

use super::binary::u32_be;
use super::fields::row_of_bytes;
use super::{Format, PLAIN, Row, Step, records};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "srt",
        doc: "HP SRT 1.3 (DiskSim's hpl): a text heading, then big-endian records.",
    },
    has_devices: true,
    magic: |bytes| bytes.starts_with(MAGIC),
    options: &["sector_bytes"],
    new_parser: |context| {
        let sector_bytes = context.options.sector_bytes.unwrap_or(SECTOR_BYTES);
        let mut in_heading = true;
        Ok(records(move |bytes| {
            if in_heading {
                let step = heading(bytes)?;
                in_heading = matches!(step, Step::Needs(_));
                return Ok(step);
            }
            record(bytes, sector_bytes)
        }))
    },
    ..PLAIN
};

const MAGIC: &[u8] = b"$$TR_IOREC";

const SECTOR_BYTES: u32 = 256;

/// The heading describes every disk of the machine, and still is text of a few pages.
const HEADING_BYTES_MAX: usize = 64 * 1024;

const HEADING_END: u8 = 0x0c;

/// The numbers that every record has.
const FIELDS_BYTES: usize = 13 * 4;

const RECORD_BYTES_MAX: usize = 4096;

/// Kinds of records that are requests: short ones, and those with a doubt about them.
const KINDS: [u32; 3] = [1, 4, 5];

const FLAG_READ: u32 = 1;

fn heading(bytes: &[u8]) -> Result<Step, &'static str> {
    let compared = bytes.len().min(MAGIC.len());
    if bytes[..compared] != MAGIC[..compared] {
        return Err("the file must begin with $$TR_IOREC");
    }
    match bytes.iter().position(|&byte| byte == HEADING_END) {
        Some(end) => Ok(Step::Record(Row::Other, end + 1)),
        None if bytes.len() < HEADING_BYTES_MAX => Ok(Step::Needs(bytes.len() + 1)),
        None => Err("the heading must end with a form feed within 64 KiB"),
    }
}

fn record(bytes: &[u8], sector_bytes: u32) -> Result<Step, &'static str> {
    if bytes.len() < FIELDS_BYTES {
        return Ok(Step::Needs(FIELDS_BYTES));
    }
    let record_bytes = u32_be(bytes, 0) as usize;
    if !(FIELDS_BYTES..=RECORD_BYTES_MAX).contains(&record_bytes) {
        return Err("a record begins with its length, from 52 to 4096 bytes");
    }
    if bytes.len() < record_bytes {
        return Ok(Step::Needs(record_bytes));
    }
    Ok(Step::Record(row(bytes, sector_bytes)?, record_bytes))
}

fn row(bytes: &[u8], sector_bytes: u32) -> Result<Row, &'static str> {
    let field = |index: usize| u32_be(bytes, 4 * index);
    let (version, kind) = (field(1) >> 16, field(1) & 0xffff);
    if !(1..=4).contains(&version) {
        return Err("the version of a record must be from 1 to 4");
    }
    if !KINDS.contains(&kind) {
        return Ok(Row::Other);
    }
    let us = field(3);
    if us >= 1_000_000 {
        return Err("the microseconds of a second must be below 1000000");
    }
    let time_ns = u64::from(field(2)) * 1_000_000_000 + u64::from(us) * 1000;
    // The low byte is a section of the disk, and blocks count from the disk's beginning.
    let disk = field(8) >> 8 & 0xff;
    let op = if field(11) & FLAG_READ == 0 { Op::Write } else { Op::Read };
    let offset_bytes = u64::from(field(7)) * u64::from(sector_bytes);
    row_of_bytes(time_ns, disk, op, offset_bytes, field(6).into())
}
