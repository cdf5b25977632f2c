//! Members of a tar archive, and their offsets.

use std::io::{self, Read, Seek};
use std::path::PathBuf;

use tar::{Archive, Entries};

/// A regular file within an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: PathBuf,
    /// First byte of its content in the plain bytes of the archive.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Returns whether a file begins like an archive of POSIX.1-1988 or later.
pub(super) fn is_archive(mut bytes: impl Read) -> bool {
    let mut block = [0; 512];
    // A damaged file may be no archive; its reader reports the damage.
    bytes.read_exact(&mut block).is_ok() && block[257..].starts_with(b"ustar")
}

/// Lists an archive that is not compressed, skipping contents.
pub(super) fn members(file: impl Read + Seek) -> io::Result<Vec<Member>> {
    files_of(Archive::new(file).entries_with_seek()?)
}

/// Lists an archive from its decompressed bytes.
pub(super) fn members_of_stream(bytes: impl Read) -> io::Result<Vec<Member>> {
    files_of(Archive::new(bytes).entries()?)
}

/// Returns the regular files in their order. Hidden ones, as of a folder, are left out.
fn files_of<R: Read>(entries: Entries<R>) -> io::Result<Vec<Member>> {
    let mut members = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.path()?.into_owned();
        let shown = name.file_name().and_then(|name| name.to_str());
        let is_shown = shown.is_some_and(|name| !name.starts_with('.'));
        let kind = entry.header().entry_type();
        if is_shown && (kind.is_file() || kind.is_contiguous()) {
            members.push(Member { name, start: entry.raw_file_position(), bytes: entry.size() });
        }
    }
    Ok(members)
}
