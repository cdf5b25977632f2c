//! A sample of the beginning of a file.

use std::io::{self, Read};

use reprieve_base::UserError;

use super::decompress;
use super::lines::{trim_end, without_mark};
use super::place::TraceFile;

/// Decompressed bytes for detection of the format: well beyond any preamble.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// The first bytes of a file, decompressed.
pub(crate) struct Sample {
    bytes: Vec<u8>,
    damage: Option<String>,
}

impl Sample {
    /// Reads the beginning of a file.
    pub(super) fn of(file: &TraceFile) -> Result<Sample, UserError> {
        let mut bytes = Vec::new();
        let (reader, _) = decompress::open(file)?;
        let error = reader.take(SAMPLE_BYTES).read_to_end(&mut bytes).err();
        Ok(Sample { bytes, damage: error.as_ref().map(io::Error::to_string) })
    }

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
