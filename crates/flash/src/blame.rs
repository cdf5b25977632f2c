//! Tells who blames waits what happens to transactions and dies.

use reprieve_base::Time;
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::dies::Dies;
use super::observe::{AtWork, Blame, Observers};

impl Observers {
    /// A transaction waits from its mark on, in no queue that is told of.
    #[cold]
    pub(super) fn blame_wait(&mut self, dies: &Dies, id: u32) {
        if let Some(blame) = &mut self.blame {
            blame.waits_elsewhere(id, &dies.txns[id]);
        }
    }

    /// The page of a read is there.
    #[inline]
    pub(super) fn blame_read(&mut self, dies: &Dies, id: u32) {
        let Some(blame) = self.blame.as_deref_mut() else { return };
        let txn = &dies.txns[id];
        if txn.kind == Kind::HostRead && txn.request != NONE {
            blame.page_ends(txn.request, id, txn.die);
        }
    }

    /// A transaction has come to the queue of its die.
    #[inline(always)]
    pub(super) fn blame_queued(&mut self, dies: &Dies, id: u32) {
        let Some(blame) = self.blame.as_deref_mut() else { return };
        let txn = &dies.txns[id];
        let work = AtWork { facts: &dies.facts, unit: &dies[txn.die] };
        if txn.kind.is_read() {
            blame.read_queued(id, txn, work);
        } else {
            blame.write_queued(id, txn, work);
        }
    }

    /// What reads of a command are sensed.
    pub(super) fn blame_sensing(&mut self, dies: &Dies, first: u32, now: Time) {
        let has_reads = dies[dies.txns[first].die].reads.first().is_some();
        self.blame_each(dies, first, |blame, id, txn| match id == first {
            true => blame.sensed(id, txn, has_reads, now),
            false => blame.sensed_beside(id, txn, now),
        });
    }

    /// A program or erase begins, or goes on, on a die where reads wait or not.
    #[inline(always)]
    pub(super) fn blame_start(&mut self, dies: &Dies, first: u32, has_reads: bool, now: Time) {
        let Some(blame) = self.blame.as_deref_mut() else { return };
        let txn = &dies.txns[first];
        if txn.next != NONE {
            self.blame_start_together(dies, first, now);
            return;
        }
        blame.starts(first, txn, has_reads, now);
    }

    #[cold]
    fn blame_start_together(&mut self, dies: &Dies, first: u32, now: Time) {
        self.blame_each(dies, first, |blame, id, txn| blame.starts_one(id, txn, now));
        self.blame_runs(dies, first, now);
    }

    /// A program whose data has come in begins.
    pub(super) fn blame_loaded_start(&mut self, dies: &Dies, first: u32, now: Time) {
        self.blame_each(dies, first, |blame, id, txn| blame.loaded_starts(id, txn, now));
        self.blame_runs(dies, first, now);
    }

    fn blame_runs(&mut self, dies: &Dies, first: u32, now: Time) {
        let Some(blame) = &mut self.blame else { return };
        let txn = &dies.txns[first];
        blame.runs(txn, dies[txn.die].reads.first().is_some(), now);
    }

    /// The data of a program comes in while another one runs.
    pub(super) fn blame_loaded(&mut self, dies: &Dies, first: u32, now: Time) {
        self.blame_each(dies, first, |blame, id, txn| blame.loaded(id, txn, now));
    }

    /// A program or erase is on its way into suspension, until `free_at`, perhaps for a read: which
    /// so is not barred.
    #[inline(always)]
    pub(super) fn blame_suspending(
        &mut self,
        dies: &Dies,
        (die, read): (u32, Option<u32>),
        free_at: Time,
        now: Time,
    ) {
        let Some(blame) = self.blame.as_deref_mut() else { return };
        let reads = &dies[die].reads;
        let is_alone = read.is_some() && reads.first() == read && reads.count() == 1;
        blame.dies.suspending(die, is_alone, (free_at, now));
    }

    /// It is suspended.
    #[inline(always)]
    pub(super) fn blame_suspended(&mut self, dies: &Dies, first: u32, now: Time) {
        let Some(blame) = self.blame.as_deref_mut() else { return };
        let txn = &dies.txns[first];
        if txn.next != NONE {
            self.blame_each(dies, first, |blame, id, txn| blame.suspended(id, txn, now));
            return;
        }
        blame.suspended(first, txn, now);
    }

    /// It is complete.
    #[inline(always)]
    pub(super) fn blame_completed(&mut self, dies: &Dies, die: u32) {
        if let Some(blame) = &mut self.blame {
            blame.dies.completed(die, dies[die].reads.first().is_some());
        }
    }

    /// A die got its turn that is not among those that decide.
    #[cold]
    pub(super) fn blame_granted(&mut self, die: u32) {
        if let Some(blame) = &mut self.blame {
            blame.dies.granted(die);
        }
    }

    /// Tells of each transaction of a command.
    #[inline(always)]
    fn blame_each(&mut self, dies: &Dies, first: u32, mut tell: impl FnMut(&mut Blame, u32, &Txn)) {
        let Some(blame) = &mut self.blame else { return };
        let mut each = first;
        while each != NONE {
            let txn = &dies.txns[each];
            tell(blame, each, txn);
            each = txn.next;
        }
    }

    /// A die has decided. Mostly something has begun there, which was told; else what stands in the
    /// way is looked at when the instant ends.
    #[inline(always)]
    pub(super) fn blame_decided(&mut self, dies: &Dies, die: u32) {
        let Some(blame) = self.blame.as_deref_mut() else { return };
        if !blame.dies.decides(die) {
            let unit = &dies[die];
            let waits = unit.reads.first().is_some() || unit.writes.first().is_some();
            blame.dies.is_unknown(die, waits || unit.die.is_suspended());
        }
    }
}
