//! Generators of requests, and the list of them.

mod arrival;
mod mixed;
mod phases;
mod runs;
mod zipf;

use reprieve_base::Entry;

pub(crate) use mixed::Mixed;

/// Every generator that a scenario can name.
const GENERATORS: &[Entry] = &[mixed::ENTRY];

/// The generators that `generator = "..."` accepts.
pub fn generators() -> &'static [Entry] {
    GENERATORS
}
