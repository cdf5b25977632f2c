//! A trace written in another format.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

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
/// The output is in order of time, starts at time 0, and is gzip if its name ends in `.gz`; after
/// an error it is incomplete. Requests are widened to whole sectors and times rounded down where
/// the new format holds no others, which is counted.
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
    let unwritable = |error: io::Error| {
        UserError::new(format!("cannot be written: {error}")).at(output.display())
    };
    let mut out = Sink::create(output).map_err(unwritable)?;
    out.append(writer.heading.as_bytes()).map_err(unwritable)?;
    let mut line = Vec::new();
    while let Some(row) = conversion.next_line(&mut line)? {
        out.append(row).map_err(unwritable)?;
    }
    if conversion.counts.requests == 0 {
        return Err(conversion.rows.rows().at_file("has no request to convert"));
    }
    out.finish().map_err(unwritable)?;
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

/// The file written, compressed if its name ends in `.gz`.
enum Sink {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
}

impl Sink {
    fn create(path: &Path) -> io::Result<Sink> {
        let file = BufWriter::new(File::create(path)?);
        let gzip = path.extension().is_some_and(|extension| extension == "gz");
        Ok(if gzip {
            Sink::Gzip(GzEncoder::new(file, Compression::default()))
        } else {
            Sink::Plain(file)
        })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Sink::Plain(file) => file.write_all(bytes),
            Sink::Gzip(encoder) => encoder.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Sink::Plain(mut file) => file.flush(),
            Sink::Gzip(encoder) => encoder.finish()?.flush(),
        }
    }
}
