//! Members of a tar archive (POSIX.1-2001 `pax`, GNU's long names and sizes), and their offsets.

use std::io::{self, Read};
use std::path::PathBuf;

const BLOCK_BYTES: usize = 512;

/// Limit on a record that only describes the next member.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// A regular file within an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: PathBuf,
    /// First byte of its content in the plain bytes of the archive.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Sequential access to an archive, which can skip contents.
pub(super) trait Walk: Read {
    fn skip(&mut self, bytes: u64) -> io::Result<()>;
}

/// The regular files of an archive, in its order; `None` if the bytes are none. Hidden ones, as
/// of a folder, are left out.
pub(super) fn members(bytes: &mut impl Walk) -> io::Result<Option<Vec<Member>>> {
    let mut members = Vec::new();
    let mut position = 0;
    let mut described = Described::default();
    loop {
        let mut block = [0; BLOCK_BYTES];
        // A damaged file may be no archive; its reader reports the damage.
        let count = match fill(bytes, &mut block) {
            Err(_) if position == 0 => return Ok(None),
            count => count?,
        };
        let is_header = count == BLOCK_BYTES && block[257..].starts_with(b"ustar");
        if !is_header {
            // Blocks of zeros end an archive; some writers leave them out.
            let ends = position > 0 && block.iter().all(|&byte| byte == 0);
            return match position {
                0 => Ok(None),
                _ if ends => Ok(Some(members)),
                _ => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("byte {position} of the tar archive begins no member"),
                )),
            };
        }
        position += BLOCK_BYTES as u64;
        let own = size(&block[124..136]).ok_or_else(|| {
            let sentence = format!("byte {position} of the tar archive follows a bad size");
            io::Error::new(io::ErrorKind::InvalidData, sentence)
        })?;
        let content_bytes = described.bytes.filter(|_| !is_description(block[156])).unwrap_or(own);
        let whole_bytes = content_bytes.next_multiple_of(BLOCK_BYTES as u64);
        match block[156] {
            kind if is_description(kind) => {
                let mut content = Vec::new();
                let taken = content_bytes.min(RECORD_BYTES_MAX);
                (&mut *bytes).take(taken).read_to_end(&mut content)?;
                bytes.skip(whole_bytes - content.len() as u64)?;
                described.read(kind, &content);
            }
            kind => {
                let name = described.name.take().unwrap_or_else(|| name(&block));
                described = Described::default();
                let is_file = matches!(kind, b'0' | 0 | b'7') && !is_hidden(&name);
                if is_file {
                    members.push(Member { name, start: position, bytes: content_bytes });
                }
                bytes.skip(whole_bytes)?;
            }
        }
        position += whole_bytes;
    }
}

fn is_description(kind: u8) -> bool {
    matches!(kind, b'x' | b'g' | b'L' | b'K')
}

fn is_hidden(name: &std::path::Path) -> bool {
    name.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with('.'))
}

/// Attributes of the next member, from records.
#[derive(Default)]
struct Described {
    name: Option<PathBuf>,
    bytes: Option<u64>,
}

impl Described {
    fn read(&mut self, kind: u8, content: &[u8]) {
        let text = String::from_utf8_lossy(content);
        if kind == b'L' {
            self.name = Some(text.trim_end_matches('\0').into());
        }
        // Other records are global, or of links.
        if kind != b'x' {
            return;
        }
        // Lines `length key=value`.
        for line in text.lines() {
            let pair = line.split_once(' ').and_then(|(_, pair)| pair.split_once('='));
            match pair {
                Some(("path", path)) => self.name = Some(path.into()),
                Some(("size", bytes)) => self.bytes = bytes.parse().ok(),
                _ => {}
            }
        }
    }
}

fn name(block: &[u8; BLOCK_BYTES]) -> PathBuf {
    let text = |field: &[u8]| {
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).into_owned()
    };
    let name = text(&block[..100]);
    // GNU has other fields in place of POSIX's prefix.
    let prefix = if block[262] == 0 { text(&block[345..500]) } else { String::new() };
    PathBuf::from(prefix).join(name)
}

/// A size in octal digits, or in GNU's binary form.
fn size(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        let bytes = field[1..].iter();
        return bytes.copied().try_fold(u64::from(field[0] & 0x7f), |value, byte| {
            Some(value.checked_mul(256)? | u64::from(byte))
        });
    }
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    u64::from_str_radix(text, 8).ok()
}

fn fill(bytes: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < block.len() {
        match bytes.read(&mut block[count..])? {
            0 => break,
            more => count += more,
        }
    }
    Ok(count)
}
