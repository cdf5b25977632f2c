//! The resolved scenario: typed, in base units, every value within its range.
//!
//! Fields that one key sets, and variants that one word names, are documented in `keys`.

#![allow(missing_docs)]

mod ftl;
mod host;
mod mbm;
mod overwrites;
mod parts;
mod power;
mod scheduling;
mod zns;

use std::sync::Arc;

use reprieve_base::{Dur, Geometry, Stream};
use reprieve_nand::reliability::{Rber, SuspendWear};
use reprieve_nand::{Ecc, EraseLengths, Parallelism, Suspension, Timing};
use reprieve_trace::WorkloadConfig;

use crate::value::words;

pub use ftl::{
    BusyWindow, Demand, Faults, Ftl, GcControl, MediaScan, PartialWrite, Precondition, SlcCache,
    Streams, Wear,
};
pub use host::{
    Acknowledge, Buffer, Eviction, Hold, Host, Interface, LinkOrder, Nvme, Packets, Pcie, Priority,
    ReadCache, Replacement,
};
pub use mbm::{
    Alignment, Chips, FirstOf, MbmRules, ReadAreas, Redistribution, Rounding, ShareRules, Spread,
    Ties, TransactionUnit, Trigger,
};
pub use overwrites::Overwrites;
pub use parts::Part;
pub(crate) use parts::dies_of;
pub use power::{BudgetCounts, Capacitor, LossPolicy, Power, PowerLoss, Thermal};
pub use scheduling::{
    Channel, ChannelOrder, Conflict, Deadlines, Dispatch, LimitScope, OperationSet, PaqRules,
    Parameters, Scheduling, SuspendRules,
};
pub use zns::Zones;

/// All inputs of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    pub seed: u64,
    /// Name of the drive in results: the key `name`, else the given preset or path.
    pub device: String,
    /// The drive's shape.
    pub geometry: Geometry,
    /// The part's times.
    pub timing: Timing,
    /// How long erases in loops take, in microseconds, with weights; empty: none are in loops.
    pub erase_us_by_cycles: Vec<(u32, Vec<(u32, u16)>)>,
    /// Suspension in the part, and its limits.
    pub suspension: Suspension,
    /// Parallelism of a die.
    pub parallelism: Parallelism,
    /// Raw bit errors and wear.
    pub reliability: Reliability,
    pub ecc: Option<Ecc>,
    /// When the controller requests a suspension.
    pub suspend_rules: SuspendRules,
    /// Which transaction a die serves next.
    pub scheduling: Scheduling,
    /// The order of transfers on the channels.
    pub channel: Channel,
    pub power: Option<Power>,
    pub power_loss: Option<PowerLoss>,
    /// Mapping, placement and garbage collection.
    pub ftl: Ftl,
    /// Zones, if the drive has them.
    pub zones: Option<Zones>,
    pub buffer: Buffer,
    /// Read cache, if the drive has one.
    pub read_cache: Option<ReadCache>,
    /// Host interface.
    pub host: Host,
    /// The load of the drive; `None` with `flows` or `fio`, and for the rig, which has its own
    /// commands.
    pub workload: Option<WorkloadConfig>,
    pub fio: Option<String>,
    pub queues: Vec<u32>,
    /// The channels of a resolved flow's pages; empty: all.
    pub channels: Vec<u32>,
    pub dies: Vec<u32>,
    /// Placement handle of the writes.
    pub handle: u32,
    /// Latency objective of reads; `None`: that of the suspension policy.
    pub read_slo: Option<Dur>,
    /// Several loads at once, by name or as in a fio file; empty: that of `workload`.
    pub flows: Vec<Flow>,
    /// The load in whose equilibrium a steady drive starts.
    pub equilibrium: EquilibriumLoad,
    /// The measured part of the run.
    pub measure: Measure,
}

/// The range of free blocks of a plane in which collection runs before it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionMargins {
    /// Collection starts below this number; 0: only when forced.
    pub start_blocks: u32,
    /// Number at which collection is forced.
    pub reserve_blocks: u32,
    /// Blocks that may be opened besides the one that every plane has open.
    pub further_open_blocks: u32,
    /// The rest of the range, with all such blocks open.
    pub slack_blocks: u32,
}

impl Scenario {
    /// Returns how long the erases of blocks take where they come in loops.
    pub fn erase_lengths(&self) -> Option<Arc<EraseLengths>> {
        let mut rows: Vec<_> = self
            .erase_us_by_cycles
            .iter()
            .map(|(cycles, lengths)| {
                let of = |(us, weight): &(u32, u16)| (Dur::from_us(u64::from(*us)), *weight);
                (*cycles, lengths.iter().map(of).collect())
            })
            .collect();
        rows.sort_unstable();
        (!rows.is_empty()).then(|| Arc::new(EraseLengths::new(&rows)))
    }

    /// Pages of flash that the user sees: what over-provisioning leaves, to the nearest page.
    pub fn user_pages(&self) -> u32 {
        let pages = self.geometry.pages();
        let spare = (pages as f64 * self.ftl.over_provisioning).round() as u64;
        // Zones of all planes have whole blocks.
        let unit = if self.zones.is_some() { self.row_pages() } else { 1 };
        u32::try_from((pages - spare) / unit * unit)
            .expect("a checked geometry has less than 2^31 pages")
    }

    /// Mapping units of a page.
    pub fn units_per_page(&self) -> u32 {
        self.geometry.page_bytes.checked_div(self.ftl.mapping_bytes).unwrap_or(1)
    }

