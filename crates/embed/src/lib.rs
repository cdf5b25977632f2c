//! A drive inside another simulator: requests in, completions out, in simulated time.
//!
//! [`Drive`] has no thread, no clock and no file. Its owner keeps the time: submits requests with
//! their arrivals, queries the time of the next event, and advances to it.

mod drive;
mod route;
mod saved;

pub use drive::{Ask, Drive, Error, LAST};
pub use reprieve_ssd::causes::CAUSE_NAMES;
pub use reprieve_ssd::scenario::Priority;
pub use reprieve_ssd::txn::PART_NAMES;
pub use reprieve_ssd::{Completion, Details, Queue, Route};
