//! Format `columns`: rows of text whose columns the user names, for traces that have no format here
//! (Cello99's many conversions among them).
//!
//! `columns = "time_s,device,sector,bytes,op"` names the fields of a row in their order. Fields
//! are separated by commas if the row has one, else by semicolons, else by blanks or tabs. Fields
//! behind `...` are counted from the end of a row, for names that may have blanks in them.

use reprieve_base::{Entry, Op};

use super::fields::{decimal, integer, operation, small_integer};
use super::table::{Column, Separator, Table, Unit};
use super::tables::{DECIMAL_MS, DECIMAL_S, DECIMAL_US, FLAGS, READ_0, READ_1, TICKS};
use super::{Context, DropReason, Format, PLAIN, Parser};

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

const NAMES: [(&str, Column); 19] = [
    ("time_s", Column::Time(DECIMAL_S, TIME)),
    ("time_ms", Column::Time(DECIMAL_MS, TIME)),
    ("time_us", Column::Time(DECIMAL_US, TIME)),
    ("time_ns", Column::Time(|field| decimal(field, 0), TIME)),
    ("time_100ns", Column::Time(TICKS, "the time must be whole ticks of 100 ns")),
    ("device", Column::Device(small_integer, "the device must be a whole number")),
    ("sector", address(Unit::Blocks)),
    ("offset_bytes", address(Unit::Bytes(1))),
    ("offset_kib", address(Unit::Bytes(1024))),
    ("sectors", length(Unit::Blocks)),
    ("bytes", length(Unit::Bytes(1))),
    ("kib", length(Unit::Bytes(1024))),
    ("op", Column::Op(moving_op, "the operation must be read, write or trim")),
    ("op_read_0", Column::Op(READ_0, "the operation must be 0 or 1")),
    ("op_read_1", Column::Op(READ_1, "the operation must be 0 or 1")),
    ("flags_hex", Column::Op(FLAGS, "the flags must be hexadecimal")),
    ("-", Column::Ignored),
    ("_", Column::Ignored),
    ("...", Column::Rest),
];

const TIME: &str = "the time must be a number, such as 12.5";

const fn address(unit: Unit) -> Column {
    Column::Address(unit, integer, "the address must be a whole number")
}

const fn length(unit: Unit) -> Column {
    Column::Length(unit, integer, "the length must be a whole number")
}

fn moving_op(field: &[u8]) -> Option<Result<Op, DropReason>> {
    operation(field).filter(|op| *op != Op::Flush).map(Ok)
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
    once("addresses", count(|c| matches!(c, Column::Address(..))))?;
    once("lengths", count(|c| matches!(c, Column::Length(..))))?;
    if count(|c| matches!(c, Column::Device(..))) > 1 {
        once("devices", 2)?;
    }
    let times = count(|c| matches!(c, Column::Time(..)));
    once("times, or row_interval_us", times + usize::from(options.row_interval.is_some()))?;
    let ops = count(|c| matches!(c, Column::Op(..)));
    once("operations, or row_op", ops + usize::from(options.row_op.is_some()))?;
    if count(|c| matches!(c, Column::Rest)) > 1 {
        return Err(format!("has columns = \"{written}\"; ... can stand there once"));
    }
    Table::new(Separator::Shown, &columns).parser(context)
}

fn column(name: &str) -> Result<Column, String> {
    let name = name.trim();
    let known = NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, column)| *column).ok_or_else(|| {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("has no column \"{name}\"; there are {}", names.join(", "))
    })
}