    /// Bytes of a mapping unit.
    pub fn mapping_bytes(&self) -> u32 {
        self.geometry.page_bytes / self.units_per_page()
    }

    /// The shape of the drive as its mapping sees it: its pages are mapping units.
    pub fn mapping_geometry(&self) -> Geometry {
        self.geometry.divided(self.units_per_page())
    }

    /// Mapping units that a program of a plane takes.
    pub fn units_together(&self) -> u32 {
        self.timing.pages_together() * self.units_per_page()
    }

    /// Logical pages: mapping units that the user sees.
    pub fn logical_pages(&self) -> u32 {
        self.user_pages() * self.units_per_page()
    }

    /// Bytes in multiples of which pages leave a die; `None`: they leave whole.
    pub fn transfer_unit_bytes(&self) -> Option<u32> {
        let is_divided = self.units_per_page() > 1;
        self.channel.transfer_unit_bytes.or(is_divided.then(|| self.mapping_bytes()))
    }

    /// The range of free blocks of a plane in which collection runs before it must.
    pub fn collection_margins(&self) -> CollectionMargins {
        let ftl = &self.ftl;
        let further_open_blocks = ftl.further_open_blocks();
        let blocks = f64::from(self.geometry.blocks_per_plane);
        let share_blocks = (ftl.gc_start_free_share * blocks).ceil() as u32;
        let reserve_blocks = ftl.gc_hard_free_blocks;
        let has_pace = ftl.gc.follows_free_space || ftl.gc.rate_pages_per_write.is_some();
        let runs = ftl.gc_background || has_pace;
        let start_blocks =
            if runs && share_blocks > 0 { share_blocks + further_open_blocks } else { 0 };
        let slack_blocks = start_blocks.saturating_sub(reserve_blocks + further_open_blocks);
        CollectionMargins { start_blocks, reserve_blocks, further_open_blocks, slack_blocks }
    }

    /// Bytes that the user addresses.
    pub fn capacity_bytes(&self) -> u64 {
        if let Some(zones) = &self.zones {
            return u64::from(self.logical_pages() / self.zone_units())
                * zones.size_bytes.max(self.zone_bytes());
        }
        u64::from(self.user_pages()) * u64::from(self.geometry.page_bytes)
    }

    /// As above with other random draws, for work under this name before the run: a policy with
    /// equal draws would choose the same blocks again.
    pub fn drawing_apart(&self, name: &str) -> Scenario {
        Scenario { seed: Stream::new(self.seed, name, 0).next_u64(), ..self.clone() }
    }

    /// The loads of the drive.
    pub fn loads(&self) -> impl Iterator<Item = &WorkloadConfig> {
        self.workload.iter().chain(self.flows.iter().map(|flow| &flow.workload))
    }

    /// Leaves the drive without a load.
    pub fn take_loads(&mut self) {
        (self.workload, self.fio, self.flows) = (None, None, Vec::new());
    }

    /// Returns the overwrites of its loads.
    pub fn overwrites(&self) -> Overwrites<'_> {
        Overwrites(self)
    }

    /// Returns the service levels of the loads that have one, in their order.
    pub fn service_levels(&self) -> impl Iterator<Item = Dur> + '_ {
        self.read_slo.into_iter().chain(self.flows.iter().filter_map(|flow| flow.read_slo))
    }
}

/// Section `[reliability]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reliability {
    /// Raw bit errors of the part.
    pub rber: Rber,
    pub factor_by_type: Vec<f64>,
    pub rated_cycles: Option<u32>,
    pub ageing: Option<Ageing>,
}

/// The history of a drive, and its sources of wear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ageing {
    pub age_days: f64,
    pub cycles_at_start: u32,
    pub cycles_spread: f64,
    /// Shares of a cycle that suspensions cost.
    pub suspend_wear: SuspendWear,
    pub warranty_days: u32,
}

/// The load in whose equilibrium a steady drive starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum EquilibriumLoad {
    /// That of the run.
    #[default]
    Scenario,
    /// Random writes of the mapping unit over the whole drive, which then rests.
    RandomWrites,
    /// A given one.
    Given(Box<WorkloadConfig>),
}

/// One of several loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The name of its table.
    pub name: String,
    /// Its load.
    pub workload: WorkloadConfig,
    pub queues: Vec<u32>,
    pub channels: Vec<u32>,
    pub dies: Vec<u32>,
    pub handle: u32,
    /// As in a scenario with one load.
    pub read_slo: Option<Dur>,
}

impl Flow {
    /// The seed of the flow, and of its clones, in a scenario of this seed: it depends on the name,
    /// so that an additional flow leaves the others unchanged.
    pub fn seed(&self, seed: u64, clone: u64) -> u64 {
        Stream::new(seed, &format!("flow.{}", self.name), clone).next_u64()
    }

    /// Whether its pages are placed on some dies only.
    fn has_part(&self) -> bool {
        !(self.channels.is_empty() && self.dies.is_empty())
    }
}

/// Section `[measure]`: a request counts if its number is at least this and it arrives no earlier
/// than this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    pub from_request: u64,
    pub from: Dur,
    pub warmup: Warmup,
}

words! {
    /// The method that finds the end of a run's initial transient.
    Warmup {
        "none" = None, "Only the other keys exclude requests.";
        "auto" = Auto, "The run finds the end of its transient, and is simulated again from there.";
    }
}
