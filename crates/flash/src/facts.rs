//! Constants of the flash: shape, times, and parallelism of its dies.

use std::num::NonZeroU32;

use reprieve_base::{Dur, Geometry, PageAddress, Superblocks, Time};
use reprieve_config::Scenario;
use reprieve_nand::{MultiPlane, Parallelism, ResumeAt, Timing};
use reprieve_policy::sched::Scheduler;
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::txn::Txn;

use super::die::DieUnit;

/// Constants of a scenario for dies and channels.
#[derive(Clone, Debug)]
pub(super) struct FlashFacts {
    pub(super) geometry: Geometry,
    pub(super) timing: Timing,
    pub(super) parallelism: Parallelism,
    /// Superblocks over the planes of a die.
    pub(super) superblocks: Superblocks,
    /// Commands may have several transactions: of several planes, a wordline, or the units of a
    /// page.
    pub(super) gathers: bool,
    /// A read is a command on its own, on a die of one lane.
    pub(super) reads_alone: bool,
    /// The scheduler suspends operations.
    pub(super) suspends: bool,
    /// Planes are suspended for their own reads.
    pub(super) splits: bool,
    /// A host program may start inside an erase.
    pub(super) write_in_erase: bool,
    /// A die decides again after the start of an operation.
    pub(super) looks_at_start: bool,
    /// With independent plane reads, or programs of several pages, decisions look at more than the
    /// queues.
    pub(super) decides_more: bool,
    /// Dies compete for channels.
    pub(super) shares_channels: bool,
    /// A die has a private channel, so that the end of a read is known at its start.
    pub(super) private_channels: bool,
    /// A die that moves the pages of a block reserves the shared channel.
    pub(super) gc_holds_channel: bool,
    /// Pages of a plane in a program, and transactions, one for each mapping unit of them.
    pub(super) pages_together: u32,
    pub(super) together: u32,
    /// Longest wait for the rest of a wordline.
    pub(super) wordline_timeout: Dur,
    /// Reads may suspend programs in SLC mode like others.
    pub(super) slc_suspends: bool,
    pub(super) transfer_unit_bytes: Option<u32>,
    /// Room in the write buffer, in mapping units.
    pub(super) buffer_pages: u64,
    /// The service levels of loads that have one, see [`Txn::service_level`].
    pub(super) service_levels: Vec<Dur>,
}

impl FlashFacts {
    pub(super) fn new(scenario: &Scenario, scheduler: &dyn Scheduler) -> FlashFacts {
        let (timing, geometry) = (scheduler.timing(scenario.timing), scenario.geometry);
        let parallelism = scenario.parallelism;
        let one_plane = parallelism.multi_plane == MultiPlane::None;
        let together = scenario.units_together();
        let writes = scenario.suspend_rules.host_write_suspends.erase;
        let write_in_erase = writes && scenario.suspension.erase && scheduler.suspends();
        FlashFacts {
            geometry,
            timing,
            parallelism,
            superblocks: Superblocks::new(scenario.ftl.twin_blocks, &geometry),
            gathers: !one_plane || together > 1,
            reads_alone: one_plane
                && together == 1
                && !parallelism.independent_plane_reads
                && !scenario.ecc.is_some_and(|ecc| ecc.remembers_retries),
            suspends: scheduler.suspends(),
            splits: parallelism.plane_suspension && scheduler.suspends(),
            write_in_erase,
            looks_at_start: write_in_erase || parallelism.cache_program,
            decides_more: parallelism.independent_plane_reads || together > 1,
            shares_channels: geometry.dies_per_channel > 1,
            private_channels: geometry.dies_per_channel == 1
                && scenario.units_per_page() == 1
                && !timing.cache_register
                && one_plane
                && !parallelism.independent_plane_reads
                && !parallelism.cache_program
                && scenario.suspension.resume_at == ResumeAt::DataOut,
            gc_holds_channel: scenario.ftl.gc.holds_channel && geometry.dies_per_channel > 1,
            pages_together: timing.pages_together(),
            together,
            wordline_timeout: scenario.ftl.wordline_timeout,
            slc_suspends: scenario.ftl.slc_cache.is_none_or(|cache| cache.suspends),
            transfer_unit_bytes: scenario.transfer_unit_bytes(),
            buffer_pages: scenario.buffer.bytes / u64::from(scenario.mapping_bytes()),
            service_levels: scenario.service_levels().collect(),
        }
    }

    /// Returns the transfer time of a sensed page, or of the requested units of it.
    #[inline(always)]
    pub(super) fn out_time(&self, units: Option<NonZeroU32>) -> Dur {
        units.map_or(self.timing.bus, |units| self.part_time(units.get()))
    }

    fn part_time(&self, units: u32) -> Dur {
        let unit_bytes = self.transfer_unit_bytes.expect("only then do pages leave in units");
        let bytes = u64::from(units) * u64::from(unit_bytes);
        Dur::from_ns((self.timing.bus.ns() * bytes).div_ceil(self.geometry.page_bytes.into()))
    }

    /// Returns the address in its die of a page counted over the drive.
    pub(super) fn address(&self, page: u32) -> PageAddress {
        let Geometry { pages_per_block, blocks_per_plane, planes_per_die, .. } =
            self.superblocks.inner_geometry(self.geometry);
        let block = page / pages_per_block;
        let plane = block / blocks_per_plane % planes_per_die;
        let (block, page) = (block % blocks_per_plane, page % pages_per_block);
        self.superblocks.outer(PageAddress { plane, block, page })
    }

    /// Whether a transaction that follows another in its command is the first of its plane.
    #[inline]
    pub(super) fn opens_plane(&self, txn: &Txn) -> bool {
        let is_within = txn.kind.is_program() && txn.at.page % self.pages_together > 0;
        self.together == 1 || txn.place == 0 && !is_within
    }

    /// Returns the pages of a plane in a program for one of its open blocks.
    #[inline]
    pub(super) fn pages_of_program(&self, front: u8) -> u32 {
        if usize::from(front) == SLC_FRONT { 1 } else { self.pages_together }
    }

    /// Returns the transactions of such a program.
    #[inline]
    pub(super) fn together_of(&self, front: u8) -> u32 {
        match usize::from(front) == SLC_FRONT {
            true => self.together / self.pages_together,
            false => self.together,
        }
    }

    /// Whether a page holds several mapping units.
    #[inline]
    pub(super) fn has_units(&self) -> bool {
        self.together > self.pages_together
    }

    /// Whether one command can take `other` with `first`, if their planes differ.
    pub(super) fn goes_with(&self, first: PageAddress, other: PageAddress, is_erase: bool) -> bool {
        let block = first.block == other.block || self.parallelism.multi_plane == MultiPlane::Page;
        block && (is_erase || first.page == other.page)
    }

    /// Whether a program or erase, the oldest of its open block, can start: its wordline is
    /// complete or flushed, or its deadline has passed.
    pub(super) fn is_ready(&self, unit: &DieUnit, txn: &Txn, flushed: u64, now: Time) -> bool {
        !txn.kind.fills_wordline()
            || unit.planes.has_wordline(txn, self.together_of(txn.front))
            || txn.seq < flushed
            || txn.mark + self.wordline_timeout <= now
    }
}
