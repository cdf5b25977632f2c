//! Format `columns`: rows of text whose columns the user names, for traces that have no format here
//! (Cello99's many conversions among them).
//!
//! `columns = "time_s,device,sector,bytes,op"` names the fields of a row in their order. What
//! stands between fields a row shows itself: a comma, else a semicolon, else blanks or tabs. Lines
//! that begin with `#` are passed over, and before the first row those without a number, as
//! headings are.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::fields::{Rhythm, decimal, hexadecimal, integer, row_of_bytes, small_integer};
use super::{Context, Format, PLAIN, Parser, Row, lines};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "columns",
        doc: "Any rows of text; the key columns names their fields and units.",
    },
    has_devices: true,
    options: &["columns", "sector_bytes", "row_op", "row_interval_us"],
    new_parser,
    ..PLAIN
};

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    /// A time, and how many of its decimals make nanoseconds.
    Time {
        places: usize,
    },
    /// A time in whole ticks of 100 ns.
    Ticks,
    Device,
    /// An address or a length: in sectors, or in so many bytes each.
    Address {
        unit: Unit,
    },
    Length {
        unit: Unit,
    },
    /// A word or a letter, of which the first letter counts.
    Op,
    /// A number that says read, or write; the other is neither.
    Digit {
        read: &'static [u8],
        write: &'static [u8],
    },
    /// Hexadecimal flags, of which bit 0 says read.
    Flags,
    Ignored,
    /// Whatever follows.
    Rest,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Sectors,
    Bytes(u64),
}

const NAMES: [(&str, Column); 19] = [
    ("time_s", Column::Time { places: 9 }),
    ("time_ms", Column::Time { places: 6 }),
    ("time_us", Column::Time { places: 3 }),
    ("time_ns", Column::Time { places: 0 }),
    ("time_100ns", Column::Ticks),
    ("device", Column::Device),
    ("sector", Column::Address { unit: Unit::Sectors }),
    ("offset_bytes", Column::Address { unit: Unit::Bytes(1) }),
    ("offset_kib", Column::Address { unit: Unit::Bytes(1024) }),
    ("sectors", Column::Length { unit: Unit::Sectors }),
    ("bytes", Column::Length { unit: Unit::Bytes(1) }),
    ("kib", Column::Length { unit: Unit::Bytes(1024) }),
    ("op", Column::Op),
    ("op_read_0", Column::Digit { read: b"0", write: b"1" }),
    ("op_read_1", Column::Digit { read: b"1", write: b"0" }),
    ("flags_hex", Column::Flags),
    ("-", Column::Ignored),
    ("_", Column::Ignored),
    ("...", Column::Rest),
];

/// The columns and what they leave to options.
struct ColumnLayout {
    columns: Vec<Column>,
    sector_bytes: u64,
    op: Option<Op>,
    rhythm: Option<Rhythm>,
    met_a_row: bool,
}

fn new_parser(context: &Context) -> Result<Parser, String> {
    let options = &context.options;
    let written = options.columns.as_deref();
    let written = written.ok_or("needs its columns; give columns = \"time_s,sector,bytes,op\"")?;
    let columns: Vec<Column> = written.split(',').map(column).collect::<Result<_, _>>()?;
    let count = |wanted: fn(&Column) -> bool| columns.iter().filter(|c| wanted(c)).count();
    let once = |name: &str, number: usize| match number {
        1 => Ok(()),
        _ => Err(format!("has columns = \"{written}\"; it must have one column of {name}")),
    };
    once("addresses", count(|c| matches!(c, Column::Address { .. })))?;
    once("lengths", count(|c| matches!(c, Column::Length { .. })))?;
    if count(|c| *c == Column::Device) > 1 {
        once("devices", 2)?;
    }
    let times = count(|c| matches!(c, Column::Time { .. } | Column::Ticks));
    once("times, or row_interval_us", times + usize::from(options.row_interval.is_some()))?;
    let ops = count(|c| matches!(c, Column::Op | Column::Digit { .. } | Column::Flags));
    once("operations, or row_op", ops + usize::from(options.row_op.is_some()))?;
    let rest = columns.iter().position(|c| *c == Column::Rest);
    if rest.is_some_and(|at| at + 1 != columns.len()) {
        return Err(format!("has columns = \"{written}\"; ... must be the last"));
    }
    let mut layout = ColumnLayout {
        columns,
        sector_bytes: options.sector_bytes.map_or(SECTOR_BYTES, u64::from),
        op: options.row_op,
        rhythm: options.row_interval.map(Rhythm::new),
        met_a_row: false,
    };
    Ok(lines(move |line| layout.parse(line)))
}

