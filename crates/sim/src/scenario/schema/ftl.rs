//! Keys of the translation layer beyond the basics, and what can go wrong on the part.

use reprieve_base::Entry;

use super::{Family, Key, Kind, Section, When, above, below, count, optional, usual};

const GC_STREAMS: &[Entry] = &[
    Entry { name: "shared", doc: "Moved pages go into the open block of their stream." },
    Entry { name: "separate", doc: "Moved pages have an open block of their own in each plane." },
];

pub(super) const STREAM: Key = usual(
    "ftl.stream",
    Kind::Registered(Family::Stream),
    "\"single\"",
    "Which of the open blocks of a plane takes a page of the host.",
);

pub(super) const HOT_WINDOW: Key = usual(
    "ftl.hot_window_share",
    above(0.0, 1000.0),
    "0.5",
    "A page is hot that is rewritten within so many writes, as a share of the logical pages.",
)
.when(When::Equals("ftl.stream", &["hot-cold"]));

pub(super) const GC_STREAM: Key = usual(
    "ftl.gc_stream",
    Kind::Choice(GC_STREAMS),
    "\"shared\"",
    "Where garbage collection writes the pages that it moves.",
);

pub(super) const GC_WINDOW: Key = usual(
    "ftl.gc_window_blocks",
    count(1, 65536),
    "64",
    "Blocks filled longest ago, of which the emptiest is the victim.",
)
.when(When::Equals("ftl.gc_victim", &["windowed-greedy"]))
.source("Hu et al., SYSTOR 2009, for the policy; the number is ours");

pub(super) const GC_PREEMPTIBLE: Key = usual(
    "ftl.gc_preemptible",
    Kind::Flag,
    "true",
    "Whether the host gets in between the steps of collecting a block.",
);

pub(super) const GC_RATE: Key = optional(
    "ftl.gc_rate_pages_per_write",
    above(0.0, 65536.0),
    "Pages moved for each page the host writes while few blocks are free; absent: idle time only.",
);

pub(super) const GC_DIES: Key = optional(
    "ftl.gc_dies_max",
    count(1, super::drive::U32),
    "Dies that collect at a time while none has to; absent: no limit.",
);

pub(super) const GC_PARALLEL: Key = usual(
    "ftl.gc_parallel_planes",
    Kind::Flag,
    "false",
    "Whether planes of a die collect side by side, with commands that take several where they fit.",
)
.source("Shahidi et al., SC 2016: parallel garbage collection");

const PARTIAL_WRITES: &[Entry] = &[
    Entry { name: "read_modify_write", doc: "The rest of the page is read first." },
    Entry {
        name: "track_sectors",
        doc: "The rest is read first only if the page holds sectors that the write leaves.",
    },
    Entry {
        name: "pad",
        doc: "Nothing is read: the program carries padding in place of the rest.",
    },
];

pub(super) const PARTIAL_WRITE: Key = usual(
    "ftl.partial_write",
    Kind::Choice(PARTIAL_WRITES),
    "\"read_modify_write\"",
    "What a write of part of a page does about the rest of the page.",
)
.source("MQSim 7ec40e3, for \"track_sectors\"");

const FREE_BLOCKS: &[Entry] = &[
    Entry { name: "oldest", doc: "The one that was erased longest ago." },
    Entry { name: "least-worn", doc: "The one with the fewest erases." },
];

pub(super) const FREE_BLOCK: Key = usual(
    "ftl.free_block",
    Kind::Choice(FREE_BLOCKS),
    "\"oldest\"",
    "Which free block is written next.",
);

pub(super) const WEAR_SPREAD: Key = optional(
    "ftl.static_wear_spread",
    count(2, super::drive::U32),
    "Erases by which a block may be ahead of the least worn before that is moved; absent: never.",
);

pub(super) const COUNT_ERASES: Key = usual(
    "ftl.count_erases",
    Kind::Flag,
    "false",
    "Whether the summary has the erases of a block: mean, extremes and deviation.",
);

pub(super) const FACTORY_BAD: Key = usual(
    "ftl.factory_bad_share",
    below(0.0, 1.0),
    "0",
    "Probability with which a block is bad from the start.",
);

const MAPPINGS: &[Entry] = &[
    Entry { name: "flat", doc: "All of it is in memory." },
    Entry { name: "demand", doc: "In flash, with a cache of entries in memory." },
];

pub(super) const MAPPING: Key = usual(
    "ftl.mapping",
    Kind::Choice(MAPPINGS),
    "\"flat\"",
    "Where the mapping of logical to physical pages is kept.",
)
.source("Gupta, Kim and Urgaonkar, ASPLOS 2009: DFTL");

const DEMAND: When = When::Equals("ftl.mapping", &["demand"]);

pub(super) const MAP_CACHE: Key = usual(
    "ftl.map_cache_bytes",
    Kind::Count { min: 64, max: 1 << 35, step: 8 },
    "1048576",
    "Memory for cached entries of the mapping, 8 bytes each.",
)
.when(DEMAND);

const CACHE_POLICIES: &[Entry] = &[
    Entry {
        name: "segmented",
        doc: "Least recently used, half of it kept for entries used twice.",
    },
    Entry { name: "lru", doc: "Least recently used." },
];

pub(super) const MAP_CACHE_POLICY: Key = usual(
    "ftl.map_cache_policy",
    Kind::Choice(CACHE_POLICIES),
    "\"segmented\"",
    "Which entry leaves a full cache.",
)
.when(DEMAND)
.source("Gupta, Kim and Urgaonkar, ASPLOS 2009: segmented LRU");

pub(super) const TWIN_BLOCKS: Key = usual(
    "ftl.twin_blocks",
    Kind::Flag,
    "false",
    "Whether blocks of one number on all planes of a die are filled, collected and erased as one.",
)
.source("Tavakkol, Mehrvarzy and Sarbazi-Azad, IEEE CAL 2016: TBM, as reported by others");

/// Section `[nand]`.
pub(super) const NAND: Section = Section {
    name: "nand",
    doc: "What goes wrong on the part.",
    keys: &[
        usual(
            "nand.program_failure",
            below(0.0, 1.0),
            "0",
            "Probability that a program fails, which retires its block.",
        ),
        usual(
            "nand.erase_failure",
            below(0.0, 1.0),
            "0",
            "Probability that an erase fails, which retires the block.",
        ),
    ],
};
