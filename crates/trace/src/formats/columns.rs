//! Format `columns`: rows of text whose columns the user names, for traces that have no format here
//! (Cello99's many conversions among them).
//!
//! `columns = "time_s,device,sector,bytes,op"` names the fields of a row in their order. What
//! stands between fields a row shows itself: a comma, else a semicolon, else blanks or tabs. Fields
//! behind `...` are counted from the end of a row, for names that may have blanks in them.

use reprieve_base::{Entry, Op, SECTOR_BYTES};

use super::fields::{
    Rhythm, bit, decimal, hexadecimal, integer, operation, row_of_bytes, small_integer,
};
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
    /// A digit that says read or write.
    Digit {
        reads: bool,
    },
    /// Hexadecimal flags, of which bit 0 says read.
    Flags,
    Ignored,
    /// Any number of fields.
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
    ("op_read_0", Column::Digit { reads: false }),
    ("op_read_1", Column::Digit { reads: true }),
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
}

/// What the fields of a row say so far.
struct Fields {
    time_ns: Option<u64>,
    device: u32,
    op: Option<Op>,
    offset_bytes: u64,
    bytes: u64,
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
    if count(|c| *c == Column::Rest) > 1 {
        return Err(format!("has columns = \"{written}\"; ... can stand there once"));
    }
    let mut layout = ColumnLayout {
        columns,
        sector_bytes: options.sector_bytes.map_or(SECTOR_BYTES, u64::from),
        op: options.row_op,
        rhythm: options.row_interval.map(Rhythm::new),
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
        if line.contains(&b',') {
            self.row(line.split(|&byte| byte == b','))
        } else if line.contains(&b';') {
            self.row(line.split(|&byte| byte == b';'))
        } else {
            self.row(line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()))
        }
    }

    fn row<'a>(
        &mut self,
        fields: impl DoubleEndedIterator<Item = &'a [u8]>,
    ) -> Result<Row, &'static str> {
        let few = "it has fewer fields than columns names";
        let mut fields = fields.map(<[u8]>::trim_ascii);
        let mut found = Fields { time_ns: None, device: 0, op: self.op, offset_bytes: 0, bytes: 0 };
        let mut columns = self.columns.iter();
        let mut is_whole = true;
        for column in columns.by_ref() {
            if *column == Column::Rest {
                is_whole = false;
                break;
            }
            self.field(*column, fields.next().ok_or(few)?, &mut found)?;
        }
        for column in columns.rev() {
            self.field(*column, fields.next_back().ok_or(few)?, &mut found)?;
        }
        if is_whole && fields.next().is_some() {
            return Err("it has more fields than columns names; ... among them stands for others");
        }
        let time_ns = match (found.time_ns, &mut self.rhythm) {
            (Some(time_ns), _) => time_ns,
            (None, Some(rhythm)) => rhythm.next_ns()?,
            (None, None) => unreachable!("checked when the columns were"),
        };
        let op = found.op.expect("checked when the columns were");
        row_of_bytes(time_ns, found.device, op, found.offset_bytes, found.bytes)
    }

    /// Reads one field of a row.
    fn field(&self, column: Column, field: &[u8], row: &mut Fields) -> Result<(), &'static str> {
        match column {
            Column::Time { places } => {
                let time = decimal(field, places);
                row.time_ns = Some(time.ok_or("the time must be a number, such as 12.5")?);
            }
            Column::Ticks => {
                let time = integer(field).and_then(|ticks| ticks.checked_mul(100));
                row.time_ns = Some(time.ok_or("the time must be whole ticks of 100 ns")?);
            }
            Column::Device => {
                row.device = small_integer(field).ok_or("the device must be a whole number")?;
            }
            Column::Address { unit } => {
                let number = integer(field).ok_or("the address must be a whole number")?;
                row.offset_bytes = number.saturating_mul(self.unit_bytes(unit));
            }
            Column::Length { unit } => {
                let number = integer(field).ok_or("the length must be a whole number")?;
                row.bytes = number.saturating_mul(self.unit_bytes(unit));
            }
            Column::Op => {
                let op = operation(field).filter(|op| *op != Op::Flush);
                row.op = Some(op.ok_or("the operation must be read, write or trim")?);
            }
            Column::Digit { reads } => {
                let bit = bit(field).ok_or("the operation must be 0 or 1")?;
                row.op = Some(if bit == reads { Op::Read } else { Op::Write });
            }
            Column::Flags => {
                let flags = hexadecimal(field).ok_or("the flags must be hexadecimal")?;
                row.op = Some(if flags & 1 == 0 { Op::Write } else { Op::Read });
            }
            Column::Ignored | Column::Rest => {}
        }
        Ok(())
    }

    fn unit_bytes(&self, unit: Unit) -> u64 {
        match unit {
            Unit::Sectors => self.sector_bytes,
            Unit::Bytes(bytes) => bytes,
        }
    }
}
