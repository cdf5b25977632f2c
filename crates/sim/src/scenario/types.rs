//! The resolved scenario: typed, in base units, every value within its range.

use reprieve_base::{Dur, Geometry, Stream};
use reprieve_nand::{Ecc, Parallelism, Suspension, Timing};
use reprieve_trace::WorkloadConfig;

use super::ftl::{Demand, Faults, GcControl, PartialWrite, Streams, Wear};
use super::{
    Buffer, Dispatch, Flow, Host, Measure, Parameters, Power, PowerLoss, ReadCache, Reliability,
    Step,
};

/// Everything a run depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Seed of every random stream.
    pub seed: u64,
    /// What results call the drive: the key `name`, else the preset or path that was given.
    pub device: String,
    /// The drive's shape.
    pub geometry: Geometry,
    /// The part's times.
    pub timing: Timing,
    /// What the part can suspend, and how often.
    pub suspension: Suspension,
    /// What a die can do at once.
    pub parallelism: Parallelism,
    /// Raw bit errors and wear.
    pub reliability: Reliability,
    /// What corrects raw bit errors, if anything does.
    pub ecc: Option<Ecc>,
    /// When the controller asks for a suspension.
    pub suspend_rules: SuspendRules,
    /// Which transaction a die serves next.
    pub scheduling: Scheduling,
    /// What the channels carry.
    pub channel: Channel,
    /// What the flash draws and may draw; `None`: nobody asks.
    pub power: Option<Power>,
    /// What happens when the power fails; `None`: it does not.
    pub power_loss: Option<PowerLoss>,
    /// Mapping, placement and garbage collection.
    pub ftl: Ftl,
    /// Write buffer.
    pub buffer: Buffer,
    /// Read cache, if the drive has one.
    pub read_cache: Option<ReadCache>,
    /// Host interface.
    pub host: Host,
    /// What the drive is asked to do; `None` with `flows` or `fio`, and for the rig, which has
    /// its own commands.
    pub workload: Option<WorkloadConfig>,
    /// A fio file, whose jobs are `flows`.
    pub fio: Option<String>,
    /// Submission queues that the requests of `workload` go to by turns; empty: all.
    pub queues: Vec<u32>,
    /// Several loads at once, by name or as a fio file has them; empty: that of `workload`.
    pub flows: Vec<Flow>,
    /// From when on the run is measured.
    pub measure: Measure,
}

/// Free blocks of a plane between which collection runs before it has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionMargins {
    /// It begins below so many; 0: only where it has to.
    pub start_blocks: u32,
    /// With so many it has to.
    pub reserve_blocks: u32,
    /// Blocks that may be opened besides the one that every plane has open.
    pub further_open_blocks: u32,
    /// What is left between the two, whatever is open.
    pub slack_blocks: u32,
}

impl Scenario {
    /// Pages that the user sees: what over-provisioning leaves, to the nearest page.
    pub fn logical_pages(&self) -> u32 {
        let pages = self.geometry.pages();
        let spare = (pages as f64 * self.ftl.over_provisioning).round() as u64;
        u32::try_from(pages - spare).expect("a checked geometry has less than 2^31 pages")
    }

    /// Between which numbers of free blocks of a plane collection runs before it has to.
    pub fn collection_margins(&self) -> CollectionMargins {
        let ftl = &self.ftl;
        let further_open_blocks = ftl.streams.further_open_blocks(ftl.demand.is_some());
        let blocks = f64::from(self.geometry.blocks_per_plane);
        let share_blocks = (ftl.gc_start_free_share * blocks).ceil() as u32;
        let reserve_blocks = ftl.gc_hard_free_blocks;
        let runs = ftl.gc_background || ftl.gc.rate_pages_per_write.is_some();
        let start_blocks =
            if runs && share_blocks > 0 { share_blocks + further_open_blocks } else { 0 };
        let slack_blocks = start_blocks.saturating_sub(reserve_blocks + further_open_blocks);
        CollectionMargins { start_blocks, reserve_blocks, further_open_blocks, slack_blocks }
    }

    /// Bytes that the user sees.
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.logical_pages()) * u64::from(self.geometry.page_bytes)
    }

    /// The same with draws of its own, for what is done under this name before the run: a policy
    /// that drew the same again would choose the same blocks once more.
    pub fn drawing_apart(&self, name: &str) -> Scenario {
        Scenario { seed: Stream::new(self.seed, name, 0).next_u64(), ..self.clone() }
    }

    /// The loads of the drive.
    pub fn loads(&self) -> impl Iterator<Item = &WorkloadConfig> {
        self.workload.iter().chain(self.flows.iter().map(|flow| &flow.workload))
    }

    /// The generated loads that change data, going on at random for as long as they are asked.
    pub fn overwriting_loads(&self) -> impl Iterator<Item = WorkloadConfig> {
        let changing = self.loads().filter(|load| load.changes_data());
        changing.filter_map(WorkloadConfig::at_random)
    }

    /// Whether generated loads write all pages of the drive alike and trim none.
    pub fn writes_evenly(&self) -> bool {
        let capacity_bytes = self.capacity_bytes();
        self.overwriting_loads().all(|load| load.writes_evenly(capacity_bytes))
    }
}

