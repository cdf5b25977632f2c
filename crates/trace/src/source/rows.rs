//! The rows of a trace, parsed, each with its place; every error names file and line.

use std::path::Path;

use reprieve_base::UserError;

use super::decompress;
use super::file::{FileRows, NumberedRow, Tallies, damaged};
use super::merge::Merge;
use super::paths;
use super::place::{Files, Place};
use super::sample;
use super::spread::{Spread, SpreadError};
use crate::formats::{self, Context, DropReason, Drops, Format};
use crate::reading::{Reading, SameSecond, ZeroLength};

/// A trace being read.
pub(crate) struct Rows {
    /// As it was asked for.
    name: String,
    files: Files,
    format: &'static Format,
    context: Context,
    source: RowSource,
    spread: Option<Spread>,
    tallies: Tallies,
}

enum RowSource {
    One(FileRows),
    Many(Merge),
}

impl Rows {
    /// Opens a trace: a file, a folder of them, or those that a pattern fits.
    pub(crate) fn open(path: &Path, reading: &Reading) -> Result<Rows, UserError> {
        let paths = paths::expand(path)?;
        let (reader, progress) = decompress::open(&paths[0])?;
        let (format, reader) = match reading.format.as_str() {
            "auto" if reading.options.columns.is_some() => (formats::find("columns")?, reader),
            "auto" => {
                let (sample, rest) = sample::take(reader);
                let found = formats::detect(&sample, &reading.options);
                let format = found.map_err(|error| match sample.damage() {
                    Some(damage) => damaged(&paths[0], 0, damage),
                    None => error.at(paths[0].display()),
                })?;
                (format, rest)
            }
            name => (formats::find(name)?, reader),
        };
        let context = Context::new(format, &reading.options)
            .map_err(|sentence| UserError::new(sentence).at(path.display()))?;
        let zero_length = reading.options.zero_length.unwrap_or(ZeroLength::Drop);
        let mut tallies = Tallies::default();
        let files = Files { is_binary: context.is_binary(format), paths };
        let source = if files.paths.len() == 1 {
            let parser = context.parser(format);
            RowSource::One(FileRows::new(0, (reader, progress), format, parser, zero_length))
        } else {
            drop(reader);
            let (paths, names) = (files.paths.clone(), context.clone());
            let open = move |index: u32| {
                let opened = decompress::open(&paths[index as usize])?;
                Ok(FileRows::new(index, opened, format, names.parser(format), zero_length))
            };
            RowSource::Many(Merge::new(&files, Box::new(open), &mut tallies)?)
        };
        let spread = format.whole_seconds
            && reading.options.same_second.unwrap_or(SameSecond::Spread) == SameSecond::Spread;
        let spread = spread.then(Spread::default);
        let name = path.display().to_string();
        Ok(Rows { name, files, format, context, source, spread, tallies })
    }

    /// The next request, or `None` at the end of the trace.
    #[inline]
    pub(crate) fn next_row(&mut self) -> Result<Option<NumberedRow>, UserError> {
        let Rows { source, files, tallies, .. } = self;
        let mut next = || match source {
            RowSource::One(file) => file.next_row(files, tallies),
            RowSource::Many(merge) => merge.next_row(files, tallies),
        };
        let Some(spread) = &mut self.spread else { return next() };
        match spread.next_row(next) {
            Ok(row) => Ok(row),
            Err(SpreadError::Rows(error)) => Err(error),
            Err(SpreadError::TooMany(row)) => {
                Err(self.files.error(row.place, SpreadError::sentence()))
            }
        }
    }

    /// An error about a row of this trace.
    pub(crate) fn at(&self, place: Place, sentence: impl Into<String>) -> UserError {
        self.files.error(place, sentence)
    }

    /// How a sentence about this trace calls a place in it.
    pub(crate) fn name_of(&self, place: Place) -> String {
        self.files.name(place).to_string()
    }

    /// An error about this trace as a whole.
    pub(crate) fn at_file(&self, sentence: impl Into<String>) -> UserError {
        UserError::new(sentence).at(&self.name)
    }

    /// The format given or found.
    pub(crate) fn format(&self) -> &'static Format {
        self.format
    }

    /// What the trace calls a device, if it has more than a number for it.
    pub(crate) fn device_name(&self, device: u32) -> Option<String> {
        (self.format.device_name)(device, self.context.names())
    }

    /// Rows that hold a request, dropped or not.
    pub(crate) fn count(&self) -> u64 {
        self.tallies.rows
    }

    /// Lines that hold no request: preamble, headings, blank lines.
    pub(crate) fn other_lines(&self) -> u64 {
        self.tallies.other_lines
    }

    /// Rows left out so far; whoever drops a row further on counts it here.
    pub(crate) fn drops(&self) -> &Drops {
        &self.tallies.drops
    }

    /// Counts a row that was read and is not used.
    pub(crate) fn drop_row(&mut self, reason: DropReason) {
        self.tallies.drops.count(reason);
    }

    /// Share of the files that has been fetched.
    pub(crate) fn progress(&self) -> Option<f64> {
        match &self.source {
            RowSource::One(file) => file.progress().share(),
            RowSource::Many(merge) => merge.progress(),
        }
    }
}
