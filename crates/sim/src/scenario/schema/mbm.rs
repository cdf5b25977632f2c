//! Keys of the dispatcher `mbm`: one for each thing that its paper says, or leaves open.

use reprieve_base::Entry;

use super::{Key, Kind, When, count, drive, sectors, usual};

const MBM: When = When::Equals("scheduling.dispatch", &["mbm"]);

const CHANNEL_LIMITS: &[Entry] = &[
    Entry {
        name: "exact",
        doc: "As many as make the channels carry alike, as water finds its level.",
    },
    Entry { name: "printed", doc: "The same, rounded up for every channel, as the paper has it." },
    Entry { name: "none", doc: "As many as there are." },
];

pub(super) const CHANNEL_LIMIT: Key = usual(
    "scheduling.mbm_channel_limit",
    Kind::Choice(CHANNEL_LIMITS),
    "\"exact\"",
    "How many of the writes that wait a channel may begin.",
)
.when(MBM)
.source("MBM paper, Algorithm 1: Channel_Max_Subs");

const LIMITED: When = When::Equals("scheduling.mbm_channel_limit", &["exact", "printed"]);

const SHARE_WHENS: &[Entry] = &[
    Entry { name: "instant", doc: "At every instant at which writes wait." },
    Entry { name: "arrival", doc: "When writes have come, and when all shares are used up." },
];

pub(super) const SHARE_WHEN: Key = usual(
    "scheduling.mbm_share_when",
    Kind::Choice(SHARE_WHENS),
    "\"instant\"",
    "When the shares of the channels are computed.",
)
.when(LIMITED);

const SHARE_WRITESS: &[Entry] = &[
    Entry { name: "under-way", doc: "Those that wait at its dies or are being programmed." },
    Entry { name: "all", doc: "All that it was ever given." },
];

pub(super) const SHARE_WRITES: Key = usual(
    "scheduling.mbm_share_writes",
    Kind::Choice(SHARE_WRITESS),
    "\"under-way\"",
    "Which writes count as what a channel has to do.",
)
.when(LIMITED)
.source("MBM paper, Algorithm 1: execute_w_subs");

pub(super) const SHARE_READ_WEIGHT: Key = usual(
    "scheduling.mbm_share_read_weight",
    count(0, 64),
    "1",
    "How many writes a page to be read counts for in what a channel has to do.",
)
.when(LIMITED)
.source("MBM paper, Algorithm 1: read_len");

pub(super) const SHARE_COLLECTION: Key = usual(
    "scheduling.mbm_share_collection",
    Kind::Flag,
    "false",
    "Whether a die that collects garbage counts for a page that its channel has to do.",
)
.when(LIMITED);

const TIESS: &[Entry] = &[
    Entry { name: "rotating", doc: "The one behind the one that was chosen last." },
    Entry { name: "in-order", doc: "The lowest in number." },
];

pub(super) const TIES: Key = usual(
    "scheduling.mbm_ties",
    Kind::Choice(TIESS),
    "\"rotating\"",
    "Which of channels and chips that are equal is first.",
)
.when(MBM);

const ALIGNMENTS: &[Entry] = &[
    Entry { name: "lagging", doc: "Those that have got least far, until they have caught up." },
    Entry {
        name: "largest",
        doc: "The most that stand at one page, of equals those that have got least far.",
    },
];

pub(super) const ALIGNMENT: Key = usual(
    "scheduling.mbm_alignment",
    Kind::Choice(ALIGNMENTS),
    "\"lagging\"",
    "Which planes of a die are programmed together.",
)
.when(MBM);

const CHIP_ORDERS: &[Entry] = &[
    Entry {
        name: "least-then-greatest",
        doc: "First the idle chip that can program fewest pages at once, then those that can most.",
    },
    Entry { name: "in-order", doc: "The idle chips of a channel in order." },
];

