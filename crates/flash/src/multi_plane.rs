//! Multi-plane commands: their pages and blocks, and their starts.
//!
//! Transactions of one command are linked through `next`, from the chosen one.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{Command, Die, Refusal};
use reprieve_policy::txn::{Kind, NONE};

use super::controller::Controller;
use super::dies::Dies;

impl Controller {
    /// Puts the addresses of the transactions after `id` into `others`; returns the plane count.
    #[inline]
    pub(super) fn list_others(&mut self, id: u32) -> u64 {
        if self.dies.facts.gathers { self.list_each(id) } else { 1 }
    }

    #[cold]
    fn list_each(&mut self, id: u32) -> u64 {
        self.others.clear();
        let mut each = self.dies.txns[id].next;
        while each != NONE {
            let txn = &self.dies.txns[each];
            if self.dies.facts.opens_plane(txn) {
                self.others.push(txn.at);
            }
            each = self.dies.txns[each].next;
        }
        if !self.others.is_empty() {
            self.counts.command_of_planes(self.dies.txns[id].kind);
        }
        self.others.len() as u64 + 1
    }
}

impl Dies {
    /// Returns the planes of the command of `id`.
    #[inline]
    pub(super) fn planes_of(&self, id: u32) -> u64 {
        if self.facts.gathers { self.count_planes(id) } else { 1 }
    }

    #[cold]
    fn count_planes(&self, id: u32) -> u64 {
        let (mut planes, mut each) = (1, self.txns[id].next);
        while each != NONE {
            let txn = &self.txns[each];
            planes += u64::from(self.facts.opens_plane(txn));
            each = txn.next;
        }
        planes
    }

    /// Returns the host pages in the command of `first`; none for `NONE`.
    pub(super) fn host_pages_of(&self, first: u32) -> u32 {
        let (mut pages, mut each) = (0, first);
        while each != NONE {
            let txn = &self.txns[each];
            pages += u32::from(txn.kind == Kind::Program);
            each = txn.next;
        }
        pages
    }

    /// Returns the pages with data in the command of `first`, and mapping units of them.
    pub(super) fn pages_of(&self, first: u32) -> (u64, u64) {
        let (mut pages, mut units, mut each) = (0, 0, first);
        while each != NONE {
            let txn = &self.txns[each];
            (pages, units) = (pages + u64::from(txn.place == 0), units + 1);
            each = txn.next;
        }
        (pages, units)
    }
}

/// A set of planes of a die.
#[derive(Default)]
pub(super) struct PlaneSet(u128);

impl PlaneSet {
    /// Adds a plane; false if it is in the set.
    pub(super) fn insert(&mut self, plane: u32) -> bool {
        let before = self.0;
        self.0 |= PlaneSet::bit(plane);
        self.0 != before
    }

    /// Whether a plane is in the set.
    pub(super) fn contains(&self, plane: u32) -> bool {
        self.0 & PlaneSet::bit(plane) != 0
    }

    fn bit(plane: u32) -> u128 {
        1u128.checked_shl(plane).expect("the scenario checks how many planes there are")
    }
}

/// Starts a command on `planes` planes of a die.
#[inline]
pub(super) fn start_command(
    die: &mut Die,
    now: Time,
    command: Command,
    planes: u64,
    others: &[PageAddress],
) -> Result<Time, Refusal> {
    if planes == 1 { die.start(now, command) } else { die.start_together(now, command, others) }
}
