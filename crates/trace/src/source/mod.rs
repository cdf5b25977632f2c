//! From files to rows: decompression, lines or records, the format's parser, merging, and where
//! an error happened.

mod decompress;
mod file;
mod held;
mod lines;
mod merge;
mod paths;
mod place;
mod records;
mod rows;
mod sample;
mod spread;
mod tar;

pub(crate) use file::{NumberedRow, show};
pub(crate) use held::open;
pub use held::{absolute, hold, is_file};
pub(crate) use lines::Lines;
pub use paths::is_trace;
pub(crate) use place::Place;
pub(crate) use rows::Rows;
pub(crate) use sample::Sample;
