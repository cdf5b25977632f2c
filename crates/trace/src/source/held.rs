//! Files of a machine, or bytes that are held in memory under a name where there are none.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

static HELD: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// The content of a file.
pub(crate) trait Content: Read + Seek + Send {}
impl<T: Read + Seek + Send> Content for T {}

/// Makes `path` name these bytes, as a browser has no files.
pub fn hold(path: &Path, bytes: Vec<u8>) {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), bytes.into());
}

fn held(path: &Path) -> Option<Arc<[u8]>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
}

/// Whether a path names a file.
pub fn is_file(path: &Path) -> bool {
    held(path).is_some() || path.is_file()
}

/// Returns the absolute path of a file; what names held bytes stays as it is.
pub fn absolute(path: &Path) -> io::Result<PathBuf> {
    if held(path).is_some() { Ok(path.to_owned()) } else { std::path::absolute(path) }
}

/// Opens a file; returns its content and its size in bytes, `None` if it is not a regular file.
pub(crate) fn open(path: &Path) -> io::Result<(Box<dyn Content>, Option<u64>)> {
    if let Some(bytes) = held(path) {
        let length = bytes.len() as u64;
        return Ok((Box::new(Cursor::new(bytes)), Some(length)));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
}