pub(super) const CHIPS: Key = usual(
    "scheduling.mbm_chips",
    Kind::Choice(CHIP_ORDERS),
    "\"least-then-greatest\"",
    "Which idle chip of a channel gets writes first.",
)
.when(MBM)
.source("MBM paper, section IV.C: Minimizing Chip consumption Strategy");

const LEAST: When = When::Equals("scheduling.mbm_chips", &["least-then-greatest"]);

const FIRST_CHIPS: &[Entry] = &[
    Entry { name: "channel", doc: "For each channel at each instant." },
    Entry { name: "instant", doc: "For the drive at each instant." },
    Entry { name: "request", doc: "For each request." },
];

pub(super) const FIRST_CHIP: Key = usual(
    "scheduling.mbm_first_chip",
    Kind::Choice(FIRST_CHIPS),
    "\"channel\"",
    "Of what the chip that can program fewest pages is the first.",
)
.when(LEAST);

const JOINT: &[Entry] =
    &[Entry { name: "request", doc: "Of one request." }, Entry { name: "any", doc: "Of any." }];

pub(super) const JOINT_READS: Key = usual(
    "scheduling.mbm_joint_reads",
    Kind::Choice(JOINT),
    "\"request\"",
    "Of which requests the pages are that one multi-plane read takes.",
)
.when(MBM)
.source("MBM paper, section IV.B: Read Strategy");

const AREAS: &[Entry] = &[
    Entry { name: "spread", doc: "Over all dies by their logical numbers." },
    Entry { name: "as-others", doc: "As all other writes." },
];

pub(super) const READ_AREAS: Key = usual(
    "scheduling.mbm_read_areas",
    Kind::Choice(AREAS),
    "\"spread\"",
    "Where writes go to what long reads have touched.",
)
.when(MBM)
.source("MBM paper, section IV.B: Read Strategy");

const SPREAD: When = When::Equals("scheduling.mbm_read_areas", &["spread"]);

pub(super) const READ_THRESHOLD: Key = usual(
    "scheduling.mbm_read_threshold_pages",
    count(1, drive::U32),
    "4",
    "A read of more pages is long.",
)
.when(SPREAD);

pub(super) const READ_AREA: Key = usual(
    "scheduling.mbm_read_area_bytes",
    sectors(1 << 40),
    "1048576",
    "What a long read marks: stretches of this length that it touches.",
)
.when(SPREAD);

const READ_AREA_ENDS: &[Entry] = &[
    Entry { name: "short-read", doc: "With a read of it that is not long." },
    Entry { name: "never", doc: "Never." },
];

pub(super) const READ_AREA_END: Key = usual(
    "scheduling.mbm_read_area_end",
    Kind::Choice(READ_AREA_ENDS),
    "\"short-read\"",
    "When what a long read has marked is like everything else again.",
)
.when(SPREAD)
.source("MBM paper, section IV.B: of a read that is not long the area is not read-intensive");

const REDISTRIBUTIONS: &[Entry] = &[
    Entry {
        name: "either",
        doc: "Where one of its channels or one of its dies has more than its share.",
    },
    Entry {
        name: "channels",
        doc: "Where one of its channels has more than an even share of its pages.",
    },
    Entry {
        name: "transactions",
        doc: "Where one of its dies needs more commands than an even spread would.",
    },
    Entry { name: "none", doc: "Never." },
];

pub(super) const REDISTRIBUTION: Key = usual(
    "scheduling.mbm_redistribution",
    Kind::Choice(REDISTRIBUTIONS),
    "\"either\"",
    "When pages of a long read are written anew, to where their logical numbers put them.",
)
.when(SPREAD)
.source("MBM paper, section IV.B");

pub(super) const REDISTRIBUTED: Key = usual(
    "scheduling.mbm_redistributed_pages",
    count(1, drive::U32),
    "8",
    "Pages that are being written anew at one time, at most.",
)
.when(When::Equals("scheduling.mbm_redistribution", &["either", "channels", "transactions"]));
