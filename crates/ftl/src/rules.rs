//! Rules of garbage collection by the scenario.

use reprieve_config::Scenario;
use reprieve_nand::MultiPlane;

use super::PPM;

/// Rules of garbage collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct GcRules {
    /// Free blocks below which a plane is collected in idle time or at a rate; 0: never.
    pub(super) start_blocks: u32,
    /// Optional collection runs in idle time.
    pub(super) in_background: bool,
    /// Moves that each host page pays for.
    pub(super) pace: Pace,
    /// Host operations may run between the steps of a block's collection.
    pub(super) preemptible: bool,
    /// Most dies that collect while none must.
    pub(super) dies_max: u32,
    /// Rules of parallel collection on the planes of a die; `None`: one at a time.
    pub(super) beside: Option<Beside>,
}

impl GcRules {
    pub(super) fn of(scenario: &Scenario) -> GcRules {
        let ftl = &scenario.ftl;
        let start_blocks = scenario.collection_margins().start_blocks;
        GcRules {
            start_blocks,
            in_background: ftl.gc_background && start_blocks > 0,
            pace: Pace::of(scenario),
            preemptible: ftl.gc.preemptible,
            dies_max: ftl.gc.dies_max.unwrap_or(u32::MAX),
            beside: ftl.gc.parallel_planes.then(|| Beside::of(scenario)),
        }
    }

    /// Whether `free` blocks of a plane are too few, of which `reserve_blocks` are kept.
    #[inline]
    pub(super) fn is_short(&self, free: u32, reserve_blocks: u32) -> bool {
        free <= reserve_blocks || free < self.start_blocks
    }
}

/// Pages moved for each host page while few blocks are free.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// A share, in millionths.
    Fixed { rate_ppm: i64 },
    /// Moves per gained page, times twice the position between the start of collection and its
    /// reserve, in pages.
    FreeSpace { start_pages: i64, reserve_pages: i64 },
}

impl Pace {
    fn of(scenario: &Scenario) -> Pace {
        let gc = &scenario.ftl.gc;
        if !gc.follows_free_space {
            let rate = gc.rate_pages_per_write.unwrap_or(0.0);
            return Pace::Fixed { rate_ppm: (rate * PPM as f64).round() as i64 };
        }
        let margins = scenario.collection_margins();
        let pages = i64::from(scenario.mapping_geometry().pages_per_block);
        Pace::FreeSpace {
            start_pages: i64::from(margins.start_blocks) * pages,
            reserve_pages: i64::from(margins.reserve_blocks) * pages,
        }
    }
}

/// Rules of parallel collection on the planes of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    /// A plane with fewer free blocks starts a victim when another one does.
    pub(super) joins_below_blocks: u32,
    /// Planes in a command.
    pub(super) multi_plane: MultiPlane,
    /// Independent plane reads: no command takes the reads of several planes.
    pub(super) reads_apart: bool,
    /// Their victims are chosen as a set, so that their open blocks stay aligned.
    pub(super) in_step: bool,
}

impl Beside {
    fn of(scenario: &Scenario) -> Beside {
        let parallelism = &scenario.parallelism;
        Beside {
            // One block above the hard limit.
            joins_below_blocks: scenario.ftl.gc_hard_free_blocks + 2,
            multi_plane: parallelism.multi_plane,
            reads_apart: parallelism.independent_plane_reads,
            in_step: scenario.ftl.gc.victims_in_step,
        }
    }
}
