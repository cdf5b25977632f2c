//! Transactions of one command: the rest of a wordline, and those of other planes.
//!
//! They are linked through `next`, from the chosen one.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{MultiPlane, Parallelism};
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::suspend::Eligibility;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::Work;

use super::Decisions;
use super::dies::Dies;
use super::multi_plane::PlaneSet;
use super::wordline::OpenBlocks;

/// The queues from which commands are gathered.
pub(super) struct Gathering<'a, W> {
    pub(super) dies: &'a mut Dies,
    pub(super) eligibility: &'a Eligibility,
    /// Reads of several requests may share a command.
    pub(super) joins_requests: bool,
    pub(super) now: Time,
    pub(super) work: &'a mut W,
}

impl<W: Work, S> Decisions<'_, W, S> {
    /// Returns the sources of commands.
    pub(super) fn gathering(&mut self) -> Gathering<'_, W> {
        Gathering {
            dies: &mut self.flash.controller.dies,
            eligibility: &self.flash.controller.suspension.eligibility,
            joins_requests: self.flash.stage.joins_requests(),
            now: self.now,
            work: self.work,
        }
    }
}

impl<W: Work> Gathering<'_, W> {
    /// Links to a read the waiting ones that fit its command: the units of its page, and the oldest
    /// of each other plane with its units.
    #[cold]
    pub(super) fn gather_reads(&mut self, first: u32) {
        let Parallelism { multi_plane, independent_plane_reads, .. } = self.dies.facts.parallelism;
        let mut last = self.gather_units(first);
        if multi_plane == MultiPlane::None || independent_plane_reads {
            return;
        }
        let Txn { die, at, request, .. } = self.dies.txns[first];
        let mut next = self.dies[die].reads.first();
        while let Some(id) = next {
            let following = self.dies.txns[id].next;
            next = (following != NONE).then_some(following);
            if !self.joins_requests && (self.dies.txns[id].request != request || request == NONE) {
                continue;
            }
            if !self.is_admitted(id) {
                continue;
            }
            self.work.locate(&mut self.dies.txns[id]);
            let other = self.dies.txns[id].at;
            // Checked first, as most of a long queue fails it: the page in its block.
            if self.dies.facts.goes_with(at, other, false)
                && !self.holds_plane(first, other.plane)
                && !self.dies[die].die.bars_read(other)
            {
                self.dies.units[die as usize].reads.remove(&mut self.dies.txns, id);
                self.dies.txns[id].place = 0;
                self.dies.txns[last].next = id;
                last = self.gather_units(id);
                if last != id {
                    // The next one may have been taken.
                    next = self.dies[die].reads.first();
                }
            }
        }
    }

    /// Links the queued reads of the same request and page to `id`, which is in no queue. Returns
    /// the last of them.
    fn gather_units(&mut self, id: u32) -> u32 {
        let Txn { die, at, request, .. } = self.dies.txns[id];
        if !self.dies.facts.has_units() || request == NONE {
            return id;
        }
        let mut last = id;
        let mut next = self.dies[die].reads.first().unwrap_or(NONE);
        while next != NONE {
            let other = next;
            next = self.dies.txns[other].next;
            if self.dies.txns[other].request != request || !self.is_admitted(other) {
                continue;
            }
            self.work.locate(&mut self.dies.txns[other]);
            if self.dies.txns[other].at == at {
                self.dies.units[die as usize].reads.remove(&mut self.dies.txns, other);
                self.dies.txns[other].place = 1;
                self.dies.txns[last].next = other;
                last = other;
            }
        }
        last
    }

    /// Whether a read may start inside the suspended operation of its die.
    fn is_admitted(&self, id: u32) -> bool {
        let Txn { die, kind, .. } = self.dies.txns[id];
        let unit = &self.dies[die];
        let operation = || self.dies.txns[unit.whole.operation()].kind;
        !unit.die.is_suspended() || self.eligibility.admits(kind, operation())
    }

    /// Links to a program or erase the rest of its wordline, and waiting ones of other planes that
    /// fit its command.
    #[cold]
    pub(super) fn gather_writes(&mut self, first: u32) {
        if self.dies.facts.together > 1 {
            self.gather_wordline(first, first);
        }
        if self.dies.facts.superblocks.exist() {
            self.gather_superblock(first);
        } else if self.dies.facts.parallelism.multi_plane != MultiPlane::None {
            self.gather_planes(first);
        }
    }

    /// Takes the oldest of each other plane, as each plane is in order; on a part with wordlines
    /// the oldest of each open block, as an incomplete wordline blocks no other.
    fn gather_planes(&mut self, first: u32) {
        let (die, at) = (self.dies.txns[first].die, self.dies.txns[first].at);
        let kind = self.dies.txns[first].kind;
        let mut last = self.last_of(first);
        let mut passed = OpenBlocks::default();
        let mut held = PlaneSet::default();
        held.insert(at.plane);
        // Planes that may still contribute.
        let mut others = self.dies.facts.geometry.planes_per_die - 1;
        let by_wordline = self.dies.facts.together > 1;
        let open_blocks = by_wordline.then(|| self.dies[die].open_blocks()).flatten();
        let mut next = self.dies[die].writes.first();
        while let Some(id) = next.filter(|_| others > 0 && open_blocks != Some(passed.count)) {
            let following = self.dies.txns[id].next;
            next = (following != NONE).then_some(following);
            let plane = self.dies.txns[id].at.plane;
            let txn = &self.dies.txns[id];
            let front = if by_wordline { txn.front } else { 0 };
            if !passed.insert(plane, front) || held.contains(plane) {
                continue;
            }
            others -= u32::from(!by_wordline);
            // A command is in one mode.
            let is_slc = |front: u8| usize::from(front) == SLC_FRONT;
            if txn.kind != kind || is_slc(txn.front) != is_slc(self.dies.txns[first].front) {
                continue;
            }
            let is_program = kind.is_program();
            if is_program && by_wordline && !self.dies.is_ready(id, self.now) {
                continue;
            }
            let other = match is_program {
                true => self.work.next_page(&self.dies.txns[id]),
                false => Some(self.dies.txns[id].at),
            };
            let unit = &self.dies.units[die as usize];
            let is_held = |other| unit.die.is_suspended() && unit.die.works_on(other);
            let fits = |other| self.dies.facts.goes_with(at, other, !is_program) && !is_held(other);
            if !other.is_some_and(fits) {
                continue;
            }
            let placed = !is_program || self.work.place(&mut self.dies.txns[id]);
            assert!(placed, "a plane that named its next page has none");
            self.dies.take_write(die, id, is_program);
            self.dies.txns[id].unsuspendable = self.dies.txns[first].unsuspendable;
            self.dies.txns[last].next = id;
            last = id;
            held.insert(plane);
            others -= u32::from(by_wordline);
            if is_program && by_wordline {
                last = self.gather_wordline(first, id);
                // The next one may have been taken.
                next = self.dies[die].writes.first();
            }
        }
    }

    /// Takes, in order, programs without a plane whose next page follows on the next plane.
    fn gather_superblock(&mut self, first: u32) {
        let Txn { die, kind, unsuspendable, .. } = self.dies.txns[first];
        if !kind.is_program() {
            return;
        }
        let mut last = first;
        let mut next = self.dies[die].writes.first();
        while let Some(id) = next {
            let following = self.dies.txns[id].next;
            next = (following != NONE).then_some(following);
            let at = self.dies.txns[last].at;
            let beside = PageAddress { plane: at.plane + 1, ..at };
            if self.dies.txns[id].kind != kind
                || self.work.next_page(&self.dies.txns[id]) != Some(beside)
            {
                continue;
            }
            let placed = self.work.place(&mut self.dies.txns[id]);
            assert!(placed, "a plane that named its next page has none");
            self.dies.take_write(die, id, true);
            self.dies.txns[id].unsuspendable = unsuspendable;
            self.dies.txns[last].next = id;
            last = id;
        }
    }

    /// Returns the last transaction of a command.
    pub(super) fn last_of(&self, first: u32) -> u32 {
        let mut last = first;
        while self.dies.txns[last].next != NONE {
            last = self.dies.txns[last].next;
        }
        last
    }

    /// Links to a step of garbage collection those that fit its command.
    #[cold]
    pub(super) fn gather_gc(&mut self, first: u32) {
        if self.dies.txns[first].kind != Kind::Erase {
            self.gather_moves(first);
        } else if self.dies.facts.parallelism.multi_plane != MultiPlane::None {
            self.gather_erases(first);
        }
    }

    /// Links to a read or program of garbage collection the rest of its wordline or superblock, and
    /// those of planes that collect in parallel.
    fn gather_moves(&mut self, first: u32) {
        let is_program = self.dies.txns[first].kind == Kind::GcProgram;
        let several =
            is_program && (self.dies.facts.together > 1 || self.dies.facts.superblocks.exist());
        let mut last = if several { self.gather_held(first) } else { first };
        while let Some(txn) = self.work.gc_take_beside(&self.dies.txns[first], self.now) {
            let id = self.dies.txns.insert(txn);
            self.dies.txns[last].next = id;
            last = if several { self.gather_held(id) } else { id };
        }
    }

    /// Links to an erase of garbage collection the erases of other planes that are due.
    fn gather_erases(&mut self, first: u32) {
        let (die, at) = (self.dies.txns[first].die, self.dies.txns[first].at);
        let block =
            (self.dies.facts.parallelism.multi_plane == MultiPlane::Block).then_some(at.block);
        let mut last = first;
        while let Some(txn) = self.work.gc_take_erase(die, block, self.now) {
            let id = self.dies.txns.insert(txn);
            self.dies.txns[last].next = id;
            last = id;
        }
    }

    /// Whether a command that is being gathered has a transaction of this plane.
    fn holds_plane(&self, first: u32, plane: u32) -> bool {
        let mut each = first;
        while each != NONE {
            let txn = &self.dies.txns[each];
            if txn.at.plane == plane {
                return true;
            }
            each = txn.next;
        }
        false
    }
    /// Links to `id`, whose page is known, the oldest programs for its open block as the rest of
    /// its wordline; `first` starts the command. Returns the last of them.
    pub(super) fn gather_wordline(&mut self, first: u32, id: u32) -> u32 {
        let Txn { die, at, front, .. } = self.dies.txns[id];
        if !self.dies.txns[id].kind.fills_wordline() {
            return id;
        }
        let mut last = id;
        let mut number = 1;
        self.dies.units[die as usize].planes.take_waiting(&self.dies.txns[id], true);
        let mut next = self.dies[die].writes.first().unwrap_or(NONE);
        while next != NONE && number < self.dies.facts.together_of(front) {
            let beside = next;
            next = self.dies.txns[beside].next;
            let txn = &mut self.dies.txns[beside];
            if (txn.at.plane, txn.front) != (at.plane, front) {
                continue;
            }
            if !txn.kind.fills_wordline() || !self.work.place_beside(txn, at, number) {
                break;
            }
            self.dies.take_write(die, beside, true);
            let unit = &mut self.dies.units[die as usize];
            unit.planes.take_waiting(&self.dies.txns[beside], false);
            self.dies.txns[beside].unsuspendable = self.dies.txns[first].unsuspendable;
            self.dies.txns[last].next = beside;
            last = beside;
            number += 1;
        }
        last
    }

    /// Links to a program of garbage collection, the last of its command, those of the other pages
    /// that its plane holds. Returns the last of them.
    pub(super) fn gather_held(&mut self, first: u32) -> u32 {
        let mut last = first;
        let mut number = 1;
        while let Some(txn) = self.work.gc_take_page(&self.dies.txns[first], number, self.now) {
            let id = self.dies.txns.insert(txn);
            self.dies.txns[last].next = id;
            last = id;
            number += 1;
        }
        last
    }
}
