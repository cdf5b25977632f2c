//! From a file to rows: decompression, lines, the format's parser, and where an error happened.

mod decompress;
mod lines;
mod rows;
mod sample;

pub(crate) use rows::{NumberedRow, Rows};
pub(crate) use sample::Sample;
