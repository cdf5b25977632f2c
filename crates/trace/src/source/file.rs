//! One file of a trace, parsed row by row.

use std::cmp::Ordering;
use std::fmt::Display;
use std::path::Path;

use reprieve_base::UserError;

use super::decompress::{ByteReader, FileProgress};
use super::lines::Lines;
use super::place::{Files, Place};
use super::records::{RecordError, Records};
use crate::formats::{
    DropReason, Drops, Format, Parser, RawRequest, RecordParser, Row, TextParser,
};
use crate::reading::ZeroLength;

/// Characters of a bad row shown in an error.
const ROW_CHARS_SHOWN: usize = 80;

/// A request and its place, in order of time and, where that is equal, of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberedRow {
    /// Its place.
    pub(crate) place: Place,
    /// The content of the row.
    pub(crate) raw: RawRequest,
}

impl Ord for NumberedRow {
    fn cmp(&self, other: &NumberedRow) -> Ordering {
        (self.raw.time_ns, self.place).cmp(&(other.raw.time_ns, other.place))
    }
}

impl PartialOrd for NumberedRow {
    fn partial_cmp(&self, other: &NumberedRow) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Counts over all files.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies {
    pub(super) rows: u64,
    pub(super) other_lines: u64,
    pub(super) drops: Drops,
    /// The first unknown event: its place, and in a text file its text.
    pub(super) first_unknown: Option<(Place, String)>,
}

/// Share of the rows, in percent, up to which unknown events are dropped and counted.
const UNKNOWN_PERCENT_MAX: u64 = 5;

/// Rows from which on that share is checked before the end.
const ROWS_TO_JUDGE: u64 = 10_000;

impl Tallies {
    /// Errors if too many of the rows are unknown events.
    pub(super) fn check_unknown(&self, files: &Files, format: &Format) -> Result<(), UserError> {
        let unknown = self.drops.of(DropReason::UnknownEvent);
        if unknown * 100 <= self.rows * UNKNOWN_PERCENT_MAX {
            return Ok(());
        }
        let (place, written) = match &self.first_unknown {
            Some((place, written)) => (*place, format!("`{written}`")),
            None => (Place::default(), "its first".to_owned()),
        };
        let sentence = format!(
            "{written} is an event that is not known, by its rwbs: {unknown} of {} rows of {} are \
             such, and more than {UNKNOWN_PERCENT_MAX} % are not left out",
            self.rows, format.entry.name
        );
        Err(files.error(place, sentence))
    }

    pub(super) fn add(&mut self, other: &Tallies) {
        self.first_unknown = self.first_unknown.take().or_else(|| other.first_unknown.clone());
        self.rows += other.rows;
        self.other_lines += other.other_lines;
        self.drops.add(&other.drops);
    }
}

/// A file being read.
pub(super) struct FileRows {
    index: u32,
    format: &'static Format,
    feed: Feed,
    progress: FileProgress,
    zero_length: ZeroLength,
}

enum Feed {
    Lines(Lines, TextParser),
    Records(Records, RecordParser),
}

impl FileRows {
    pub(super) fn new(
        index: u32,
        reader: ByteReader,
        progress: FileProgress,
        format: &'static Format,
        parser: Parser,
        zero_length: ZeroLength,
    ) -> FileRows {
        let feed = match parser {
            Parser::Lines(parser) => Feed::Lines(Lines::new(reader), parser),
            Parser::Records(parser) => Feed::Records(Records::new(reader), parser),
        };
        FileRows { index, format, feed, progress, zero_length }
    }

    /// The next request, or `None` at the end of the file.
    #[inline]
    pub(super) fn next_row(
        &mut self,
        files: &Files,
        tallies: &mut Tallies,
    ) -> Result<Option<NumberedRow>, UserError> {
        loop {
            let (place, row) = match &mut self.feed {
                Feed::Lines(lines, parser) => {
                    let line = match lines.next_line() {
                        Ok(Some(line)) => line,
                        Ok(None) => return Ok(None),
                        Err(error) => {
                            let path = files.path(Place { file: self.index, line: 0 });
                            return Err(damaged(&path, tallies.rows, &error));
                        }
                    };
                    let parsed = parser.parse(line).map_err(|expected| {
                        (format!("`{}` is not a row of", show(line)), expected)
                    });
                    let place = Place { file: self.index, line: lines.number() };
                    match parsed {
                        Ok(Row::Drop(DropReason::UnknownEvent)) => {
                            let line = lines.line();
                            tallies.first_unknown.get_or_insert_with(|| (place, show(line)));
                            (place, Row::Drop(DropReason::UnknownEvent))
                        }
                        Ok(row) => (place, row),
                        Err(_) if self.format.may_be_cut && !lines.is_whole() => {
                            (place, Row::Other)
                        }
                        Err((found, expected)) => {
                            let name = self.format.entry.name;
                            return Err(files.error(place, format!("{found} {name}: {expected}")));
                        }
                    }
                }
                Feed::Records(records, parser) => {
                    let place = Place { file: self.index, line: records.offset_bytes() };
                    match records.next_record(parser) {
                        Ok(Some(row)) => (place, row),
                        Ok(None) => return Ok(None),
                        Err(error) => return Err(self.bad_record(files, place, tallies, &error)),
                    }
                }
            };
            match row {
                Row::Request(raw) => {
                    tallies.rows += 1;
                    return Ok(Some(NumberedRow { place, raw }));
                }
                Row::Drop(DropReason::ZeroLength) if self.zero_length == ZeroLength::Error => {
                    let sentence = "a request of no length; with zero_length = \"drop\" such rows \
                                    are left out and counted";
                    return Err(files.error(place, sentence));
                }
                Row::Drop(reason) => {
                    tallies.rows += 1;
                    tallies.drops.count(reason);
                    if reason == DropReason::UnknownEvent && tallies.rows >= ROWS_TO_JUDGE {
                        tallies.check_unknown(files, self.format)?;
                    }
                }
                Row::Other => tallies.other_lines += 1,
            }
        }
    }

    fn bad_record(
        &self,
        files: &Files,
        place: Place,
        tallies: &Tallies,
        error: &RecordError,
    ) -> UserError {
        let name = self.format.entry.name;
        match error {
            RecordError::Damaged(error) => damaged(&files.path(place), tallies.rows, error),
            RecordError::Cut { there_bytes, needed_bytes } => files.error(
                place,
                format!(
                    "is cut short after {} rows: the file ends {there_bytes} bytes into a record \
                     of {name} of {needed_bytes} or more",
                    tallies.rows
                ),
            ),
            RecordError::Wrong { found, expected } => {
                let hex: Vec<String> = found.iter().map(|byte| format!("{byte:02x}")).collect();
                let sentence = format!("`{}` is not a record of {name}: {expected}", hex.join(" "));
                files.error(place, sentence)
            }
        }
    }

    pub(super) fn progress(&self) -> &FileProgress {
        &self.progress
    }
}

pub(super) fn damaged(path: &Path, rows: u64, error: impl Display) -> UserError {
    UserError::new(format!("is cut short or damaged after {rows} rows: {error}")).at(path.display())
}

/// A line for an error message: printable, and truncated.
pub(crate) fn show(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown: String = text.chars().take(ROW_CHARS_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown.replace(char::is_control, " ")
}
