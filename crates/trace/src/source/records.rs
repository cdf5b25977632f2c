//! Splits a stream of bytes into the records of a binary format, one at a time.

use std::io::{self, BufRead};

use super::decompress::ByteReader;
use crate::formats::{RecordParser, Row, Step};

/// Bytes that are asked for at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A stream of records and how far it has been read.
pub(super) struct Records {
    reader: ByteReader,
    window: Vec<u8>,
    /// First byte of the window that no record has taken.
    start: usize,
    /// Where that byte stands in the file.
    offset_bytes: u64,
}

/// Why there is no next record.
pub(super) enum RecordError {
    /// The file cannot be read further.
    Damaged(io::Error),
    /// The file ends within a record: the bytes there are, and how many there should be.
    Cut { there_bytes: usize, needed_bytes: usize },
    /// What the format expects, and the bytes found instead.
    Wrong { found: Vec<u8>, expected: &'static str },
}

/// Bytes of a wrong record that an error shows.
const BYTES_SHOWN: usize = 16;

impl Records {
    pub(super) fn new(reader: ByteReader) -> Records {
        Records { reader, window: Vec::new(), start: 0, offset_bytes: 0 }
    }

    /// Where the next record begins.
    pub(super) fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// What the next record holds, or `None` at the end.
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

    /// Reads until the window has so many bytes or the file ends; returns how many it has.
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