/// Which operations a class of reads or writes may suspend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationSet {
    /// Host programs.
    pub program: bool,
    /// Programs of garbage collection.
    pub gc_program: bool,
    /// Erases.
    pub erase: bool,
}

/// Section `[suspension]`, the controller's half.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendRules {
    /// Name in the registry of suspension policies.
    pub policy: String,
    /// What the keys of that policy say.
    pub parameters: Parameters,
    /// What a host read may suspend.
    pub host_read_suspends: OperationSet,
    /// What the read of a read-modify-write may suspend.
    pub rmw_read_suspends: OperationSet,
    /// What a read of garbage collection may suspend.
    pub gc_read_suspends: OperationSet,
    /// What a host write may suspend: nothing, or erases.
    pub host_write_suspends: OperationSet,
}

/// Section `[scheduling]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// Name in the registry of schedulers.
    pub policy: String,
    /// Pending programs at which they go ahead of reads, unsuspended; `None`: no limit.
    pub write_queue_limit: Option<u32>,
    /// Which programs the limit counts; those of each die without one.
    pub write_queue_limit_scope: LimitScope,
    /// Policy `rps-age`: a write that has waited so long goes first; `None` with another.
    pub age_limit: Option<Dur>,
    /// Policy `deadline`; `None` with another.
    pub deadlines: Option<Deadlines>,
    /// Policy `microcode`: its steps; `None` with another.
    pub steps: Option<Vec<Step>>,
    /// What goes first over all queues.
    pub dispatch: Dispatch,
}

/// Which pending programs the write queue limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitScope {
    /// Those of each die, apart from the others.
    Die,
    /// Those of all dies together.
    Drive,
}

/// In which order requests and their data cross the host link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOrder {
    /// Commands take their own way; each direction has data of its own.
    Free,
    /// One request at a time, in either direction, as they come.
    InOrder,
}

/// How long each class should wait at most, from its arrival at the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Reads.
    pub read: Dur,
    /// Host programs, and the erases of the rig.
    pub write: Dur,
    /// Urgent garbage collection, and the programs and erases that it began.
    pub gc: Dur,
}

/// Who has the channel next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelOrder {
    /// As asked; where the scheduler prefers reads, theirs before the data of programs.
    Asked,
    /// Pages that leave, as asked; then the dies that wait to begin something, in turn.
    DataFirst,
    /// The commands of reads and erases; then as asked.
    CommandsFirst,
}

/// Section `[channel]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Who has it next.
    pub order: ChannelOrder,
    /// A read sends only the units that it needs, each of this length; `None`: the whole page.
    pub transfer_unit_bytes: Option<u32>,
}

/// State of the drive before the first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing written.
    None,
    /// Every logical page written once, in order.
    Sequential,
    /// Sequential, then random overwrites until write amplification is stationary.
    Steady,
}

/// Section `[ftl]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ftl {
    /// Share of the raw pages kept from the user, in `(0, 1)`.
    pub over_provisioning: f64,
    /// Name in the registry of placement schemes.
    pub placement: String,
    /// Name in the registry of victim policies.
    pub gc_victim: String,
    /// Policy `d-choices`: blocks drawn for each victim; `None` with another policy.
    pub gc_choices: Option<u32>,
    /// Policy `windowed-greedy`: blocks of which the emptiest is taken; `None` with another policy.
    pub gc_window_blocks: Option<u32>,
    /// A plane is collected in idle time while fewer than this share of its blocks are free.
    pub gc_start_free_share: f64,
    /// At this many free blocks or fewer a plane takes host writes only into its open block.
    pub gc_hard_free_blocks: u32,
    /// Whether garbage collection uses idle time, or only runs when it is forced.
    pub gc_background: bool,
    /// When collection runs, and how far before the host.
    pub gc: GcControl,
    /// Which open block takes a page.
    pub streams: Streams,
    /// Wear levelling.
    pub wear: Wear,
    /// Bad blocks, and what fails.
    pub faults: Faults,
    /// The mapping in flash; `None`: all of it is in memory.
    pub demand: Option<Demand>,
    /// How long a page waits for the others of its wordline.
    pub wordline_timeout: Dur,
    /// Blocks of one number on all planes of a die are written and erased as one.
    pub twin_blocks: bool,
    /// Whether garbage collection moves pages by copyback, without the channel.
    pub copyback: bool,
    /// What a write of part of a page does about the rest of the page.
    pub partial_write: PartialWrite,
    /// State of the drive before the first request.
    pub precondition: Precondition,
}
