//! Generators of requests, and the list of them.

mod arrival;
mod by_size;
mod clock;
mod job;
mod kv_cache;
mod locality;
mod mixed;
mod phases;
mod places;
mod probability;
mod share;
mod trains;
mod zipf;
mod zone_writer;

use reprieve_base::Entry;

pub(crate) use clock::{Clock, exponential};
pub(crate) use job::JobSource;
pub use kv_cache::{KvPlan, Served};
pub(crate) use mixed::Mixed;
pub use mixed::misfit;
pub use share::PlaneShare;

/// Every generator that a scenario can name.
const GENERATORS: &[Entry] = &[mixed::ENTRY, kv_cache::ENTRY];

/// The generators that `generator = "..."` accepts.
pub fn generators() -> &'static [Entry] {
    GENERATORS
}
