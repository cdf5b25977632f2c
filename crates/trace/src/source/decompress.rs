//! Opens a file as a stream of plain bytes, whatever its compression, and counts bytes read.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use reprieve_base::UserError;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::held::{self, Content};
use super::place::TraceFile;
use super::tar;

/// Size of reads from the file, and of decompressed chunks.
const CHUNK_BYTES: usize = 128 * 1024;

/// Progress in a file, accessible while its reader is boxed.
pub(super) struct FileProgress {
    /// Size of the file on disk.
    pub(super) file_bytes: u64,
    read_bytes: Arc<AtomicU64>,
}

impl FileProgress {
    /// Returns the number of bytes on disk that have been read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Returns the share of the bytes on disk that has been read; `None` for an empty file.
    pub(super) fn share(&self) -> Option<f64> {
        let share = self.read_bytes() as f64 / self.file_bytes as f64;
        (self.file_bytes > 0).then_some(share.min(1.0))
    }
}

/// A stream of plain bytes.
pub(super) type ByteReader = Box<dyn BufRead + Send>;

/// Opens a file of a trace, or a possibly compressed member of an archive.
pub(super) fn open(file: &TraceFile) -> Result<(ByteReader, FileProgress), UserError> {
    let (mut raw, progress) = open_file(&file.path)?;
    let Some(member) = &file.member else { return Ok((decoded(raw, &file.path)?, progress)) };
    let shown = file.shown();
    let unreadable = |error: io::Error| unreadable(&shown, &error);
    let archive: ByteReader = match Compression::of(&mut raw, &file.path)? {
        Compression::None => {
            let start = i64::try_from(member.start).map_err(io::Error::other);
            start.and_then(|start| raw.seek_relative(start)).map_err(unreadable)?;
            Box::new(raw)
        }
        Compression::Gzip | Compression::Zstd => {
            let mut archive = decoded(raw, &file.path)?;
            skip(&mut archive, member.start).map_err(unreadable)?;
            archive
        }
    };
    let content = BufReader::with_capacity(CHUNK_BYTES, archive.take(member.bytes));
    Ok((decoded(content, &shown)?, progress))
}

/// Opens one file, plain or compressed.
pub(super) fn open_path(path: &Path) -> Result<ByteReader, UserError> {
    decoded(open_file(path)?.0, path)
}

/// Returns the members of a file that is a tar archive, plain or compressed; `None` of any other.
pub(super) fn members(path: &Path) -> Result<Option<Vec<tar::Member>>, UserError> {
    let unreadable = |error: io::Error| unreadable(path, &error);
    if !tar::is_archive(decoded(open_file(path)?.0, path)?) {
        return Ok(None);
    }
    let (mut raw, progress) = open_file(path)?;
    if Compression::of(&mut raw, path)? != Compression::None {
        return tar::members_of_stream(decoded(raw, path)?).map(Some).map_err(unreadable);
    }
    let (file, _) = held::open(path).map_err(unreadable)?;
    let members = tar::members(file).map_err(unreadable)?;
    // A truncated compressed archive is detected by its reader.
    if members.iter().any(|member| member.start + member.bytes > progress.file_bytes) {
        return Err(UserError::new("the tar archive is cut short").at(path.display()));
    }
    Ok(Some(members))
}

fn unreadable(path: &Path, error: &io::Error) -> UserError {
    UserError::new(format!("cannot be read: {error}")).at(path.display())
}

fn skip(reader: &mut impl Read, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut reader.take(bytes), &mut io::sink())?;
    if skipped == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn open_file(path: &Path) -> Result<(BufReader<Counted>, FileProgress), UserError> {
    let (file, bytes) = held::open(path).map_err(|error| unreadable(path, &error))?;
    let file_bytes = bytes.ok_or_else(|| {
        let sentence = "is not a regular file; a trace must be one, as it may be read twice";
        UserError::new(sentence).at(path.display())
    })?;
    let read_bytes = Arc::new(AtomicU64::new(0));
    let progress = FileProgress { file_bytes, read_bytes: Arc::clone(&read_bytes) };
    Ok((BufReader::with_capacity(CHUNK_BYTES, Counted { file, read_bytes }), progress))
}

/// Decodes gzip or Zstandard.
fn decoded(mut raw: impl BufRead + Send + 'static, path: &Path) -> Result<ByteReader, UserError> {
    Ok(match Compression::of(&mut raw, path)? {
        Compression::None => Box::new(raw),
        Compression::Gzip => {
            Box::new(BufReader::with_capacity(CHUNK_BYTES, MultiGzDecoder::new(raw)))
        }
        Compression::Zstd => Box::new(BufReader::with_capacity(CHUNK_BYTES, ZstdFrames::new(raw))),
    })
}

/// The compression of a file, by its first bytes: traces get renamed.
#[derive(PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Errors with an unsupported compression, which would be misread as rows.
    fn of(raw: &mut impl BufRead, path: &Path) -> Result<Compression, UserError> {
        const UNREAD: [(&[u8], &str); 3] =
            [(b"\xfd7zXZ\0", "xz"), (b"7z\xbc\xaf\x27\x1c", "7-Zip"), (b"PK\x03\x04", "Zip")];
        let magic = raw.fill_buf().map_err(|error| unreadable(path, &error))?;
        // A block of bzip2 begins with the digits of pi behind "BZh" and its level.
        let bzip2 = magic.starts_with(b"BZh") && magic.get(4..10) == Some(b"1AY&SY");
        let unread = UNREAD.iter().find(|(start, _)| magic.starts_with(start));
        let unread = if bzip2 { Some("bzip2") } else { unread.map(|(_, name)| *name) };
        if let Some(name) = unread {
            let sentence = format!(
                "is compressed with {name}, which is not read; decompress it, or use gzip or \
                 Zstandard"
            );
            return Err(UserError::new(sentence).at(path.display()));
        }
        Ok(match magic {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // A frame of RFC 8878 begins with 0xFD2FB528, a skippable one with 0x184D2A50 to
            // 0x184D2A5F, both little-endian.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        })
    }
}

/// A file that counts the bytes read from it.
struct Counted {
    file: Box<dyn Content>,
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
                    skip(&mut self.source, length.into())?;
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
