//! Opens a file as a stream of plain bytes, whatever its compression, and counts bytes read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use reprieve_base::UserError;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::place::TraceFile;
use super::tar::{self, Walk as _};

/// Size of reads from the file, and of decompressed chunks.
const CHUNK_BYTES: usize = 128 * 1024;

/// Progress in a file, accessible while its reader is boxed.
pub(super) struct FileProgress {
    file_bytes: u64,
    read_bytes: Arc<AtomicU64>,
}

impl FileProgress {
    /// Size of the file on disk.
    pub(super) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Bytes on disk that have been read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Share of the bytes on disk that has been read; `None` for an empty file.
    pub(super) fn share(&self) -> Option<f64> {
        let share = self.read_bytes() as f64 / self.file_bytes as f64;
        (self.file_bytes > 0).then_some(share.min(1.0))
    }
}

/// A stream of plain bytes.
pub(super) type ByteReader = Box<dyn BufRead + Send>;

/// Opens a file of a trace, or a possibly compressed member of an archive.
pub(super) fn open(file: &TraceFile) -> Result<(ByteReader, FileProgress), UserError> {
    let (mut bytes, progress) = open_bytes(&file.path)?;
    let Some(member) = &file.member else { return Ok((bytes.into_reader(), progress)) };
    let shown = file.shown();
    bytes.skip(member.start).map_err(|error| unreadable(&shown, &error))?;
    let content = bytes.into_reader().take(member.bytes);
    let content = BufReader::with_capacity(CHUNK_BYTES, content);
    Ok((decoded(content, &shown)?.into_reader(), progress))
}

/// The members of a file that is a tar archive, plain or compressed; `None` of any other.
pub(super) fn members(path: &Path) -> Result<Option<Vec<tar::Member>>, UserError> {
    let (mut bytes, progress) = open_bytes(path)?;
    let members = tar::members(&mut bytes).map_err(|error| unreadable(path, &error))?;
    let end = members.iter().flatten().map(|member| member.start + member.bytes).max();
    // A truncated compressed archive is detected by its reader.
    if matches!(bytes, Bytes::Plain(_)) && end > Some(progress.file_bytes) {
        return Err(UserError::new("the tar archive is cut short").at(path.display()));
    }
    Ok(members)
}

fn unreadable(path: &Path, error: &io::Error) -> UserError {
    UserError::new(format!("cannot be read: {error}")).at(path.display())
}

/// The plain bytes of a file.
enum Bytes<R> {
    /// Uncompressed.
    Plain(R),
    Decoded(ByteReader),
}

impl<R: BufRead + Send + 'static> Bytes<R> {
    fn into_reader(self) -> ByteReader {
        match self {
            Bytes::Plain(reader) => Box::new(reader),
            Bytes::Decoded(reader) => reader,
        }
    }
}

impl<R: BufRead> Read for Bytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::Plain(reader) => reader.read(buffer),
            Bytes::Decoded(reader) => reader.read(buffer),
        }
    }
}

impl tar::Walk for Bytes<BufReader<Counted>> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        match self {
            Bytes::Plain(reader) => {
                let bytes = i64::try_from(bytes).map_err(io::Error::other)?;
                reader.seek_relative(bytes)
            }
            Bytes::Decoded(reader) => {
                let skipped = io::copy(&mut reader.take(bytes), &mut io::sink())?;
                if skipped == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
            }
        }
    }
}

fn open_bytes(path: &Path) -> Result<(Bytes<BufReader<Counted>>, FileProgress), UserError> {
    let unreadable = |error: io::Error| unreadable(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        let sentence = "is not a regular file; a trace must be one, as it may be read twice";
        return Err(UserError::new(sentence).at(path.display()));
    }
    let read_bytes = Arc::new(AtomicU64::new(0));
    let progress = FileProgress { file_bytes: metadata.len(), read_bytes: Arc::clone(&read_bytes) };
    let raw = BufReader::with_capacity(CHUNK_BYTES, Counted { file, read_bytes });
    Ok((decoded(raw, path)?, progress))
}

/// Decodes gzip or Zstandard, detected by the first bytes: traces get renamed.
fn decoded<R: BufRead + Send + 'static>(mut raw: R, path: &Path) -> Result<Bytes<R>, UserError> {
    let magic = raw.fill_buf().map_err(|error| unreadable(path, &error))?;
    if let Some(name) = unread_compression(magic) {
        let sentence = format!(
            "is compressed with {name}, which is not read; decompress it, or use gzip or Zstandard"
        );
        return Err(UserError::new(sentence).at(path.display()));
    }
    let reader: ByteReader = if magic.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::with_capacity(CHUNK_BYTES, MultiGzDecoder::new(raw)))
    } else if is_zstd(magic) {
        Box::new(BufReader::with_capacity(CHUNK_BYTES, ZstdFrames::new(raw)))
    } else {
        return Ok(Bytes::Plain(raw));
    };
    Ok(Bytes::Decoded(reader))
}

/// The unsupported compression of a file, which would be misread as rows.
fn unread_compression(magic: &[u8]) -> Option<&'static str> {
    const MAGICS: [(&[u8], &str); 3] =
        [(b"\xfd7zXZ\0", "xz"), (b"7z\xbc\xaf\x27\x1c", "7-Zip"), (b"PK\x03\x04", "Zip")];
    // A block of bzip2 begins with the digits of pi behind "BZh" and its level.
    let bzip2 = magic.starts_with(b"BZh") && magic.get(4..10) == Some(b"1AY&SY");
    let known = MAGICS.iter().find(|(start, _)| magic.starts_with(start));
    if bzip2 { Some("bzip2") } else { known.map(|(_, name)| *name) }
}

/// A frame of RFC 8878 begins with 0xFD2FB528, a skippable one with 0x184D2A50 to 0x184D2A5F,
/// both little-endian.
fn is_zstd(magic: &[u8]) -> bool {
    match magic {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => true,
        [low, 0x2a, 0x4d, 0x18, ..] => low & 0xf0 == 0x50,
        _ => false,
    }
}

/// A file that counts the bytes read from it.
struct Counted {
    file: File,
    read_bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read_bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// All the frames of a Zstandard file, one after the other, their checksums compared.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> ZstdFrames<R> {
        ZstdFrames { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Reads the header of the next frame with content; false at the end of the file.
    fn start_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut content = (&mut self.source).take(u64::from(length));
                    let skipped = io::copy(&mut content, &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(false)
    }

    /// The decoder's error, or, at its end, that the file is truncated.
    fn broken(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => {
                let sentence = "the file ends within a frame";
                io::Error::new(io::ErrorKind::UnexpectedEof, sentence)
            }
            Ok(_) => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
            Err(unreadable) => unreadable,
        }
    }

    fn check_sum(&self) -> io::Result<()> {
        let stored = self.decoder.get_checksum_from_data();
        match (stored, self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(found)) if stored != found => {
                let sentence = "the checksum of a frame does not match its content";
                Err(io::Error::new(io::ErrorKind::InvalidData, sentence))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame {
                if !self.start_frame()? {
                    return Ok(0);
                }
                self.in_frame = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.source, one);
                decoded.map_err(|error| self.broken(&error))?;
            }
            let count = self.decoder.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            self.check_sum()?;
            self.in_frame = false;
        }
    }
}
