//! A trace written in another format, wholly or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use reprieve_base::UserError;

use crate::counts::Counts;
use crate::formats::{self, Format, RawRequest, Writer};
use crate::reading::Reading;
use crate::source::{NumberedRow, Place, Rows};
use crate::transform::{Ordered, SORT_WINDOW_ROWS, widen};

/// Writes the trace `input` to `output` in the format `to_format`.
///
/// The output is in order of time, starts at time 0, and appears under its name only when it is
/// complete; it is gzip if that name ends in `.gz`. Requests are widened to whole sectors and
/// times rounded down where the new format holds no others, which is counted.
pub fn convert(
    input: &Path,
    reading: impl Into<Reading>,
    output: &Path,
    to_format: &str,
) -> Result<Counts, UserError> {
    let target = formats::find(to_format)?;
    let Some(writer) = &target.writer else {
        let names = formats::writable().join(", ");
        let sentence = format!("\"{to_format}\" is only read; it can be one of {names}");
        return Err(UserError::new(sentence));
    };
    let rows = Ordered::new(Rows::open(input, &reading.into())?, SORT_WINDOW_ROWS);
    let mut conversion =
        Conversion { rows, target, writer, zero_ns: None, device: None, counts: Counts::default() };
    let mut out = PendingFile::create(output)?;
    out.append(writer.heading.as_bytes())?;
    let mut line = Vec::new();
    while let Some(row) = conversion.next_line(&mut line)? {
        out.append(row)?;
    }
    if conversion.counts.requests == 0 {
        return Err(conversion.rows.rows().at_file("has no request to convert"));
    }
    out.finish()?;
    Ok(conversion.counts())
}

/// Conversion of rows from one format to another.
struct Conversion {
    rows: Ordered,
    target: &'static Format,
    writer: &'static Writer,
    zero_ns: Option<u64>,
    /// The first row's device.
    device: Option<u32>,
    counts: Counts,
}

impl Conversion {
    /// The next row in the new format, or `None` after the last.
    fn next_line<'a>(&mut self, line: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>, UserError> {
        let Some(NumberedRow { place, raw }) = self.rows.next_row()? else {
            return Ok(None);
        };
        let raw = self.fitted(raw).map_err(|what| self.refused(place, &what))?;
        line.clear();
        (self.writer.row)(&raw, line).map_err(|what| self.refused(place, what))?;
        self.counts.requests += 1;
        Ok(Some(line))
    }

    /// The request within the limits of the new format.
    fn fitted(&mut self, raw: RawRequest) -> Result<RawRequest, String> {
        let first = *self.device.get_or_insert(raw.device);
        if !self.writer.holds_devices && raw.device != first {
            return Err(format!(
                "it has no devices, and the rows of devices {first} and {} would be mixed up",
                raw.device
            ));
        }
        if raw.fua && !self.writer.holds_fua {
            return Err("it holds no forced unit access".to_string());
        }
        let zero_ns = *self.zero_ns.get_or_insert(raw.time_ns);
        let exact_ns = raw.time_ns - zero_ns;
        let time_ns = exact_ns - exact_ns % self.writer.tick_ns;
        self.counts.times_rounded += u64::from(time_ns != exact_ns);
        let (widened, changed) = if self.writer.whole_sectors { widen(raw) } else { (raw, false) };
        self.counts.widened += u64::from(changed);
        Ok(RawRequest { time_ns, ..widened })
    }

    fn refused(&self, place: Place, what: &str) -> UserError {
        let name = self.target.entry.name;
        self.rows.rows().at(place, format!("this row cannot be written as {name}: {what}"))
    }

    fn counts(self) -> Counts {
        let Counts { rows, dropped, resorted, .. } = self.rows.counts();
        Counts { rows, dropped, resorted, ..self.counts }
    }
}

/// A file that gets its name once complete, and is removed otherwise.
struct PendingFile {
    path: PathBuf,
    temporary: PathBuf,
    sink: Option<Sink>,
}

enum Sink {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
}

impl PendingFile {
    fn create(path: &Path) -> Result<PendingFile, UserError> {
        // Beside its final place, so that renaming does not cross file systems.
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary).map_err(|error| unwritable(path, &error))?;
        let file = BufWriter::new(file);
        let gzip = path.extension().is_some_and(|extension| extension == "gz");
        let sink = if gzip {
            Sink::Gzip(GzEncoder::new(file, Compression::default()))
        } else {
            Sink::Plain(file)
        };
        Ok(PendingFile { path: path.to_owned(), temporary, sink: Some(sink) })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), UserError> {
        let result = match self.sink.as_mut().expect("open until finished") {
            Sink::Plain(file) => file.write_all(bytes),
            Sink::Gzip(encoder) => encoder.write_all(bytes),
        };
        result.map_err(|error| unwritable(&self.path, &error))
    }

    fn finish(mut self) -> Result<(), UserError> {
        let flushed = match self.sink.take().expect("open until finished") {
            Sink::Plain(mut file) => file.flush(),
            Sink::Gzip(encoder) => encoder.finish().and_then(|mut file| file.flush()),
        };
        let renamed = flushed.and_then(|()| fs::rename(&self.temporary, &self.path));
        renamed.map_err(|error| {
            // The first error is the one to report.
            let _ = fs::remove_file(&self.temporary);
            unwritable(&self.path, &error)
        })
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if self.sink.is_some() {
            // An error is being reported already; a leftover file is harmless.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> UserError {
    UserError::new(format!("cannot be written: {error}")).at(path.display())
}
