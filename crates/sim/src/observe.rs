//! Observers of a drive: traits for statistics of one's own, and one that is ready.

pub use crate::flash::{LongestEraseWait, Observe, Scene};
pub use crate::timeline::Arrival;
