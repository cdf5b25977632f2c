//! Expands the path of a trace to its files: one, those of a folder, or those of a pattern.

use std::fs;
use std::path::{Path, PathBuf};

use reprieve_base::UserError;

use super::decompress;
use super::held::is_file;
use super::place::TraceFile;

/// Whether a path names a trace: a file, a folder, or a pattern that some file fits.
pub fn is_trace(path: &Path) -> bool {
    path.is_dir() || is_file(path) || fitting(path).is_ok_and(|paths| !paths.is_empty())
}

/// The files of the trace at `path`, in order of name, and those of an archive in its order.
pub(super) fn files_of(path: &Path) -> Result<Vec<TraceFile>, UserError> {
    let mut list = Vec::new();
    for path in expand(path)? {
        match decompress::members(&path)? {
            None => list.push(TraceFile { path, member: None }),
            Some(members) if members.is_empty() => {
                return Err(UserError::new("the tar archive has no files").at(path.display()));
            }
            Some(members) => list.extend(
                members
                    .into_iter()
                    .map(|member| TraceFile { path: path.clone(), member: Some(member) }),
            ),
        }
    }
    Ok(list)
}

/// The paths of the trace at `path`, in order of name.
///
/// A folder means all its files but hidden ones; a `*` in the last part of a path matches any
/// characters, and a name that ends in a dot, as for `blktrace`, is a prefix.
fn expand(path: &Path) -> Result<Vec<PathBuf>, UserError> {
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

/// The texts before and behind the `*` of the last part of a path.
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
        // A name that is not Unicode matches no pattern.
        let fits = entry.file_name().to_str().is_some_and(&wanted);
        if fits && entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Suggests a path without a file of another format: a pattern that matches the good file and not
/// the other, or the good file.
pub(super) fn advice(good: &TraceFile, other: &TraceFile) -> String {
    if good.member.is_some() || other.member.is_some() {
        return "unpack the archive and name the files of the trace".to_owned();
    }
    let text = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (name, bad) = (text(&good.path), text(&other.path));
    let head = name.find(|c: char| !c.is_ascii_alphanumeric()).map_or("", |at| &name[..=at]);
    let tail = name.rfind('.').map_or("", |at| &name[at..]);
    // Only a name longer than both parts matches the asterisk.
    let fits = |name: &str| name.starts_with(head) && name.ends_with(tail);
    let pattern = good.path.with_file_name(format!("{head}*{tail}"));
    let named =
        if head.len() + tail.len() > name.len() || fits(&bad) { &good.path } else { &pattern };
    format!("name the files of the trace by a pattern, such as {}", named.display())
}
