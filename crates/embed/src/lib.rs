//! A drive inside another simulator: requests in, completions out, in simulated time.
//!
//! [`Drive`] has no thread, no clock and no file. Whoever owns it keeps the time: hands over
//! requests with their arrivals, asks when something will happen, and lets that instant pass.

mod ask;
mod drive;
mod journal;
mod saved;

pub use ask::Ask;
pub use drive::{Drive, Error};
pub use reprieve_ssd::Completion;
