//! The beginning of a stream, looked at without being lost to the reader that follows.

use std::io::{self, BufRead, Cursor, Read};

use super::decompress::ByteReader;
use super::lines::{trim_end, without_mark};

/// Decompressed bytes from which the format is told: well beyond any preamble.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// The first lines of a stream.
pub(crate) struct Sample {
    bytes: Vec<u8>,
    damage: Option<String>,
}

impl Sample {
    /// Why the stream could not be read further, if it could not.
    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The sample as it stands, for formats of records.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The sample as text, without the mark that may be before it.
    pub(crate) fn text(&self) -> &[u8] {
        without_mark(&self.bytes)
    }

    /// The whole lines of the sample; the last counts only if the stream ends with it.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let cut = self.bytes.len() as u64 == SAMPLE_BYTES;
        let text = self.text();
        let whole = match text.iter().rposition(|&byte| byte == b'\n') {
            Some(last) if cut => &text[..=last],
            _ => text,
        };
        whole.split_inclusive(|&byte| byte == b'\n').map(trim_end)
    }
}

/// Reads a sample, and returns it with a stream that still begins at the beginning.
pub(super) fn take(mut reader: ByteReader) -> (Sample, ByteReader) {
    let mut bytes = Vec::new();
    let error = (&mut reader).take(SAMPLE_BYTES).read_to_end(&mut bytes).err();
    let damage = error.as_ref().map(io::Error::to_string);
    let rest = Rest { error, reader };
    (Sample { bytes: bytes.clone(), damage }, Box::new(Cursor::new(bytes).chain(rest)))
}

/// What follows a sample: the error met while taking it, if any, then the rest of the stream.
///
/// The error waits until the rows before it have been read, so that it can say how many.
struct Rest {
    error: Option<io::Error>,
    reader: ByteReader,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.reader.read(buffer),
        }
    }
}

impl BufRead for Rest {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.reader.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
    }
}
