//! The place of a row: the file, maybe within an archive, and the line or byte in it.

use std::fmt;
use std::path::PathBuf;

use reprieve_base::UserError;

use super::tar::Member;

/// The place of a row; rows of equal time are read in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The file, from 0 in order of name.
    pub(crate) file: u32,
    /// Line from 1, or of a binary file the first byte, from 0.
    pub(crate) line: u64,
}

/// A file of a trace.
#[derive(Clone, Debug)]
pub(crate) struct TraceFile {
    pub(super) path: PathBuf,
    /// The member of the archive at the path; `None`: the file itself.
    pub(super) member: Option<Member>,
}

impl TraceFile {
    /// Its path in errors: a member like a file in a folder of the archive's name.
    pub(super) fn shown(&self) -> PathBuf {
        match &self.member {
            Some(member) => self.path.join(&member.name),
            None => self.path.clone(),
        }
    }
}

/// The files of a trace, and whether they hold lines or records.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(super) list: Vec<TraceFile>,
    pub(super) is_binary: bool,
}

impl Files {
    /// An error about the row at a place.
    pub(crate) fn error(&self, place: Place, sentence: impl Into<String>) -> UserError {
        let path = self.path(place);
        let path = path.display();
        if self.is_binary {
            UserError::new(sentence).at(format_args!("{path}: byte {}", place.line))
        } else {
            UserError::new(sentence).at(format_args!("{path}:{}", place.line))
        }
    }

    /// A place in words, in a file that is already named.
    pub(crate) fn name(&self, place: Place) -> impl fmt::Display {
        let word = if self.is_binary { "byte" } else { "line" };
        if self.list.len() > 1 {
            format!("{word} {} of {}", place.line, self.path(place).display())
        } else {
            format!("{word} {}", place.line)
        }
    }

    pub(super) fn path(&self, place: Place) -> PathBuf {
        self.list[place.file as usize].shown()
    }
}
