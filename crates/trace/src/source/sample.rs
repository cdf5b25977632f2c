//! A sample of the beginning of a stream, which stays readable.

use std::io::{self, BufRead, Cursor, Read};

use super::decompress::ByteReader;
use super::lines::{trim_end, without_mark};

/// Decompressed bytes for detection of the format: well beyond any preamble.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// The first lines of a stream.
pub(crate) struct Sample {
    bytes: Vec<u8>,
    damage: Option<String>,
}

impl Sample {
    /// The reason why the stream could not be read further, if any.
    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The bytes of the sample, for formats of records.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The sample as text, without a byte-order mark.
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

/// Reads a sample, and returns it with a stream that includes it.
pub(super) fn take(mut reader: ByteReader) -> (Sample, ByteReader) {
    let mut bytes = Vec::new();
    let error = (&mut reader).take(SAMPLE_BYTES).read_to_end(&mut bytes).err();
    let damage = error.as_ref().map(io::Error::to_string);
    let rest = Rest { error, reader };
    (Sample { bytes: bytes.clone(), damage }, Box::new(Cursor::new(bytes).chain(rest)))
}

/// The stream after a sample: the error met while taking it, if any, then the rest.
///
/// The error is reported after the rows before it, so that it can state their number.
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
