//! Failures of the part, bad blocks, and planes with too few good ones.

use std::collections::BTreeSet;
use std::ops::Range;

use reprieve_base::{Archive, Stream, UserError, parts};
use reprieve_config::{Faults, Scenario};
use reprieve_observe::stats::BadBlocks;
use reprieve_policy::txn::Kind;

/// Failures by chance, and their counts.
#[derive(Clone, Debug)]
pub struct Failing {
    faults: Faults,
    /// One for each die, as programs and erases of one die are in order.
    streams: Vec<Stream>,
    counts: BadBlocks,
    /// Bad blocks, counted over the drive.
    bad: BTreeSet<u32>,
    has_failed_programs: bool,
    /// The first worn-out plane.
    worn_out: Option<WornOut>,
    /// An error of the workload, which ends the run.
    refused: Option<UserError>,
    /// Good blocks that a plane needs.
    needed_blocks: u32,
    /// Numbers for messages.
    blocks_per_plane: u32,
    reserve_blocks: u32,
}

/// A plane with too few good blocks.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct WornOut {
    plane: u32,
    /// Good blocks left.
    good_blocks: u32,
    /// They would suffice, but garbage collection has no free one to move to.
    has_enough: bool,
}

impl Failing {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.streams, self.counts, self.bad, self.has_failed_programs);
        parts!(archive; self.worn_out);
    }

    /// Creates the state without failures; a plane needs `needed` good blocks.
    pub(super) fn new(scenario: &Scenario, needed_blocks: u32) -> Failing {
        let dies = u64::from(scenario.geometry.dies());
        let stream = |die| Stream::new(scenario.seed, "nand.failure", die);
        Failing {
            needed_blocks,
            blocks_per_plane: scenario.geometry.blocks_per_plane,
            reserve_blocks: scenario.ftl.gc_hard_free_blocks,
            ..Failing::with(scenario.ftl.faults, (0..dies).map(stream).collect())
        }
    }

    fn with(faults: Faults, streams: Vec<Stream>) -> Failing {
        Failing {
            faults,
            streams,
            counts: BadBlocks::default(),
            bad: BTreeSet::new(),
            has_failed_programs: false,
            worn_out: None,
            refused: None,
            needed_blocks: 0,
            blocks_per_plane: 0,
            reserve_blocks: 0,
        }
    }

    /// Sets the probabilities of failures.
    pub(super) fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Marks a factory bad block.
    pub(super) fn add_bad_from_factory(&mut self, block: u32) {
        self.counts.factory += 1;
        self.bad.insert(block);
    }

    /// Sets the factory bad blocks.
    pub(super) fn start_with(&mut self, bad: BTreeSet<u32>, has_failed_programs: bool) {
        self.counts.factory = bad.len() as u64;
        (self.bad, self.has_failed_programs) = (bad, has_failed_programs);
    }

    /// Whether blocks can fail.
    pub(super) fn any(&self) -> bool {
        self.faults.any()
    }

    /// Returns the bad blocks of a range, in order.
    pub(super) fn bad_in(&self, blocks: Range<u32>) -> impl Iterator<Item = u32> {
        self.bad.range(blocks).copied()
    }

    /// Whether a program has failed.
    #[inline]
    pub(super) fn has_failed_programs(&self) -> bool {
        self.has_failed_programs
    }

    /// Draws whether the last program of a die has failed.
    pub(super) fn program_fails(&mut self, die: u32) -> bool {
        let probability = self.faults.program_failure;
        probability > 0.0 && self.streams[die as usize].unit() < probability
    }

    /// Counts a failed program.
    pub(super) fn count_program(&mut self, kind: Kind) {
        self.has_failed_programs = true;
        match kind {
            Kind::GcProgram => self.counts.failed_gc_programs += 1,
            Kind::MapProgram => self.counts.failed_map_programs += 1,
            _ => self.counts.failed_host_programs += 1,
        }
    }

    /// Draws whether the last erase of a die has failed.
    #[inline]
    pub(super) fn erase_fails(&mut self, die: u32) -> bool {
        let probability = self.faults.erase_failure;
        probability > 0.0 && self.streams[die as usize].unit() < probability
    }

    /// Whether programs may fail.
    #[inline]
    pub fn fails_programs(&self) -> bool {
        self.faults.program_failure > 0.0
    }

    /// Marks a block as bad; false if it was before.
    pub(super) fn give_up(&mut self, block: u32) -> bool {
        self.bad.insert(block)
    }

    /// Whether a plane with these good blocks can continue.
    pub(super) fn is_enough(&self, good_blocks: u32) -> bool {
        good_blocks >= self.needed_blocks
    }

    /// Whether a block, counted over the drive, is bad.
    pub(super) fn is_bad(&self, block: u32) -> bool {
        self.bad.contains(&block)
    }

    /// Counts a failed erase, whose block is bad.
    pub(super) fn fail_erase(&mut self, block: u32) {
        self.bad.insert(block);
        self.counts.failed_erases += 1;
    }

    /// Records a plane with these good blocks and none to move a page to.
    #[cold]
    pub(super) fn has_no_free(&mut self, plane: u32, good_blocks: u32) {
        self.worn_out.get_or_insert(WornOut { plane, good_blocks, has_enough: true });
    }

    /// Counts the loss of a good block of a plane, with these left.
    pub(super) fn lost_block(&mut self, plane: u32, good_blocks: u32) {
        self.counts.grown += 1;
        if !self.is_enough(good_blocks) {
            let worn_out = WornOut { plane, good_blocks, has_enough: false };
            self.worn_out.get_or_insert(worn_out);
        }
    }

    /// Returns the counts of bad blocks and failures, if there can be any.
    pub fn counts(&self) -> Option<BadBlocks> {
        self.faults.any().then_some(self.counts)
    }

    /// Errors if a plane has too few good blocks, or the drive refuses an operation of the
    /// workload.
    #[inline]
    pub fn check(&self) -> Result<(), UserError> {
        match (&self.refused, &self.worn_out) {
            (None, None) => Ok(()),
            (Some(error), _) => Err(error.clone()),
            (None, Some(worn_out)) => Err(self.too_few_blocks(worn_out)),
        }
    }

    /// Refuses an operation of the workload with the reason; the first refusal stays.
    #[cold]
    pub fn refuse(&mut self, what: String) {
        self.refused.get_or_insert_with(|| UserError::new(what));
    }

    #[cold]
    fn too_few_blocks(&self, worn_out: &WornOut) -> UserError {
        let WornOut { plane, good_blocks, has_enough } = *worn_out;
        let Faults { program_failure, erase_failure, .. } = self.faults;
        let all = self.blocks_per_plane;
        let why = match has_enough {
            false => format!("its data and garbage collection need {}", self.needed_blocks),
            true => format!(
                "of which none is free to move pages to, with ftl.gc_hard_free_blocks = {}",
                self.reserve_blocks
            ),
        };
        UserError::new(format!(
            "nand.program_failure = {program_failure}, nand.erase_failure = {erase_failure}: \
             blocks have failed by chance, and plane {plane} has {good_blocks} good blocks left of \
             {all}, {why}; lower the probabilities, or give it more with ftl.over_provisioning"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_plane_that_has_too_few_blocks_is_told_of() {
        let faults = Faults { program_failure: 0.5, ..Faults::default() };
        let mut failing = Failing::with(faults, Vec::new());
        (failing.needed_blocks, failing.blocks_per_plane) = (7, 9);
        failing.lost_block(2, 8);
        failing.lost_block(2, 7);
        assert!(failing.check().is_ok(), "seven do");
        failing.lost_block(1, 6);
        failing.lost_block(2, 6);
        let error = failing.check().expect_err("one has six").to_string();
        assert!(error.contains("plane 1 has 6 good blocks left of 9, its data"), "{error}");
        assert_eq!(failing.counts().expect("programs may fail").grown, 4);
    }
}
