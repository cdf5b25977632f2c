//! Keys of the dispatchers: policies over all queues of a drive.

use reprieve_base::Entry;

use super::{Family, Key, Kind, When, count, drive, sectors, usual};

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

const MBM: When = When::Equals("scheduling.dispatch", &["mbm"]);

const CHANNEL_LIMITS: &[Entry] = &[
    Entry {
        name: "exact",
        doc: "As many as make the channels carry alike, as water finds its level.",
    },
    Entry { name: "printed", doc: "The same, rounded up for every channel, as the paper has it." },
    Entry { name: "none", doc: "As many as there are." },
];

pub(super) const MBM_CHANNELS: Key = usual(
    "scheduling.mbm_channel_limit",
    Kind::Choice(CHANNEL_LIMITS),
    "\"exact\"",
    "How many of the writes that wait a channel may begin.",
)
.when(MBM)
.source("MBM paper, Algorithm 1: Channel_Max_Subs");

const CHIPS: &[Entry] = &[
    Entry {
        name: "least-then-greatest",
        doc: "First the idle chip that can program fewest pages at once, then those that can most.",
    },
    Entry { name: "in-order", doc: "The idle chips of a channel in order." },
];

pub(super) const MBM_CHIPS: Key = usual(
    "scheduling.mbm_chips",
    Kind::Choice(CHIPS),
    "\"least-then-greatest\"",
    "Which idle chip of a channel gets writes first.",
)
.when(MBM)
.source("MBM paper, section IV.C: Minimizing Chip consumption Strategy");

const JOINT_READS: &[Entry] =
    &[Entry { name: "request", doc: "Of one request." }, Entry { name: "any", doc: "Of any." }];

pub(super) const MBM_READS: Key = usual(
    "scheduling.mbm_joint_reads",
    Kind::Choice(JOINT_READS),
    "\"request\"",
    "Of which requests the pages are that one multi-plane read takes.",
)
.when(MBM)
.source("MBM paper, section IV.B: Read Strategy");

const AREAS: &[Entry] = &[
    Entry { name: "spread", doc: "Over all dies by their logical numbers." },
    Entry { name: "as-others", doc: "As all other writes." },
];

pub(super) const MBM_AREAS: Key = usual(
    "scheduling.mbm_read_areas",
    Kind::Choice(AREAS),
    "\"spread\"",
    "Where writes go to what long reads have touched.",
)
.when(MBM)
.source("MBM paper, section IV.B: Read Strategy");

const SPREAD: When = When::Equals("scheduling.mbm_read_areas", &["spread"]);

pub(super) const MBM_THRESHOLD: Key = usual(
    "scheduling.mbm_read_threshold_pages",
    count(1, drive::U32),
    "4",
    "A read of more pages is long.",
)
.when(SPREAD);

pub(super) const MBM_AREA: Key = usual(
    "scheduling.mbm_read_area_bytes",
    sectors(1 << 40),
    "1048576",
    "What a long read marks: stretches of this length that it touches.",
)
.when(SPREAD);
