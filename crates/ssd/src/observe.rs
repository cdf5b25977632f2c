//! Observers of a drive: traits for custom statistics, and one example.

pub use reprieve_flash::{LongestEraseWait, Observe, Scene};
pub use reprieve_observe::timeline::Arrival;
