//! Keys of the dispatchers: policies over all queues of a drive.

use reprieve_base::Entry;

use super::{Family, Key, Kind, When, count, drive, usual};

pub(super) const DISPATCH: Key = usual(
    "scheduling.dispatch",
    Kind::Registered(Family::Dispatcher),
    "\"none\"",
    "What goes first of all that waits in the drive, and what is held back.",
);

const PAQ: When = When::Equals("scheduling.dispatch", &["paq"]);

pub(super) const PAQ_WINDOW: Key = usual(
    "scheduling.paq_window_pages",
    count(1, drive::U32),
    "64",
    "Page operations that have waited longest, among which the next are chosen.",
)
.when(PAQ);

/// What two operations must not share.
const CONFLICTS: &[Entry] = &[
    Entry { name: "chip", doc: "A chip: its dies work one after the other." },
    Entry { name: "die", doc: "A die: those of a chip work side by side." },
];

pub(super) const PAQ_CONFLICT: Key = usual(
    "scheduling.paq_conflict",
    Kind::Choice(CONFLICTS),
    "\"chip\"",
    "What two operations that no command takes together may not share.",
)
.when(PAQ);
