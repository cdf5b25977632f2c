//! Reads and writes rows of text by their columns, for `tables.rs` and for the format `columns`.

use std::io::Write;

use reprieve_base::{Op, SECTOR_BYTES};

use super::fields::{Rhythm, bit, flush, row_of_bytes};
use super::{Context, DropReason, Names, Parser, RawRequest, Row, lines};

/// Reads a field; `None` if it is malformed.
pub(super) type Read<T> = fn(&[u8]) -> Option<T>;

/// Contents of a field, and the error if it is malformed.
#[derive(Clone, Copy)]
pub(super) enum Column {
    /// A time in nanoseconds.
    Time(Read<u64>, &'static str),
    /// Nanoseconds from this row to the next; the first row comes at 0.
    Gap(Read<u64>, &'static str),
    /// The device, or a part of its number: parts add up.
    Device(Read<u32>, &'static str),
    /// The name of a host, whose disks have numbers from `DISKS_PER_HOST` times its own.
    Host,
    Address(Unit, Read<u64>, &'static str),
    Length(Unit, Read<u64>, &'static str),
    Op(Read<Result<Op, DropReason>>, &'static str),
    /// Forced unit access: 0 or 1.
    Fua(&'static str),
    /// A field that has to be well-formed, and changes nothing.
    Checked(fn(&[u8]) -> bool, &'static str),
    Ignored,
    /// Any number of fields.
    Rest,
}

/// The unit of an address or a length.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    /// Of `sector_bytes`, by default 512.
    Blocks,
    Bytes(u64),
}

/// Disk numbers repeat across hosts: disk `d` of the `h`-th host to appear is device
/// `h * 1000 + d`, so that the devices of a trace of one host are its disk numbers.
pub(super) const DISKS_PER_HOST: u32 = 1000;

/// The separator of fields.
#[derive(Clone, Copy)]
pub(super) enum Separator {
    Byte(u8),
    /// Blanks and tabs, in any number.
    Blanks,
    /// A comma if the row has one, else a semicolon, else blanks.
    Shown,
}

impl Separator {
    /// The fields of a line, without blanks around them.
    fn fields(self, line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
        let byte = match self {
            Separator::Byte(byte) => Some(byte),
            Separator::Blanks => None,
            Separator::Shown => [b',', b';'].into_iter().find(|byte| line.contains(byte)),
        };
        let ends = move |at: &u8| byte.map_or(at.is_ascii_whitespace(), |byte| byte == *at);
        let fields = line.split(ends).map(<[u8]>::trim_ascii);
        fields.filter(move |field| byte.is_some() || !field.is_empty())
    }
}

/// The columns of a format.
pub(super) struct Table {
    pub(super) separator: Separator,
    pub(super) columns: Vec<Column>,
    /// The error of a row with another number of fields; `None` names the missing field.
    pub(super) form: Option<&'static str>,
    /// Finds lines that are no request, before their fields are read.
    pub(super) before: fn(&[u8]) -> Result<Option<Row>, &'static str>,
    /// Refuses or drops rows whose fields do not go together.
    pub(super) after: fn(&Fields) -> Result<Option<DropReason>, &'static str>,
}

impl Table {
    /// Columns without conditions.
    pub(super) fn new(separator: Separator, columns: &[Column]) -> Table {
        let columns = columns.to_vec();
        Table { separator, columns, form: None, before: |_| Ok(None), after: |_| Ok(None) }
    }

    /// A parser at the start of a file; operation and time are in the columns or the options.
    pub(super) fn parser(self, context: &Context) -> Result<Parser, String> {
        let options = &context.options;
        let has = |wanted: fn(&Column) -> bool| self.columns.iter().any(wanted);
        let has_op = has(|c| matches!(c, Column::Op(..))) || options.row_op.is_some();
        let has_time = has(|c| matches!(c, Column::Time(..) | Column::Gap(..)));
        if !has_op || !(has_time || options.row_interval.is_some()) {
            let what = "has neither operations nor times; give both row_op and row_interval_us";
            return Err(what.to_owned());
        }
        let mut state = State {
            sector_bytes: options.sector_bytes.map_or(SECTOR_BYTES, u64::from),
            op: options.row_op,
            rhythm: options.row_interval.map(Rhythm::new),
            names: context.names.clone(),
            next_ns: 0,
        };
        Ok(lines(move |line| match (self.before)(line)? {
            Some(row) => Ok(row),
            None => self.row(line, &mut state).map_err(|expected| self.error(line, expected)),
        }))
    }

    fn row(&self, line: &[u8], state: &mut State) -> Result<Row, &'static str> {
        let few = "it has fewer fields than columns names";
        let mut fields = self.separator.fields(line);
        let mut found = Fields::default();
        for (index, column) in self.columns.iter().enumerate() {
            if matches!(column, Column::Rest) {
                let behind = self.columns.len() - 1 - index;
                let rest = fields.clone().count().checked_sub(behind).ok_or(few)?;
                fields.by_ref().take(rest).for_each(drop);
            } else {
                state.read(*column, fields.next().ok_or(few)?, &mut found)?;
            }
        }
        if fields.next().is_some() {
            return Err("it has more fields than columns names; ... among them stands for others");
        }
        match (self.after)(&found)? {
            Some(reason) => Ok(Row::Drop(reason)),
            None => state.request(&found),
        }
    }

    /// The error of a bad row, of which a wrong number of fields comes first.
    #[cold]
    fn error(&self, line: &[u8], expected: &'static str) -> &'static str {
        let has_rest = self.columns.iter().any(|column| matches!(column, Column::Rest));
        let (fields, columns) = (self.separator.fields(line).count(), self.columns.len());
        let is_whole = fields == columns || has_rest && fields + 1 >= columns;
        self.form.filter(|_| !is_whole).unwrap_or(expected)
    }
}

/// The fields of a row.
#[derive(Default)]
pub(super) struct Fields {
    time_ns: Option<u64>,
    gap_ns: u64,
    device: u32,
    pub(super) op: Option<Result<Op, DropReason>>,
    pub(super) offset_bytes: u64,
    pub(super) bytes: u64,
    pub(super) fua: bool,
}

/// The options, and the state of a parser between rows.
struct State {
    sector_bytes: u64,
    /// The operation of rows without one.
    op: Option<Op>,
    /// The times of rows without one.
    rhythm: Option<Rhythm>,
    names: Names,
    /// The time of the next row, if columns have gaps.
    next_ns: u64,
}

impl State {
    /// Reads one field of a row.
    fn read(&mut self, column: Column, field: &[u8], row: &mut Fields) -> Result<(), &'static str> {
        match column {
            Column::Time(read, expected) => row.time_ns = Some(read(field).ok_or(expected)?),
            Column::Gap(read, expected) => row.gap_ns = read(field).ok_or(expected)?,
            Column::Device(read, expected) => row.device += read(field).ok_or(expected)?,
            Column::Host => {
                let first = self.names.number(field).checked_mul(DISKS_PER_HOST);
                let first = first.filter(|first| *first <= u32::MAX - DISKS_PER_HOST);
                row.device = first.ok_or("there are too many hosts to number their disks")?;
            }
            Column::Address(unit, read, expected) => {
                row.offset_bytes = self.in_bytes(read(field).ok_or(expected)?, unit);
            }
            Column::Length(unit, read, expected) => {
                row.bytes = self.in_bytes(read(field).ok_or(expected)?, unit);
            }
            Column::Op(read, expected) => row.op = Some(read(field).ok_or(expected)?),
            Column::Fua(expected) => row.fua = bit(field).ok_or(expected)?,
            Column::Checked(is_good, expected) if !is_good(field) => return Err(expected),
            Column::Checked(..) | Column::Ignored | Column::Rest => {}
        }
        Ok(())
    }

    fn in_bytes(&self, number: u64, unit: Unit) -> u64 {
        number.saturating_mul(match unit {
            Unit::Blocks => self.sector_bytes,
            Unit::Bytes(bytes) => bytes,
        })
    }

    fn request(&mut self, found: &Fields) -> Result<Row, &'static str> {
        let time_ns = match (found.time_ns, &mut self.rhythm) {
            (Some(time_ns), _) => time_ns,
            (None, Some(rhythm)) => rhythm.next_ns()?,
            (None, None) => self.next_ns,
        };
        let row = match found.op.or(self.op.map(Ok)).expect("a column, or checked with options") {
            Err(reason) => Row::Drop(reason),
            Ok(Op::Flush) => flush(time_ns, found.device),
            Ok(op) => row_of_bytes(time_ns, found.device, op, found.offset_bytes, found.bytes)?,
        };
        let next_ns = time_ns.checked_add(found.gap_ns);
        self.next_ns = next_ns.ok_or("the times must be below 584 years")?;
        Ok(row.with_fua(found.fua))
    }
}

/// Appends a row by a template: the names of numbers between braces, with a width behind a colon.
///
/// `ops` has how a read and a write, perhaps a trim and perhaps a flush are written.
pub(super) fn write(
    template: &str,
    ops: &[&str],
    raw: &RawRequest,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    let op = ops.get(raw.op as usize).ok_or(match ops.len() {
        2 => "it holds reads and writes only",
        3 => "it holds no flushes",
        _ => "it holds no operations of zones",
    })?;
    let (ns, sectors) = (raw.time_ns, u64::from(raw.bytes) / SECTOR_BYTES);
    for piece in template.split(['{', '}']) {
        let (name, width) = piece.split_once(':').unwrap_or((piece, "0"));
        let width = width.parse().unwrap_or(0);
        let done = match name {
            "s" => write!(out, "{:width$}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            "ms" => write!(out, "{}.{:06}", ns / 1_000_000, ns % 1_000_000),
            "us" => write!(out, "{}", ns / 1000),
            "100ns" => write!(out, "{}", ns / 100),
            "ns" => write!(out, "{ns}"),
            "device" => write!(out, "{}", raw.device),
            "sector" => write!(out, "{:width$}", raw.offset_bytes / SECTOR_BYTES),
            "sectors" => write!(out, "{sectors:width$}"),
            "offset_bytes" => write!(out, "{}", raw.offset_bytes),
            "bytes" => write!(out, "{}", raw.bytes),
            "op" => write!(out, "{op}"),
            text => write!(out, "{text}"),
        };
        done.expect("writing to memory does not fail");
    }
    out.push(b'\n');
    Ok(())
}
