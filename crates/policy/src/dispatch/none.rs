//! No dispatcher: each die has its queues to itself.

use reprieve_base::Entry;

pub(super) const ENTRY: Entry =
    Entry { name: "none", doc: "each die serves its queues without regard to the others" };
