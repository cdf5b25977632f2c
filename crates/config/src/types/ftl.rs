//! Settings of the translation layer.

use reprieve_base::Dur;

use crate::value::words;

/// Section `[ftl]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ftl {
    pub over_provisioning: f64,
    /// 0 in the rig, which has no mapping.
    pub mapping_bytes: u32,
    /// Collection fills programs with data of other blocks though a unit is a page: it stands for
    /// several smaller ones while the drive is prepared.
    pub fills_programs: bool,
    pub placement: String,
    pub gc_victim: String,
    pub gc_choices: Option<u32>,
    pub gc_window_blocks: Option<u32>,
    pub gc_start_free_share: f64,
    pub gc_hard_free_blocks: u32,
    pub gc_background: bool,
    pub gc: GcControl,
    /// Division of pages into open blocks.
    pub streams: Streams,
    /// Wear levelling.
    pub wear: Wear,
    /// Bad blocks, and failures.
    pub faults: Faults,
    pub scan: Option<MediaScan>,
    pub demand: Option<Demand>,
    pub slc_cache: Option<SlcCache>,
    pub wordline_timeout: Dur,
    pub wait_for_planes: bool,
    pub twin_blocks: bool,
    pub copyback: bool,
    pub partial_write: PartialWrite,
    pub precondition: Precondition,
}

/// Scheduling of garbage collection, and its priority over the host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GcControl {
    pub preemptible: bool,
    pub holds_channel: bool,
    pub follows_free_space: bool,
    pub rate_pages_per_write: Option<f64>,
    pub dies_max: Option<u32>,
    pub busy_window: Option<BusyWindow>,
    pub parallel_planes: bool,
    pub victims_in_step: bool,
}

/// The only times at which planes collect that have enough free blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BusyWindow {
    pub period: Dur,
    pub length: Dur,
    pub start: Dur,
}

/// Background reads of all data, and the resulting refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MediaScan {
    pub period: Dur,
    pub refresh_retries: Option<u32>,
}

/// Division of pages into open blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Streams {
    pub policy: String,
    pub hot_window_share: Option<f64>,
    pub handles: Option<u32>,
    pub gc_separate: bool,
}

impl Ftl {
    /// Blocks that a plane may have open besides the first.
    pub fn further_open_blocks(&self) -> u32 {
        let hot_and_cold = self.streams.hot_window_share.is_some();
        let levels_wear = self.wear.static_spread.is_some();
        // Blocks that are only ever in SLC mode are not opened in place of others.
        let slc = self.slc_cache.is_some_and(|cache| cache.is_dynamic);
        let further =
            [hot_and_cold, self.streams.gc_separate, self.demand.is_some(), levels_wear, slc];
        let of_handles = self.streams.handles.map_or(0, |handles| handles - 1);
        further.into_iter().map(u32::from).sum::<u32>() + of_handles
    }

    /// Open blocks of a plane to which the pages of a victim are moved.
    pub fn open_blocks_of_moved(&self) -> u32 {
        let hot_and_cold = self.streams.hot_window_share.is_some() && !self.streams.gc_separate;
        let handles = self.streams.handles.filter(|_| !self.streams.gc_separate);
        let of_handles = handles.map_or(0, |handles| handles - 1);
        1 + u32::from(hot_and_cold) + of_handles + u32::from(self.demand.is_some())
    }
}

/// Wear levelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    pub least_worn_first: bool,
    pub static_spread: Option<u32>,
    pub count_erases: bool,
}

/// Bad blocks, and failures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    pub factory_bad_share: f64,
    pub program_failure: f64,
    pub erase_failure: f64,
}

impl Faults {
    /// Whether any block can be bad.
    pub fn any(&self) -> bool {
        self.factory_bad_share > 0.0 || self.program_failure > 0.0 || self.erase_failure > 0.0
    }
}

/// The mapping in flash, with a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    pub cache_bytes: u64,
    pub segmented: bool,
}

/// Blocks in SLC mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlcCache {
    pub is_dynamic: bool,
    pub blocks_per_plane: u32,
    pub min_free_share: f64,
    pub folds_under_pressure: bool,
    pub suspends: bool,
    pub wear_per_erase: f64,
    pub rber_factor: f64,
}

words! {
    /// State of the drive before the first request.
    Precondition {
        "none" = None, "Nothing written.";
        "sequential" = Sequential, "Every logical page written once, in order.";
        "steady" = Steady, "Sequential, then random overwrites to the steady state.";
    }

    /// The handling of the rest of a page when only part of it is written.
    PartialWrite {
        "read_modify_write" = ReadModifyWrite, "The rest of the page is read first.";
        "track_sectors" = TrackSectors,
            "The rest is read first only if the page holds sectors that the write leaves.";
        "pad" = Pad, "Nothing is read: the program carries padding in place of the rest.";
    }
}
