//! Format `blkreplay`: the `.load` files of the blkreplay project.
//!
//! A preamble of prose and a line of headings, both of which may come again in mid-file where
//! files were joined, then rows `start ; sector; length ; op ;  replay_delay ; replay_duration`:
//! seconds, sectors of 512 bytes, operation. There is no device. The operation is blktrace's:
//! `R`, `W` or `D` (discard), then any of `F`, `A`, `S`, `M` (forced to the medium, read ahead,
//! synchronous, metadata), which change nothing for a drive.

use std::io::Write;

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::fields::{decimal, integer, row_of_sectors, split_first};
use super::{Format, PLAIN, RawRequest, Row, Writer, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "blkreplay",
        doc: "blkreplay .load: seconds ; sector ; sectors ; R, W or D ; delay ; duration.",
    },
    has_devices: false,
    new_parser: |_| Ok(lines(parse)),
    writer: Some(Writer {
        heading: HEADING,
        row: write,
        tick_ns: 1,
        whole_sectors: true,
        holds_fua: false,
        holds_devices: false,
    }),
    ..PLAIN
};

const HEADING: &str = "start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n";

fn parse(line: &[u8]) -> Result<Row, &'static str> {
    let line = line.trim_ascii_start();
    // Prose has no semicolons, and what has some is a row or the line of headings.
    let first = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    if !line.contains(&b';') || first.eq_ignore_ascii_case(b"start") {
        return Ok(Row::Other);
    }
    if !line.first().is_some_and(u8::is_ascii_digit) {
        return Err("a row begins with its start in seconds, such as 0.449518165");
    }
    let [start, sector, sectors, op] =
        split_first(line, b';').ok_or("it needs start ; sector ; length ; op")?;
    let time_ns = decimal(start, 9).ok_or("the start must be seconds, such as 0.449518165")?;
    let sector = integer(sector).ok_or("the sector must be a whole number")?;
    let sectors = integer(sectors).ok_or("the length must be a whole number of sectors")?;
    row_of_sectors(time_ns, 0, operation(op)?, sector, sectors)
}

fn operation(field: &[u8]) -> Result<Op, &'static str> {
    let expected = "the operation must be R, W or D, with F, A, S or M behind it";
    let (first, flags) = field.split_first().ok_or(expected)?;
    if !flags.iter().all(|flag| b"FASM".contains(flag)) {
        return Err(expected);
    }
    match first.to_ascii_uppercase() {
        b'R' => Ok(Op::Read),
        b'W' => Ok(Op::Write),
        b'D' => Ok(Op::Trim),
        _ => Err(expected),
    }
}

fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let op = match raw.op {
        Op::Read => 'R',
        Op::Write => 'W',
        Op::Trim => 'D',
        Op::Flush => return Err("it holds no flushes"),
    };
    let (seconds, ns) = (raw.time_ns / 1_000_000_000, raw.time_ns % 1_000_000_000);
    let sector = raw.offset_bytes / SECTOR_BYTES;
    let sectors = u64::from(raw.bytes) / SECTOR_BYTES;
    writeln!(out, "{seconds:7}.{ns:09} ; {sector:12} ; {sectors:4} ; {op} ; 0.0 ; 0.0")
        .expect("writing to memory does not fail");
    Ok(())
}
