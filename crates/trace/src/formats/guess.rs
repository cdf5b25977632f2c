//! The refusal of a file that no format fits, with columns that would read it where they show.

use super::fields::{decimal, integer, operation};
use super::{Context, Names, Parser, Row, columns, text};
use crate::reading::ReadOptions;
use crate::source::{Sample, show};

/// Rows from which columns are guessed.
const ROWS: usize = 20;

/// Returns the error about a file that is not read: its first line, and a remedy.
pub(super) fn refusal(sample: &Sample) -> String {
    let bytes = sample.bytes();
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return "is text of UTF-16, which is not read; write it as UTF-8, as \
                `iconv -f UTF-16 -t UTF-8` does"
            .to_owned();
    }
    let is_row = |line: &&[u8]| {
        let line = line.trim_ascii();
        !line.is_empty() && !line.starts_with(b"#") && !text::is_heading(line)
    };
    let rows: Vec<&[u8]> = sample.lines().filter(is_row).take(ROWS).collect();
    let words = || sample.lines().find(|line| !line.trim_ascii().is_empty());
    let Some(first) = rows.first().copied().or_else(words) else {
        return "holds no row of any trace format".to_owned();
    };
    let shown = show(first);
    match columns_of(&rows) {
        Some(columns) => format!(
            "no trace format fits `{shown}`; name its `format`, or its columns: columns = \
             \"{columns}\" would read this row, if that is what they are"
        ),
        None => format!(
            "no trace format fits `{shown}`; if it is a trace of block requests, name its \
             `format`, or its columns, such as columns = \"time_s,offset_bytes,bytes,op\""
        ),
    }
}

/// The columns of the first row, if they have a time, an operation, an address and a length, and
/// read it.
fn columns_of(rows: &[&[u8]]) -> Option<String> {
    let table: Vec<Vec<&[u8]>> = rows.iter().map(|row| fields(row)).collect();
    let first = table.first()?;
    let is_number = |at: &usize| decimal(first[*at], 0).is_some();
    let op = (0..first.len()).find(|at| operation(first[*at]).is_some())?;
    let numbers: Vec<usize> = (0..first.len()).filter(is_number).collect();
    let has_point = |at: &&usize| first[**at].contains(&b'.');
    let rises = |at: &&usize| {
        let times: Vec<u64> = table.iter().filter_map(|row| decimal(row.get(**at)?, 1)).collect();
        times.is_sorted() && times.first() < times.last()
    };
    let time = *numbers.iter().find(has_point).or_else(|| numbers.iter().find(rises))?;
    let whole = |at: usize| integer(first[at]);
    let mut rest = numbers.into_iter().filter(|at| *at != time && whole(*at).is_some());
    let in_sectors = |at: usize| {
        let whole = |row: &Vec<&[u8]>| row.get(at).and_then(|field| integer(field));
        table.iter().all(|row| whole(row).is_some_and(|number| number % 512 == 0))
    };
    // The address varies more than the length; else it is the sector of a length in bytes, or the
    // larger.
    let mut places: Vec<usize> = rest.by_ref().filter(|at| whole(*at) > Some(0)).collect();
    places.sort_by_key(|at| std::cmp::Reverse(distinct(&table, *at)));
    let (mut address, mut length) = (*places.first()?, *places.get(1)?);
    let is_in_order = match in_sectors(address) == in_sectors(length) {
        true => whole(address) > whole(length),
        false => in_sectors(length),
    };
    if distinct(&table, address) == distinct(&table, length) && !is_in_order {
        (address, length) = (length, address);
    }
    let mut names = vec!["-"; first.len()];
    names[time] = time_unit(first[time]);
    names[op] = "op";
    names[length] = if in_sectors(length) { "bytes" } else { "sectors" };
    names[address] = if in_sectors(address) { "offset_bytes" } else { "sector" };
    let columns = names.join(",");
    reads(&columns, rows[0]).then_some(columns)
}

/// Returns the number of distinct values of a column in these rows.
fn distinct(table: &[Vec<&[u8]>], at: usize) -> usize {
    let mut values: Vec<&[u8]> = table.iter().filter_map(|row| row.get(at).copied()).collect();
    values.sort_unstable();
    values.dedup();
    values.len()
}

/// The unit of a time that began in 1970, or in 1601 of FILETIME, or is small.
fn time_unit(field: &[u8]) -> &'static str {
    match integer(field) {
        _ if field.contains(&b'.') => "time_s",
        Some(1_000_000_000_000_000_000..) => "time_ns",
        Some(100_000_000_000_000_000..) => "time_100ns",
        Some(1_000_000_000_000_000..) => "time_us",
        Some(1_000_000_000_000..) => "time_ms",
        _ => "time_s",
    }
}

fn fields(row: &[u8]) -> Vec<&[u8]> {
    let separator = text::separator(row);
    let is_blank = matches!(separator, b' ' | b'\t');
    let between = |byte: &u8| *byte == separator || (is_blank && byte.is_ascii_whitespace());
    let fields = row.split(between).map(<[u8]>::trim_ascii);
    let unquoted =
        fields.map(|f| f.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\"")).unwrap_or(f));
    unquoted.filter(|field| !is_blank || !field.is_empty()).collect()
}

/// Returns whether these columns read a row.
fn reads(columns: &str, row: &[u8]) -> bool {
    let options = ReadOptions { columns: Some(columns.to_owned()), ..ReadOptions::default() };
    let context = Context { options, names: Names::default() };
    match (columns::FORMAT.new_parser)(&context) {
        Ok(Parser::Lines(mut parser)) => matches!(parser.parse(row), Ok(Row::Request(_))),
        _ => false,
    }
}
