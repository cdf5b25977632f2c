//! Format `msr`: the CSV of the MSR Cambridge traces (SNIA IOTTA 388).
//!
//! Rows `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`: Windows FILETIME in ticks
//! of 100 ns since 1601, bytes, response time in ticks. Slices that circulate put a row number
//! and a blank in front.

use std::io::Write;

use reprieve_base::Entry;

use super::fields::{integer, letter, read_or_write, row_of_bytes, small_integer, split_first};
use super::{Format, Names, PLAIN, RawRequest, Row, Writer, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "msr",
        doc: "MSR Cambridge CSV: FILETIME,host,disk,Read or Write,offset,bytes,response.",
    },
    has_devices: true,
    device_name,
    new_parser: |context| {
        let mut names = context.names.clone();
        Ok(lines(move |line| parse(line, &mut names)))
    },
    writer: Some(Writer {
        heading: "",
        row: write,
        tick_ns: TICK_NS,
        whole_sectors: false,
        holds_fua: false,
        holds_devices: true,
    }),
    ..PLAIN
};

/// Nanoseconds of a FILETIME tick.
const TICK_NS: u64 = 100;

/// Disk numbers repeat across hosts: disk `d` of the `h`-th host to appear is device
/// `h * 1000 + d`, so that the devices of a trace of one host are its disk numbers.
const DISKS_PER_HOST: u32 = 1000;

fn device_of(names: &mut Names, host: &[u8], disk: u32) -> Option<u32> {
    let index = names.number(host);
    (disk < DISKS_PER_HOST).then_some(index.checked_mul(DISKS_PER_HOST)?.checked_add(disk)?)
}

/// As the files of a volume are called: `usr_0`.
fn device_name(device: u32, names: &Names) -> Option<String> {
    let host = names.name(device / DISKS_PER_HOST)?;
    Some(format!("{host}_{}", device % DISKS_PER_HOST))
}

fn parse(line: &[u8], names: &mut Names) -> Result<Row, &'static str> {
    let [ticks, host, disk, op, offset, bytes] = split_first(line, b',')
        .ok_or("it needs Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime")?;
    let ticks = match ticks.iter().rposition(u8::is_ascii_whitespace) {
        Some(blank) if integer(ticks[..blank].trim_ascii()).is_some() => &ticks[blank + 1..],
        _ => ticks,
    };
    let time_ns = integer(ticks)
        .and_then(|ticks| ticks.checked_mul(TICK_NS))
        .ok_or("the timestamp must be a FILETIME of 100 ns ticks, before the year 2185")?;
    let op = letter(op).map_err(|_| "the type must be Read or Write")?;
    let device = small_integer(disk)
        .and_then(|disk| device_of(names, host, disk))
        .ok_or("the disk must be a number below 1000")?;
    let offset_bytes = integer(offset).ok_or("the offset must be a whole number of bytes")?;
    let bytes = integer(bytes).ok_or("the size must be a whole number of bytes")?;
    row_of_bytes(time_ns, device, op, offset_bytes, bytes)
}

fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let op = read_or_write(raw.op, "Read", "Write")?;
    if raw.device >= DISKS_PER_HOST {
        return Err("msr holds disk numbers below 1000 of one host");
    }
    let (ticks, device) = (raw.time_ns / TICK_NS, raw.device);
    let (offset, bytes) = (raw.offset_bytes, raw.bytes);
    // The response time is not known; nothing that reads requests uses it.
    writeln!(out, "{ticks},host,{device},{op},{offset},{bytes},0")
        .expect("writing to memory does not fail");
    Ok(())
}
