//! Splits a stream of bytes into the records of a binary format, one at a time.

use std::io::{self, BufRead};

use super::decompress::ByteReader;
use crate::formats::{RecordParser, Row, Step};

/// Size of reads.
const CHUNK_BYTES: usize = 64 * 1024;

/// A stream of records and how far it has been read.
pub(super) struct Records {
    reader: ByteReader,
    window: Vec<u8>,
    /// First byte of the window that no record has taken.
    start: usize,
    /// Position of that byte in the file.
    offset_bytes: u64,
}

/// The reason why there is no next record.
pub(super) enum RecordError {
    /// The file cannot be read further.
    Damaged(io::Error),
    /// The file ends within a record: the bytes present, and the bytes needed.
    Cut { there_bytes: usize, needed_bytes: usize },
    /// The expected content, and the bytes found.
    Wrong { found: Vec<u8>, expected: &'static str },
}

/// Bytes of a wrong record shown in an error.
const BYTES_SHOWN: usize = 16;

impl Records {
    pub(super) fn new(reader: ByteReader) -> Records {
        Records { reader, window: Vec::new(), start: 0, offset_bytes: 0 }
    }

    /// Offset of the next record.
    pub(super) fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// The content of the next record, or `None` at the end.
    #[inline]
    pub(super) fn next_record(
        &mut self,
        parser: &mut RecordParser,
    ) -> Result<Option<Row>, RecordError> {
        loop {
            let window = &self.window[self.start..];
            match parser(window) {
                Ok(Step::Record(row, bytes)) => {
                    assert!(bytes > 0 && bytes <= window.len(), "a record of {bytes} bytes");
                    self.start += bytes;
                    self.offset_bytes += bytes as u64;
                    return Ok(Some(row));
                }
                Ok(Step::Needs(bytes)) => {
                    assert!(bytes > window.len(), "a parser asks for what it has");
                    let there_bytes = self.fill(bytes).map_err(RecordError::Damaged)?;
                    if there_bytes == 0 {
                        return Ok(None);
                    }
                    if there_bytes < bytes {
                        return Err(RecordError::Cut { there_bytes, needed_bytes: bytes });
                    }
                }
                Err(expected) => {
                    let found = window.iter().take(BYTES_SHOWN).copied().collect();
                    return Err(RecordError::Wrong { found, expected });
                }
            }
        }
    }

    /// Reads until the window has `bytes` bytes or the file ends; returns the number available.
    fn fill(&mut self, bytes: usize) -> io::Result<usize> {
        self.window.drain(..self.start);
        self.start = 0;
        while self.window.len() < bytes {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let taken = chunk.len().min(CHUNK_BYTES);
            self.window.extend_from_slice(&chunk[..taken]);
            self.reader.consume(taken);
        }
        Ok(self.window.len())
    }
}
