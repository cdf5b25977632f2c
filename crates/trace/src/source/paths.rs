//! From the path of a trace to its files: one, those of a folder, or those that a pattern fits.

use std::fs;
use std::path::{Path, PathBuf};

use reprieve_base::UserError;

/// Whether a path names a trace: a file, a folder, or a pattern that some file fits.
pub fn is_trace(path: &Path) -> bool {
    path.is_dir() || path.is_file() || fitting(path).is_ok_and(|paths| !paths.is_empty())
}

/// The files of the trace at `path`, in order of name.
///
/// A folder stands for all its files but hidden ones; a `*` in the last part of a path stands for
/// any characters, and a name that ends in a dot, as `blktrace` takes one, for what begins so.
pub(super) fn expand(path: &Path) -> Result<Vec<PathBuf>, UserError> {
    let unreadable = |error: std::io::Error| {
        UserError::new(format!("cannot be read: {error}")).at(path.display())
    };
    let paths = if path.is_dir() {
        files(path, |name| !name.starts_with('.')).map_err(unreadable)?
    } else if path.exists() || pattern(path).is_none() {
        return Ok(vec![path.to_owned()]);
    } else {
        fitting(path).map_err(unreadable)?
    };
    if paths.is_empty() {
        let what =
            if path.is_dir() { "the folder has no files" } else { "no file has such a name" };
        return Err(UserError::new(what).at(path.display()));
    }
    Ok(paths)
}

/// What stands around the `*` of the last part of a path.
fn pattern(path: &Path) -> Option<(&str, &str)> {
    let name = path.file_name()?.to_str()?;
    name.split_once('*').or_else(|| name.ends_with('.').then_some((name, "")))
}

fn fitting(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let Some((head, tail)) = pattern(path) else { return Ok(Vec::new()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    files(folder.unwrap_or(Path::new(".")), |name| {
        name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
    })
}

fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // A name that is no text fits no pattern that is.
        let fits = entry.file_name().to_str().is_some_and(&wanted);
        if fits && entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}
