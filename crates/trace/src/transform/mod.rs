//! Transforms from a trace's rows to a drive's requests, one step a file.

mod address;
mod devices;
mod duplicates;
mod order;
mod sectors;
mod time;

pub(crate) use address::AddressFit;
pub(crate) use devices::{Bases, Extents};
pub(crate) use duplicates::Duplicates;
pub(crate) use order::{Ordered, SORT_WINDOW_ROWS};
pub(crate) use sectors::widen;
pub(crate) use time::scaled;
