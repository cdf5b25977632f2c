//! A job's options on their way to a load, not yet fitted to a drive.

use reprieve_base::Dur;

use super::job::{JobOps, JobOrder, JobRate};
use super::units::Extent;
use super::zones::{self, Split};

/// The options of a job as read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    /// Without the share of reads of a mix.
    pub(super) ops: JobOps,
    pub(super) is_random: bool,
    pub(super) read_percent: u32,
    pub(super) sizes: [Vec<(u32, f64)>; 3],
    /// The sizes of `bssplit`, which outrank those of `bs`.
    pub(super) splits: [Option<Vec<(u32, f64)>>; 3],
    pub(super) depth: u32,
    pub(super) is_synchronous: bool,
    pub(super) clones: u32,
    pub(super) size: Option<Extent>,
    pub(super) io_size: Option<Extent>,
    pub(super) offset: Extent,
    pub(super) offset_increment: Extent,
    pub(super) requests_max: Option<u64>,
    pub(super) loops: u64,
    pub(super) law: Option<Law>,
    pub(super) repeats: bool,
    pub(super) runtime: Option<Dur>,
    pub(super) time_based: bool,
    pub(super) ramp: Dur,
    pub(super) delay: Dur,
    pub(super) stonewall: bool,
    pub(super) think: Dur,
    pub(super) think_blocks: u64,
    pub(super) rates: [Option<JobRate>; 3],
    pub(super) poisson: bool,
    pub(super) flush_every: Option<u64>,
    pub(super) fua: bool,
    /// The drive has zones.
    pub(super) has_zones: bool,
    pub(super) zone_bytes: Option<u32>,
    pub(super) zone_capacity: Option<u32>,
    pub(super) open_zones_max: Option<u32>,
}

impl Default for Draft {
    fn default() -> Draft {
        let page = || vec![(4096, 1.0)];
        Draft {
            ops: JobOps::Read,
            is_random: false,
            read_percent: 50,
            sizes: [page(), page(), page()],
            splits: [None, None, None],
            depth: 1,
            is_synchronous: false,
            clones: 1,
            size: None,
            io_size: None,
            offset: Extent::Bytes(0),
            offset_increment: Extent::Bytes(0),
            requests_max: None,
            loops: 1,
            law: None,
            repeats: false,
            runtime: None,
            time_based: false,
            ramp: Dur::ZERO,
            delay: Dur::ZERO,
            stonewall: false,
            think: Dur::ZERO,
            think_blocks: 1,
            rates: [None; 3],
            poisson: false,
            flush_every: None,
            fua: false,
            has_zones: false,
            zone_bytes: None,
            zone_capacity: None,
            open_zones_max: None,
        }
    }
}

/// A law of places, as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Law {
    /// A law without further parameters.
    Plain(JobOrder),
    /// Zones of reads, writes and trims.
    Zoned([Split; 3]),
}

impl Draft {
    pub(super) fn ops(&self) -> JobOps {
        match self.ops {
            JobOps::Mixed { .. } => JobOps::Mixed { read_percent: self.read_percent },
            ops => ops,
        }
    }

    /// The order in a region of `region_bytes`.
    pub(super) fn order(&self, region_bytes: u64) -> JobOrder {
        match (&self.law, self.is_random) {
            (_, false) => JobOrder::Sequential,
            (Some(Law::Plain(law)), true) => law.clone(),
            (Some(Law::Zoned(splits)), true) => {
                JobOrder::Zoned(splits.each_ref().map(|split| zones::fitted(split, region_bytes)))
            }
            (None, true) if self.repeats => JobOrder::RandomRepeating,
            (None, true) => JobOrder::Random,
        }
    }

    /// The sizes of reads, writes and trims.
    pub(super) fn all_sizes(&self) -> [Vec<(u32, f64)>; 3] {
        [0, 1, 2].map(|of| self.splits[of].clone().unwrap_or_else(|| self.sizes[of].clone()))
    }
}