fn column(name: &str) -> Result<Column, String> {
    let name = name.trim();
    let known = NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, column)| *column).ok_or_else(|| {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("has no column \"{name}\"; there are {}", names.join(", "))
    })
}

impl ColumnLayout {
    fn parse(&mut self, line: &[u8]) -> Result<Row, &'static str> {
        let line = line.trim_ascii();
        if line.starts_with(b"#") {
            return Ok(Row::Other);
        }
        let row = if line.contains(&b',') {
            self.row(line.split(|&byte| byte == b','))
        } else if line.contains(&b';') {
            self.row(line.split(|&byte| byte == b';'))
        } else {
            self.row(line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()))
        };
        if row.is_err() && !self.met_a_row && is_heading(line) {
            return Ok(Row::Other);
        }
        self.met_a_row |= row.is_ok();
        row
    }

    fn row<'a>(&mut self, fields: impl Iterator<Item = &'a [u8]>) -> Result<Row, &'static str> {
        let mut fields = fields.map(<[u8]>::trim_ascii);
        let (mut time_ns, mut device, mut op) = (None, 0, self.op);
        let (mut offset_bytes, mut bytes) = (0, 0);
        for column in &self.columns {
            if *column == Column::Rest {
                break;
            }
            let field = fields.next().ok_or("it has fewer fields than columns names")?;
            match *column {
                Column::Time { places } => {
                    let time = decimal(field, places);
                    time_ns = Some(time.ok_or("the time must be a number, such as 12.5")?);
                }
                Column::Ticks => {
                    let time = integer(field).and_then(|ticks| ticks.checked_mul(100));
                    time_ns = Some(time.ok_or("the time must be whole ticks of 100 ns")?);
                }
                Column::Device => {
                    device = small_integer(field).ok_or("the device must be a whole number")?;
                }
                Column::Address { unit } => {
                    let number = integer(field).ok_or("the address must be a whole number")?;
                    offset_bytes = number.saturating_mul(self.unit_bytes(unit));
                }
                Column::Length { unit } => {
                    let number = integer(field).ok_or("the length must be a whole number")?;
                    bytes = number.saturating_mul(self.unit_bytes(unit));
                }
                Column::Op => {
                    let word = operation(field);
                    op = Some(word.ok_or("the operation must be read, write or trim")?);
                }
                Column::Digit { read, write } => {
                    let of_read = (field == read).then_some(Op::Read);
                    let digit = of_read.or((field == write).then_some(Op::Write));
                    op = Some(digit.ok_or("the operation must be 0 or 1")?);
                }
                Column::Flags => {
                    let flags = hexadecimal(field).ok_or("the flags must be hexadecimal")?;
                    op = Some(if flags & 1 == 0 { Op::Write } else { Op::Read });
                }
                Column::Ignored => {}
                Column::Rest => unreachable!("the loop ends there"),
            }
        }
        if self.columns.last() != Some(&Column::Rest) && fields.next().is_some() {
            return Err("it has more fields than columns names; end them with ... to allow that");
        }
        let time_ns = match (time_ns, &mut self.rhythm) {
            (Some(time_ns), _) => time_ns,
            (None, Some(rhythm)) => rhythm.next_ns()?,
            (None, None) => unreachable!("checked when the columns were"),
        };
        let op = op.expect("checked when the columns were");
        row_of_bytes(time_ns, device, op, offset_bytes, bytes)
    }

    fn unit_bytes(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Sectors => self.sector_bytes,
            Unit::Bytes(bytes) => bytes,
        }
    }
}

/// Whether no field begins with a digit, of which a row has some.
fn is_heading(line: &[u8]) -> bool {
    let fields = line.split(|byte| b",; \t".contains(byte));
    fields.filter_map(<[u8]>::first).all(|first| !first.is_ascii_digit())
}

/// A word as traces have it, in any case.
fn operation(word: &[u8]) -> Option<Op> {
    match word.to_ascii_lowercase().as_slice() {
        b"r" | b"read" | b"rd" => Some(Op::Read),
        b"w" | b"write" | b"wr" => Some(Op::Write),
        b"d" | b"t" | b"trim" | b"discard" | b"unmap" => Some(Op::Trim),
        _ => None,
    }
}
