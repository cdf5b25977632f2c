//! Observers of a drive: traits for statistics of one's own, and one that is ready.

pub use reprieve_flash::{LongestEraseWait, Observe, Scene};
pub use reprieve_observe::timeline::Arrival;
