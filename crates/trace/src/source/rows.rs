//! The rows of a trace, parsed, each with its place; every error names file and line.

use std::path::Path;

use reprieve_base::UserError;

use super::decompress;
use super::file::{FileRows, NumberedRow, Tallies, damaged};
use super::merge::Merge;
use super::paths;
use super::place::{Files, Place, TraceFile};
use super::sample::Sample;
use super::spread::Spread;
use crate::formats::{self, Context, DropReason, Drops, Format};
use crate::reading::{Reading, SameSecond, ZeroLength};

/// A trace being read.
pub(crate) struct Rows {
    /// Its path, as given.
    name: String,
    files: Files,
    format: &'static Format,
    /// Whether the format was detected.
    is_guessed: bool,
    context: Context,
    source: RowSource,
    spread: Option<Spread>,
    tallies: Tallies,
}

enum RowSource {
    One(FileRows),
    Many(Merge),
}

/// Returns the format of a trace: the one that is named, or that of its first file of a known one.
fn format_of(list: &[TraceFile], reading: &Reading) -> Result<&'static Format, UserError> {
    let named = match reading.format.as_str() {
        "auto" if reading.options.columns.is_some() => Some(formats::find("columns")?),
        "auto" => None,
        name => Some(formats::find(name)?),
    };
    let mut good = named.map(|format| (format, &list[0]));
    let mut refused = None;
    for file in list {
        if good.is_some() {
            break;
        }
        let sample = Sample::of(file)?;
        match formats::detect(&sample, &reading.options) {
            Ok(format) => good = Some((format, file)),
            Err(error) => {
                refused.get_or_insert_with(|| match sample.damage() {
                    Some(damage) => damaged(&file.shown(), 0, damage),
                    None => error.at(file.shown().display()),
                });
            }
        }
    }
    let Some((format, good)) = good else { return Err(refused.expect("every file was refused")) };
    for file in list.iter().filter(|_| list.len() > 1) {
        let sample = Sample::of(file)?;
        if sample.damage().is_none() && formats::is_foreign(format, &sample, &reading.options) {
            let sentence = format!(
                "holds no row of format {}, of which the other files are; {}",
                format.entry.name,
                paths::advice(good, file)
            );
            return Err(UserError::new(sentence).at(file.shown().display()));
        }
    }
    Ok(format)
}

impl Rows {
    /// Opens a trace: a file, a folder, an archive, or a pattern.
    pub(crate) fn open(path: &Path, reading: &Reading) -> Result<Rows, UserError> {
        let list = paths::files_of(path)?;
        let format = format_of(&list, reading)?;
        let context = Context::new(format, &reading.options)
            .map_err(|sentence| UserError::new(sentence).at(path.display()))?;
        let zero_length = reading.options.zero_length.unwrap_or(ZeroLength::Drop);
        let mut tallies = Tallies::default();
        let files = Files { is_binary: context.is_binary(format), list };
        let (list, names) = (files.list.clone(), context.clone());
        let open = move |index: u32| {
            let (reader, progress) = decompress::open(&list[index as usize])?;
            let parser = names.parser(format);
            Ok(FileRows::new(index, reader, progress, format, parser, zero_length))
        };
        let source = match files.list.len() {
            1 => RowSource::One(open(0)?),
            _ => RowSource::Many(Merge::new(&files, Box::new(open), &mut tallies)?),
        };
        let spread = format.whole_seconds
            && reading.options.same_second.unwrap_or(SameSecond::Spread) == SameSecond::Spread;
        let spread = spread.then(Spread::default);
        let name = path.display().to_string();
        let is_guessed = reading.format == "auto";
        Ok(Rows { name, files, format, is_guessed, context, source, spread, tallies })
    }

    /// Notes for the user on how the trace is read.
    pub(crate) fn notes(&self) -> Vec<&'static str> {
        self.format.guess.into_iter().filter(|_| self.is_guessed).collect()
    }

    /// The next request, or `None` at the end of the trace.
    #[inline]
    pub(crate) fn next_row(&mut self) -> Result<Option<NumberedRow>, UserError> {
        let Rows { source, files, tallies, format, spread, .. } = self;
        let files = &*files;
        let mut next = || {
            let row = match source {
                RowSource::One(file) => file.next_row(files, tallies),
                RowSource::Many(merge) => merge.next_row(files, tallies),
            }?;
            if row.is_none() {
                tallies.check_unknown(files, format)?;
            }
            Ok(row)
        };
        let Some(spread) = spread else { return next() };
        spread.next_row(next, |row, sentence| files.error(row.place, sentence))
    }

    /// An error about a row of this trace.
    pub(crate) fn at(&self, place: Place, sentence: impl Into<String>) -> UserError {
        self.files.error(place, sentence)
    }

    /// A place in this trace in words.
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

    /// The trace's name for a device, if it has more than a number.
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

    /// Returns the dropped rows; later stages add theirs here.
    pub(crate) fn drops(&self) -> &Drops {
        &self.tallies.drops
    }

    /// Counts a row that was read and is not used.
    pub(crate) fn drop_row(&mut self, reason: DropReason) {
        self.tallies.drops.count(reason);
    }

    /// Share of the files that has been read.
    pub(crate) fn progress(&self) -> Option<f64> {
        match &self.source {
            RowSource::One(file) => file.progress().share(),
            RowSource::Many(merge) => merge.progress(),
        }
    }
}
