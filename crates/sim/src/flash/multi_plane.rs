//! Multi-plane commands: what waits for other planes of a die and can go with one that begins.
//!
//! Transactions of one command are linked through `next`, the one that was chosen first.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{Command, Die, MultiPlane, Parallelism, Refusal};

use super::Flash;
use crate::txn::{Kind, NONE, Txn};
use crate::work::Work;

impl Flash {
    /// Puts the addresses of what follows `id` into `others`; says how many planes there are.
    #[inline]
    pub(super) fn list_others(&mut self, id: u32) -> u64 {
        if self.gathers { self.list_each(id) } else { 1 }
    }

    #[cold]
    fn list_each(&mut self, id: u32) -> u64 {
        self.others.clear();
        let mut each = self.txns[id].next;
        while each != NONE {
            let txn = &self.txns[each];
            if self.opens_plane(txn) {
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
        if self.gathers { self.count_planes(id) } else { 1 }
    }

    #[cold]
    fn count_planes(&self, id: u32) -> u64 {
        let (mut planes, mut each) = (1, self.txns[id].next);
        while each != NONE {
            let txn = &self.txns[each];
            planes += u64::from(self.opens_plane(txn));
            each = txn.next;
        }
        planes
    }

    /// Whether a transaction that follows another is the first of its plane.
    #[inline]
    fn opens_plane(&self, txn: &Txn) -> bool {
        self.together == 1 || !txn.kind.is_program() || txn.at.page % self.together == 0
    }

    /// Whether one command can take `other` with `first`, if their planes differ.
    fn goes_with(&self, first: PageAddress, other: PageAddress, is_erase: bool) -> bool {
        let block = first.block == other.block || self.parallelism.multi_plane == MultiPlane::Page;
        block && (is_erase || first.page == other.page)
    }

    /// Links to a read that begins those that wait and can go with it, the oldest of each plane.
    #[cold]
    pub(super) fn gather_reads<W: Work>(&mut self, first: u32, work: &mut W) {
        let Parallelism { multi_plane, independent_plane_reads, .. } = self.parallelism;
        if multi_plane == MultiPlane::None || independent_plane_reads {
            return;
        }
        let Txn { die, at, request, .. } = self.txns[first];
        let mut last = first;
        let mut next = self.units[die as usize].reads.first();
        while let Some(id) = next {
            let following = self.txns[id].next;
            next = (following != NONE).then_some(following);
            if !self.joins_requests && (self.txns[id].request != request || request == NONE) {
                continue;
            }
            let unit = &mut self.units[die as usize];
            if unit.die.is_suspended() {
                let operation = self.txns[unit.whole.operation()].kind;
                if !self.suspension.eligibility.admits(self.txns[id].kind, operation) {
                    continue;
                }
            }
            work.locate(&mut self.txns[id]);
            let other = self.txns[id].at;
            let is_free = !self.holds_plane(first, other.plane);
            let unit = &mut self.units[die as usize];
            let open = !unit.die.bars_read(other);
            if is_free && open && self.goes_with(at, other, false) {
                self.units[die as usize].reads.remove(&mut self.txns, id);
                self.txns[last].next = id;
                last = id;
            }
        }
    }

    /// Links to a program or erase that begins the rest of its wordline, and what waits for other
    /// planes and can go with it.
    #[cold]
    pub(super) fn gather_writes<W: Work>(&mut self, first: u32, now: Time, work: &mut W) {
        if self.together > 1 {
            self.gather_wordline(first, first, work);
        }
        if self.twins.exist() {
            self.gather_twins(first, work);
        } else if self.parallelism.multi_plane != MultiPlane::None {
            self.gather_planes(first, now, work);
        }
    }

    /// Of each other plane the oldest, for what waits for a plane keeps its order.
    pub(super) fn gather_planes<W: Work>(&mut self, first: u32, now: Time, work: &mut W) {
        let (die, at) = (self.txns[first].die, self.txns[first].at);
        let kind = self.txns[first].kind;
        let mut last = self.last_of(first);
        let mut passed = Planes::default();
        let mut next = self.units[die as usize].writes.first();
        while let Some(id) = next {
            let following = self.txns[id].next;
            next = (following != NONE).then_some(following);
            let plane = self.txns[id].at.plane;
            if self.holds_plane(first, plane) || !passed.insert(plane) {
                continue;
            }
            if self.txns[id].kind != kind {
                continue;
            }
            let is_program = kind.is_program();
            if is_program && self.together > 1 && !self.is_ready(id, now) {
                continue;
            }
            let other = match is_program {
                true => work.next_page(&self.txns[id]),
                false => Some(self.txns[id].at),
            };
            if !other.is_some_and(|other| self.goes_with(at, other, !is_program)) {
                continue;
            }
            let placed = !is_program || work.place(&mut self.txns[id]);
            assert!(placed, "a plane that named its next page has none");
            let unit = &mut self.units[die as usize];
            unit.writes.remove(&mut self.txns, id);
            unit.pending_programs -= u32::from(is_program);
            self.write_queue.pending -= u32::from(is_program);
            self.txns[id].unsuspendable = self.txns[first].unsuspendable;
            self.txns[last].next = id;
            last = id;
            if is_program && self.together > 1 {
                last = self.gather_wordline(first, id, work);
                // What has been taken may have been next.
                next = self.units[die as usize].writes.first();
            }
        }
    }

    /// Programs that wait are of no plane yet: those that come to lie beside the first, in order.
    fn gather_twins<W: Work>(&mut self, first: u32, work: &mut W) {
        let Txn { die, kind, unsuspendable, .. } = self.txns[first];
        if !kind.is_program() {
            return;
        }
        let mut last = first;
        let mut next = self.units[die as usize].writes.first();
        while let Some(id) = next {
            let following = self.txns[id].next;
            next = (following != NONE).then_some(following);
            let at = self.txns[last].at;
            let beside = PageAddress { plane: at.plane + 1, ..at };
            if self.txns[id].kind != kind || work.next_page(&self.txns[id]) != Some(beside) {
                continue;
            }
            let placed = work.place(&mut self.txns[id]);
            assert!(placed, "a plane that named its next page has none");
            let unit = &mut self.units[die as usize];
            unit.writes.remove(&mut self.txns, id);
            unit.pending_programs -= 1;
            self.write_queue.pending -= 1;
            self.txns[id].unsuspendable = unsuspendable;
            self.txns[last].next = id;
            last = id;
        }
    }

    /// The last transaction of a command.
    pub(super) fn last_of(&self, first: u32) -> u32 {
        let mut last = first;
        while self.txns[last].next != NONE {
            last = self.txns[last].next;
        }
        last
    }

    /// Links to a step of garbage collection those that can go with it.
    #[cold]
    pub(super) fn gather_gc<W: Work>(&mut self, first: u32, now: Time, work: &mut W) {
        if self.txns[first].kind != Kind::Erase {
            self.gather_moves(first, now, work);
        } else if self.parallelism.multi_plane != MultiPlane::None {
            self.gather_erases(first, now, work);
        }
    }

    /// Links to a read or program of garbage collection the rest of its wordline or of its
    /// twins, and the same of planes that collect side by side.
    fn gather_moves<W: Work>(&mut self, first: u32, now: Time, work: &mut W) {
        let is_program = self.txns[first].kind == Kind::GcProgram;
        let several = is_program && (self.together > 1 || self.twins.exist());
        let mut last = if several { self.gather_held(first, now, work) } else { first };
        while let Some(txn) = work.gc_take_beside(&self.txns[first], now) {
            let id = self.txns.insert(txn);
            self.txns[last].next = id;
            last = if several { self.gather_held(id, now, work) } else { id };
        }
    }

    /// Links to an erase of garbage collection those to which other planes have come.
    fn gather_erases<W: Work>(&mut self, first: u32, now: Time, work: &mut W) {
        let (die, at) = (self.txns[first].die, self.txns[first].at);
        let block = (self.parallelism.multi_plane == MultiPlane::Block).then_some(at.block);
        let mut last = first;
        while let Some(txn) = work.gc_take_erase(die, block, now) {
            let id = self.txns.insert(txn);
            self.txns[last].next = id;
            last = id;
        }
    }

    /// Whether a command that is being put together has something for this plane already.
    fn holds_plane(&self, first: u32, plane: u32) -> bool {
        let mut each = first;
        while each != NONE {
            let txn = &self.txns[each];
            if txn.at.plane == plane {
                return true;
            }
            each = txn.next;
        }
        false
    }
}

/// A set of planes of a die.
#[derive(Default)]
pub(super) struct Planes(u128);

impl Planes {
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
