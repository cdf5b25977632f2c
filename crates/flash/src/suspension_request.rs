//! Requests for a suspension: which waiting transactions may be served inside an operation.

use reprieve_base::Time;
use reprieve_policy::suspend::{Eligibility, GcNeed, Reason};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::Work;

use super::dies::Dies;

/// The waiting transactions for which an operation may be suspended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SuspensionRequest {
    /// A queued read.
    pub(super) read: Option<u32>,
    /// Else a read of garbage collection that is not queued yet.
    pub(super) for_gc_read: bool,
    /// A host program that may run inside an erase.
    pub(super) write: Option<u32>,
}

impl Dies {
    /// Finds the transactions for which the operation of a die may be suspended.
    #[inline(always)]
    pub(super) fn suspension_request<W: Work>(
        &mut self,
        eligibility: &Eligibility,
        die: u32,
        now: Time,
        work: &mut W,
    ) -> Result<SuspensionRequest, Reason> {
        if !self.facts.suspends {
            return Err(Reason::NoSuspension);
        }
        let unit = &self[die];
        let first = unit.reads.first();
        if first.is_none() && !eligibility.admits_others() {
            return Err(Reason::NothingWaits);
        }
        let goes_on = self.txns[unit.whole.operation()].unsuspendable;
        let reads_may = !goes_on && !self.limit.is_reached(unit);
        let read = if reads_may { self.admissible_read(eligibility, die, work) } else { None };
        let for_gc_read =
            read.is_none() && reads_may && self.admits_gc_read(eligibility, die, work);
        let write = self.admissible_write(eligibility, die, now, work);
        if read.is_some() || for_gc_read || write.is_some() {
            return Ok(SuspensionRequest { read, for_gc_read, write });
        }
        let Some(first) = first else { return Err(Reason::NothingWaits) };
        if !reads_may {
            return Err(Reason::WriteQueueLimit);
        }
        let operation = self.txns[self[die].whole.operation()].kind;
        let admitted = eligibility.admits(self.txns[first].kind, operation);
        Err(if admitted { Reason::SameBlock } else { Reason::Class })
    }

    /// Returns the oldest queued read that may be served now; it suspends a running operation.
    #[inline(always)]
    pub(super) fn admissible_read<W: Work>(
        &mut self,
        eligibility: &Eligibility,
        die: u32,
        work: &mut W,
    ) -> Option<u32> {
        let unit = &self[die];
        let first = unit.reads.first()?;
        if unit.whole.operation() == NONE || self.may_run_inside(eligibility, die, first, work) {
            return Some(first);
        }
        self.read_behind(eligibility, die, first, work)
    }

    /// Whether a queued read may be served while the operation of its die is suspended.
    #[inline(always)]
    fn may_run_inside<W: Work>(
        &mut self,
        eligibility: &Eligibility,
        die: u32,
        id: u32,
        work: &mut W,
    ) -> bool {
        let unit = &self.units[die as usize];
        let operation = self.txns[unit.whole.operation()].kind;
        let txn = &mut self.txns[id];
        if !eligibility.admits(txn.kind, operation) {
            return false;
        }
        work.locate(txn);
        // Pages of a running or suspended operation cannot be read.
        !unit.die.bars_read(txn.at)
    }

    /// Returns the oldest read after `first` that may be served inside the operation.
    #[cold]
    fn read_behind<W: Work>(
        &mut self,
        eligibility: &Eligibility,
        die: u32,
        first: u32,
        work: &mut W,
    ) -> Option<u32> {
        let mut id = self.txns[first].next;
        while id != NONE && !self.may_run_inside(eligibility, die, id, work) {
            id = self.txns[id].next;
        }
        (id != NONE).then_some(id)
    }

    /// Returns the oldest admissible read whose plane is free, or else the oldest admissible read.
    pub(super) fn next_read<W: Work>(
        &mut self,
        eligibility: &Eligibility,
        die: u32,
        work: &mut W,
    ) -> Option<u32> {
        let unit = &self.units[die as usize];
        let operation =
            unit.die.operations().block().map(|_| self.txns[unit.whole.operation()].kind);
        let (mut id, mut waits) = (unit.reads.first()?, None);
        while id != NONE {
            let txn = &mut self.txns[id];
            if operation.is_none_or(|operation| eligibility.admits(txn.kind, operation)) {
                work.locate(txn);
                if !unit.die.bars_read(txn.at) {
                    if unit.die.plane_reads().is_free(txn.at.plane) {
                        return Some(id);
                    }
                    waits = waits.or(Some(id));
                }
            }
            id = txn.next;
        }
        waits
    }

    /// Returns the next host program, if it may run inside the erase on the die now.
    ///
    /// Programs do not overtake each other: pages of a block are programmed in order.
    #[inline]
    pub(super) fn admissible_write<W: Work>(
        &self,
        eligibility: &Eligibility,
        die: u32,
        now: Time,
        work: &W,
    ) -> Option<u32> {
        if !eligibility.write_in_erase {
            return None;
        }
        self.program_for_erase(die, now, work)
    }

    #[cold]
    fn program_for_erase<W: Work>(&self, die: u32, now: Time, work: &W) -> Option<u32> {
        let id = self.next_write(die, now)?;
        let kinds = (self.txns[id].kind, self.txns[self[die].whole.operation()].kind);
        let admits = kinds.0.is_program() && kinds.1 == Kind::Erase;
        (admits && self.could_start(id, work)).then_some(id)
    }

    /// Whether a program has a free page, in a block without an operation.
    pub(super) fn could_start<W: Work>(&self, id: u32, work: &W) -> bool {
        let txn = &self.txns[id];
        work.next_page(txn).is_some_and(|at| !self[txn.die].die.works_on(at))
    }

    /// Whether a read of garbage collection may suspend the operation on the die.
    #[inline(always)]
    pub(super) fn admits_gc_read<W: Work>(
        &self,
        eligibility: &Eligibility,
        die: u32,
        work: &mut W,
    ) -> bool {
        eligibility.admits_any(Kind::GcRead) && self.wants_gc_read(eligibility, die, work)
    }

    #[cold]
    fn wants_gc_read<W: Work>(&self, eligibility: &Eligibility, die: u32, work: &mut W) -> bool {
        let operation = self.txns[self[die].whole.operation()].kind;
        eligibility.admits(Kind::GcRead, operation)
            && work.gc_need(die) == GcNeed::Urgent
            && work.gc_next(die) == Some(Kind::GcRead)
    }
}
