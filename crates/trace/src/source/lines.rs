//! Splits a stream of bytes into numbered lines, one at a time.

use std::io::{self, BufRead, Read};
use std::path::Path;

use reprieve_base::UserError;

use super::decompress::{ByteReader, open_path};

/// Longest line that is still taken for text: above the blocks of any prompt, below the memory.
const LINE_BYTES_MAX: usize = 1 << 24;

/// A stream of lines without their ends (LF or CRLF).
pub(crate) struct Lines {
    reader: ByteReader,
    buffer: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Opens one file, plain or compressed.
    pub(crate) fn open(path: &Path) -> Result<Lines, UserError> {
        open_path(path).map(Lines::new)
    }

    pub(super) fn new(reader: ByteReader) -> Lines {
        Lines { reader, buffer: Vec::new(), number: 0 }
    }

    /// The next line, or `None` at the end; the last line may lack its end.
    #[inline]
    pub(crate) fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.clear();
        let mut limited = (&mut *self.reader).take(LINE_BYTES_MAX as u64);
        if limited.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.buffer.len() == LINE_BYTES_MAX {
            let sentence = format!("a line of more than {LINE_BYTES_MAX} bytes is not text");
            return Err(io::Error::new(io::ErrorKind::InvalidData, sentence));
        }
        let line = if self.number == 1 { without_mark(&self.buffer) } else { &self.buffer };
        Ok(Some(trim_end(line)))
    }

    /// The line returned last.
    pub(super) fn line(&self) -> &[u8] {
        trim_end(&self.buffer)
    }

    /// Whether the line returned last had an end.
    pub(super) fn is_whole(&self) -> bool {
        self.buffer.ends_with(b"\n")
    }

    /// Number of the line returned last, from 1; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

/// Without the mark of UTF-8 (a BOM) that Windows' programs put before a text.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Without a line's end.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
