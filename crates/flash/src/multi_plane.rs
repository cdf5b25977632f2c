//! Commands of several planes: which pages and blocks they take, and how they begin.
//!
//! Transactions of one command are linked through `next`, the one that was chosen first.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{Command, Die, Refusal};
use reprieve_policy::txn::{Kind, NONE};

use super::Flash;

impl Flash {
    /// Puts the addresses of what follows `id` into `others`; says how many planes there are.
    #[inline]
    pub(super) fn list_others(&mut self, id: u32) -> u64 {
        if self.facts.gathers { self.list_each(id) } else { 1 }
    }

    #[cold]
    fn list_each(&mut self, id: u32) -> u64 {
        self.others.clear();
        let mut each = self.txns[id].next;
        while each != NONE {
            let txn = &self.txns[each];
            if self.facts.opens_plane(txn) {
                self.others.push(txn.at);
            }
            each = self.txns[each].next;
        }
        if !self.others.is_empty() {
            self.count_command(self.txns[id].kind);
        }
        self.others.len() as u64 + 1
    }

    #[cold]
    fn count_command(&mut self, kind: Kind) {
        let counts = self.counts.multi_plane.as_mut().expect("commands may take several planes");
        counts[match kind {
            Kind::Erase => 2,
            kind => usize::from(kind.is_program()),
        }] += 1;
    }

    /// Planes that the command of `id` works on.
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
}

/// A set of planes of a die.
#[derive(Default)]
pub(super) struct PlaneSet(u128);

impl PlaneSet {
    /// Adds a plane; false if it was there.
    pub(super) fn insert(&mut self, plane: u32) -> bool {
        let bit = 1u128.checked_shl(plane).expect("the scenario checks how many planes there are");
        let is_new = self.0 & bit == 0;
        self.0 |= bit;
        is_new
    }
}

/// Begins a command of so many planes on a die.
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
