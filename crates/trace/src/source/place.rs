//! Where a row stands: the file, and the line or the byte in it.

use std::fmt;
use std::path::{Path, PathBuf};

use reprieve_base::UserError;

/// Where a row stands; ordered as rows are read where their times are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which of the trace's files, from 0 in order of name.
    pub(crate) file: u32,
    /// Line from 1, or of a binary file the first byte, from 0.
    pub(crate) line: u64,
}

/// The files of a trace, and whether they hold lines or records.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(super) paths: Vec<PathBuf>,
    pub(super) is_binary: bool,
}

impl Files {
    /// An error about the row at a place.
    pub(crate) fn error(&self, place: Place, sentence: impl Into<String>) -> UserError {
        let path = self.path(place).display();
        if self.is_binary {
            UserError::new(sentence).at(format_args!("{path}: byte {}", place.line))
        } else {
            UserError::new(sentence).at(format_args!("{path}:{}", place.line))
        }
    }

    /// How a sentence calls a place of a file that was named before it.
    pub(crate) fn name(&self, place: Place) -> impl fmt::Display {
        let word = if self.is_binary { "byte" } else { "line" };
        if self.paths.len() > 1 {
            format!("{word} {} of {}", place.line, self.path(place).display())
        } else {
            format!("{word} {}", place.line)
        }
    }

    pub(super) fn path(&self, place: Place) -> &Path {
        &self.paths[place.file as usize]
    }
}
