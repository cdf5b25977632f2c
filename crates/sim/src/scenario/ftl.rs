//! What a scenario says of the translation layer beyond the basics: types, and both directions.

use super::flatten::{Pair, count, flag, number, text};
use super::resolve::Values;
use super::types::Ftl;
use super::words::Word;

/// What a write of part of a page does about the rest of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialWrite {
    /// It reads the rest first.
    ReadModifyWrite,
    /// It reads the rest first only if the page holds sectors that it leaves.
    TrackSectors,
    /// It reads nothing: the program carries padding in place of the rest.
    Pad,
}

impl Word for PartialWrite {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("read_modify_write", PartialWrite::ReadModifyWrite),
        ("track_sectors", PartialWrite::TrackSectors),
        ("pad", PartialWrite::Pad),
    ];
}

/// When garbage collection runs, and how far before the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GcControl {
    /// Whether the host gets in between the steps of collecting a block.
    pub preemptible: bool,
    /// Pages moved for each page of the host while few blocks are free; `None`: in idle time only.
    pub rate_pages_per_write: Option<f64>,
    /// Dies that collect at a time while none has to; `None`: no limit.
    pub dies_max: Option<u32>,
    /// Planes of a die collect side by side.
    pub parallel_planes: bool,
}

/// Which open block takes a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Streams {
    /// Name in the registry of streams.
    pub policy: String,
    /// Policy `hot-cold`: writes, as a share of the logical pages, within which a hot page is
    /// rewritten; `None` with another policy.
    pub hot_window_share: Option<f64>,
    /// Moved pages have an open block of their own in each plane.
    pub gc_separate: bool,
}

impl Streams {
    /// Blocks that a plane may have open besides the first.
    pub fn further_open_blocks(&self, has_map: bool) -> u32 {
        let hot_and_cold = self.hot_window_share.is_some();
        [hot_and_cold, self.gc_separate, has_map].into_iter().map(u32::from).sum()
    }
}

/// Wear levelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear {
    /// The free block with the fewest erases is written next, not the one erased longest ago.
    pub least_worn_first: bool,
    /// Erases by which a block may be ahead of the least worn; `None`: any.
    pub static_spread: Option<u32>,
    /// The summary has the erases of a block.
    pub count_erases: bool,
}

/// Bad blocks, and what fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// Probability with which a block is bad from the start.
    pub factory_bad_share: f64,
    /// Probability that a program fails.
    pub program_failure: f64,
    /// Probability that an erase fails.
    pub erase_failure: f64,
}

impl Faults {
    /// Whether any block can be bad.
    pub fn any(&self) -> bool {
        self.factory_bad_share > 0.0 || self.program_failure > 0.0 || self.erase_failure > 0.0
    }
}

/// The mapping in flash, with a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Memory for entries of 8 bytes.
    pub cache_bytes: u64,
    /// Half of the cache is kept for entries that were used twice.
    pub segmented: bool,
}

pub(super) fn gc_control(values: &Values) -> GcControl {
    GcControl {
        preemptible: values.flag("ftl.gc_preemptible"),
        rate_pages_per_write: values.number_if_on("ftl.gc_rate_pages_per_write"),
        dies_max: values.u32_if_on("ftl.gc_dies_max"),
        parallel_planes: values.flag("ftl.gc_parallel_planes"),
    }
}

pub(super) fn streams(values: &Values) -> Streams {
    Streams {
        policy: values.text("ftl.stream").to_string(),
        hot_window_share: values.number_if_on("ftl.hot_window_share"),
        gc_separate: values.text("ftl.gc_stream") == "separate",
    }
}

pub(super) fn wear(values: &Values) -> Wear {
    Wear {
        least_worn_first: values.text("ftl.free_block") == "least-worn",
        static_spread: values.u32_if_on("ftl.static_wear_spread"),
        count_erases: values.flag("ftl.count_erases"),
    }
}

pub(super) fn faults(values: &Values) -> Faults {
    Faults {
        factory_bad_share: values.number("ftl.factory_bad_share"),
        program_failure: values.number("nand.program_failure"),
        erase_failure: values.number("nand.erase_failure"),
    }
}

pub(super) fn demand(values: &Values) -> Option<Demand> {
    (values.text("ftl.mapping") == "demand").then(|| Demand {
        cache_bytes: values.count("ftl.map_cache_bytes"),
        segmented: values.text("ftl.map_cache_policy") == "segmented",
    })
}

/// The keys of all these with their values.
pub(super) fn pairs(ftl: &Ftl) -> [Pair; 17] {
    let Ftl { gc, streams, wear, faults, demand, .. } = ftl;
    let word = |first, word, otherwise| text(if first { word } else { otherwise });
    let policy = demand.map(|demand| if demand.segmented { "segmented" } else { "lru" });
    [
        ("ftl.partial_write", text(ftl.partial_write.word())),
        ("ftl.gc_preemptible", flag(gc.preemptible)),
        ("ftl.gc_rate_pages_per_write", gc.rate_pages_per_write.and_then(number)),
        ("ftl.gc_dies_max", gc.dies_max.and_then(count)),
        ("ftl.gc_parallel_planes", flag(gc.parallel_planes)),
        ("ftl.stream", text(&streams.policy)),
        ("ftl.hot_window_share", streams.hot_window_share.and_then(number)),
        ("ftl.gc_stream", word(streams.gc_separate, "separate", "shared")),
        ("ftl.free_block", word(wear.least_worn_first, "least-worn", "oldest")),
        ("ftl.static_wear_spread", wear.static_spread.and_then(count)),
        ("ftl.count_erases", flag(wear.count_erases)),
        ("ftl.factory_bad_share", number(faults.factory_bad_share)),
        ("ftl.mapping", word(demand.is_some(), "demand", "flat")),
        ("ftl.map_cache_bytes", demand.and_then(|demand| count(demand.cache_bytes))),
        ("ftl.map_cache_policy", policy.and_then(text)),
        ("nand.program_failure", number(faults.program_failure)),
        ("nand.erase_failure", number(faults.erase_failure)),
    ]
}
