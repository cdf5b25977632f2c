//! The rows of a trace, parsed, each with its line; every error names file and line.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use reprieve_base::UserError;

use super::decompress::{self, FileProgress};
use super::lines::Lines;
use super::sample;
use crate::formats::{self, DropReason, Drops, Format, Parser, RawRequest, Row};

/// Characters of a bad row that an error shows.
const ROW_CHARS_SHOWN: usize = 80;

/// A request and the line it stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberedRow {
    /// From 1.
    pub(crate) line: u64,
    /// What the line says.
    pub(crate) raw: RawRequest,
}

/// A trace being read.
pub(crate) struct Rows {
    path: PathBuf,
    format: &'static Format,
    parser: Parser,
    lines: Lines,
    progress: FileProgress,
    rows: u64,
    other_lines: u64,
    drops: Drops,
}

impl Rows {
    /// Opens a trace; `format` is `"auto"` or a registered name.
    pub(crate) fn open(path: &Path, format: &str) -> Result<Rows, UserError> {
        let (mut reader, progress) = decompress::open(path)?;
        let format = if format == "auto" {
            let (sample, rest) = sample::take(reader);
            reader = rest;
            let found = formats::detect(&sample);
            found.map_err(|error| match sample.damage() {
                Some(damage) => damaged(path, 0, damage),
                None => error.at(path.display()),
            })?
        } else {
            formats::find(format)?
        };
        Ok(Rows {
            path: path.to_owned(),
            format,
            parser: (format.new_parser)(),
            lines: Lines::new(reader),
            progress,
            rows: 0,
            other_lines: 0,
            drops: Drops::default(),
        })
    }

    /// The next request, or `None` at the end of the file.
    #[inline]
    pub(crate) fn next_row(&mut self) -> Result<Option<NumberedRow>, UserError> {
        loop {
            let line = match self.lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(None),
                Err(error) => return Err(damaged(&self.path, self.rows, &error)),
            };
            match formats::parse(&mut self.parser, line) {
                Ok(Row::Request(raw)) => {
                    self.rows += 1;
                    return Ok(Some(NumberedRow { line: self.lines.number(), raw }));
                }
                Ok(Row::Drop(reason)) => {
                    self.rows += 1;
                    self.drops.count(reason);
                }
                Ok(Row::Other) => self.other_lines += 1,
                Err(expected) => {
                    let shown = show(line);
                    let name = self.format.entry.name;
                    let sentence = format!("`{shown}` is not a row of {name}: {expected}");
                    return Err(self.at_line(self.lines.number(), sentence));
                }
            }
        }
    }

    /// An error about a line of this trace.
    pub(crate) fn at_line(&self, line: u64, sentence: impl Into<String>) -> UserError {
        UserError::new(sentence).at(format_args!("{}:{line}", self.path.display()))
    }

    /// An error about this trace as a whole.
    pub(crate) fn at_file(&self, sentence: impl Into<String>) -> UserError {
        UserError::new(sentence).at(self.path.display())
    }

    /// The format given or found.
    pub(crate) fn format(&self) -> &'static Format {
        self.format
    }

    /// Rows that hold a request, dropped or not.
    pub(crate) fn count(&self) -> u64 {
        self.rows
    }

    /// Lines that hold no request: preamble, headings, blank lines.
    pub(crate) fn other_lines(&self) -> u64 {
        self.other_lines
    }

    /// Rows left out so far; whoever drops a row further on counts it here.
    pub(crate) fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Counts a row that was read and is not used.
    pub(crate) fn drop_row(&mut self, reason: DropReason) {
        self.drops.count(reason);
    }

    /// Share of the file that has been fetched.
    pub(crate) fn progress(&self) -> Option<f64> {
        self.progress.share()
    }
}

fn damaged(path: &Path, rows: u64, error: impl Display) -> UserError {
    UserError::new(format!("is cut short or damaged after {rows} rows: {error}")).at(path.display())
}

/// A line as an error shows it: printable, and not longer than a sentence bears.
fn show(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown: String = text.chars().take(ROW_CHARS_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown.replace(char::is_control, " ")
}
