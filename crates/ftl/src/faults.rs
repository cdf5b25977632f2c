//! Bad blocks: from the factory, and those on which a program or an erase fails.

use std::collections::BTreeSet;
use std::ops::Range;

use reprieve_base::{PageAddress, Stream, UserError};
use reprieve_config::{Faults, Scenario};
use reprieve_observe::stats::BadBlocks;
use reprieve_policy::txn::{Kind, Txn};

use super::Ftl;

/// What fails, and what has failed so far.
#[derive(Clone, Debug)]
pub(super) struct Failing {
    faults: Faults,
    /// One for each die, as programs and erases of one die are in order.
    streams: Vec<Stream>,
    counts: BadBlocks,
    /// Blocks, counted over the drive, that are out of use.
    bad: BTreeSet<u32>,
    has_failed_programs: bool,
    /// The first plane that could not go on.
    worn_out: Option<WornOut>,
}

/// A plane that cannot go on.
#[derive(Clone, Copy, Debug)]
struct WornOut {
    plane: u32,
    /// Blocks that it had left.
    good_blocks: u32,
    /// Those would do, but garbage collection has no free one to move to.
    has_enough: bool,
}

impl Failing {
    pub(super) fn new(scenario: &Scenario) -> Failing {
        let dies = u64::from(scenario.geometry.dies());
        let stream = |die| Stream::new(scenario.seed, "nand.failure", die);
        Failing {
            faults: scenario.ftl.faults,
            streams: (0..dies).map(stream).collect(),
            counts: BadBlocks::default(),
            bad: BTreeSet::new(),
            has_failed_programs: false,
            worn_out: None,
        }
    }

    /// From now on so much fails.
    pub(super) fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// A block is bad from the start.
    pub(super) fn add_bad_from_factory(&mut self, block: u32) {
        self.counts.factory += 1;
        self.bad.insert(block);
    }

    /// These are bad from the start, and no others.
    pub(super) fn start_with(&mut self, bad: BTreeSet<u32>, has_failed_programs: bool) {
        self.counts.factory = bad.len() as u64;
        (self.bad, self.has_failed_programs) = (bad, has_failed_programs);
    }

    /// Whether a block can be bad at all.
    pub(super) fn any(&self) -> bool {
        self.faults.any()
    }

    /// Blocks of a range that are out of use, in order.
    pub(super) fn bad_in(&self, blocks: Range<u32>) -> impl Iterator<Item = u32> {
        self.bad.range(blocks).copied()
    }

    /// Whether a program has ever failed.
    #[inline]
    pub(super) fn has_failed_programs(&self) -> bool {
        self.has_failed_programs
    }

    /// Whether the program that a die has just done has failed.
    fn program_fails(&mut self, die: u32) -> bool {
        let probability = self.faults.program_failure;
        probability > 0.0 && self.streams[die as usize].unit() < probability
    }

    /// Whether the erase that a die has just done has failed.
    #[inline]
    pub(super) fn erase_fails(&mut self, die: u32) -> bool {
        let probability = self.faults.erase_failure;
        probability > 0.0 && self.streams[die as usize].unit() < probability
    }
}

impl Ftl {
    /// Whether programs may fail.
    #[inline]
    pub fn programs_fail(&self) -> bool {
        self.failing.faults.program_failure > 0.0
    }

    /// Whether the program of a page that is complete has failed; then its block is given up, and
    /// the page has to be written elsewhere.
    pub fn program_failed(&mut self, txn: &Txn) -> bool {
        if !self.failing.program_fails(txn.die) {
            return false;
        }
        self.failing.has_failed_programs = true;
        let plane = self.plane_of(txn.die, txn.at);
        match txn.kind {
            Kind::GcProgram => self.failing.counts.failed_gc_programs += 1,
            Kind::MapProgram => self.failing.counts.failed_map_programs += 1,
            _ => self.failing.counts.failed_host_programs += 1,
        }
        self.planes[plane as usize].close(txn.at.block);
        let block = plane * self.geometry.blocks_per_plane + txn.at.block;
        self.planes[plane as usize].failed.push_back(block);
        self.lose_block(plane);
        true
    }

    /// Blocks on which a program failed and that hold no valid page any more are given up: there
    /// is nothing to move.
    #[cold]
    pub(super) fn give_up_empty(&mut self, plane: u32) {
        let (index, bad) = (&self.index, &mut self.failing.bad);
        let state = &mut self.planes[plane as usize];
        state.failed.retain(|block| index.valid(*block) > 0 || !bad.insert(*block));
        let job = &state.job;
        if job.retires && !job.in_flight && job.victim.is_some_and(|block| index.valid(block) == 0)
        {
            let victim = self.end_job(plane);
            self.failing.bad.insert(victim);
        }
    }

    /// An erase has failed.
    pub(super) fn erase_failed(&mut self, plane: u32, block: u32) {
        self.failing.bad.insert(block);
        self.failing.counts.failed_erases += 1;
        self.lose_block(plane);
    }

    /// A plane has one good block less.
    fn lose_block(&mut self, plane: u32) {
        self.failing.counts.grown += 1;
        self.forget_need(plane);
        let state = &mut self.planes[plane as usize];
        state.good_blocks -= 1;
        let good_blocks = state.good_blocks;
        if good_blocks < self.needed_blocks {
            let worn_out = WornOut { plane, good_blocks, has_enough: false };
            self.failing.worn_out.get_or_insert(worn_out);
        }
    }

    /// Garbage collection of a plane has nowhere to move a page to.
    #[cold]
    pub(super) fn no_free_block(&mut self, plane: u32) {
        let good_blocks = self.planes[plane as usize].good_blocks;
        self.failing.worn_out.get_or_insert(WornOut { plane, good_blocks, has_enough: true });
    }

    /// Whether the block of an address is out of use.
    pub fn is_bad(&self, die: u32, at: PageAddress) -> bool {
        let block = self.page_number(die, at) / self.geometry.pages_per_block;
        self.failing.bad.contains(&block)
    }

    /// Bad blocks and failures so far, if there can be any.
    pub fn bad_blocks(&self) -> Option<BadBlocks> {
        self.failing.faults.any().then_some(self.failing.counts)
    }

    /// Errors if a plane has too few blocks left to go on.
    #[inline]
    pub fn check_blocks(&self) -> Result<(), UserError> {
        self.failing.worn_out.as_ref().map_or(Ok(()), |worn_out| Err(self.too_few_blocks(worn_out)))
    }

    #[cold]
    fn too_few_blocks(&self, worn_out: &WornOut) -> UserError {
        let WornOut { plane, good_blocks, has_enough } = *worn_out;
        let Faults { program_failure, erase_failure, .. } = self.failing.faults;
        let all = self.geometry.blocks_per_plane;
        let why = match has_enough {
            false => format!("its data and garbage collection need {}", self.needed_blocks),
            true => format!(
                "of which none is free to move pages to, with ftl.gc_hard_free_blocks = {}",
                self.reserve_blocks
            ),
        };
        UserError::new(format!(
            "nand.program_failure = {program_failure}, nand.erase_failure = {erase_failure}: plane \
             {plane} has {good_blocks} good blocks left of {all}, {why}; lower the probabilities, \
             or give it more with ftl.over_provisioning"
        ))
    }
}
