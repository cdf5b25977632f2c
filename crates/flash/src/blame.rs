//! Tells who blames waits what happens to transactions, requests and dies.

use reprieve_base::Time;
use reprieve_observe::blame::Blamed;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::Work;

use super::Flash;
use super::observe::Blame;

impl Flash {
    /// Begins to blame waits on what stands in the way; nothing has happened yet.
    pub fn keep_blame(&mut self) {
        let by_plane = self.facts.parallelism.independent_plane_reads || self.facts.splits;
        let planes = by_plane.then_some(self.facts.geometry.planes_per_die);
        let keeps = self.stage.holds_back || self.stage.places_late;
        let always = keeps || self.facts.splits;
        let blame = Blame::new(self.facts.geometry.dies(), planes, always);
        self.observers.blame = Some(Box::new(blame));
        self.observers.listens = true;
        self.look_for_shared();
    }

    /// Whether waits are blamed on something.
    #[inline]
    pub fn is_blamed(&self) -> bool {
        self.observers.blame.is_some()
    }

    fn blame(&mut self) -> &mut Blame {
        self.observers.blame.as_mut().expect("the caller has asked for it")
    }

    /// A request begins to wait for the write buffer.
    #[cold]
    pub fn blame_buffer(&mut self, request: u32, now: Time) {
        self.blame().buffer_begins(request, now);
    }

    /// A page of a write, perhaps its last, is in the buffer; that of `id` goes on to its die.
    #[cold]
    pub fn blame_buffered(&mut self, request: u32, id: Option<u32>, is_last: bool, now: Time) {
        self.blame().buffer_ends(request, id, is_last, now);
    }

    /// The rest of a page that is written in part is there.
    #[cold]
    pub fn blame_old_page(&mut self, id: u32) {
        let txn = &self.txns[id];
        // A write that was acknowledged before has no account: its slot may hold an older one.
        if txn.request != NONE {
            let parts = txn.parts;
            self.blame().old_page_read(id, &parts);
        }
    }

    /// A page of a request is complete, without the flash if it is that of `None`.
    pub fn blame_page(&mut self, request: u32, id: Option<u32>) {
        match id {
            Some(id) => {
                let die = self.txns[id].die;
                self.blame().page_ends(request, id, die);
            }
            None => self.blame().page_there(request),
        }
    }

    /// A request is complete: what its time was blamed on, but for what its parts tell themselves,
    /// is added to `sum`. How much that is in all, and the die of its last page if that came from
    /// one or went to one.
    #[inline]
    pub fn blamed(&mut self, request: u32, sum: &mut Blamed) -> (u64, Option<u32>) {
        self.blame().close(request, sum)
    }

    /// A transaction waits from its mark on, in no queue that is told of.
    #[cold]
    pub(super) fn blame_wait(&mut self, id: u32) {
        if let Some(blame) = &mut self.observers.blame {
            blame.waits_elsewhere(id, &self.txns[id]);
        }
    }

    /// The page of a read is there.
    #[inline]
    pub(super) fn blame_read(&mut self, id: u32) {
        let Txn { kind, request, die, .. } = self.txns[id];
        if let Some(blame) = &mut self.observers.blame {
            if kind == Kind::HostRead && request != NONE {
                blame.page_ends(request, id, die);
            }
        }
    }

    /// A transaction has come to the queue of its die.
    #[inline(always)]
    pub(super) fn blame_queued(&mut self, id: u32) {
        let Some(blame) = self.observers.blame.as_deref_mut() else { return };
        let txn = &self.txns[id];
        if txn.kind.is_read() {
            blame.read_queued(id, txn);
            return;
        }
        let unit = &self.units[txn.die as usize];
        let works = unit.whole.operation() != NONE && unit.die.is_running();
        blame.write_queued(id, txn, (unit.reads.first().is_some(), works));
    }

    /// What reads of a command are sensed.
    pub(super) fn blame_sensing(&mut self, first: u32, now: Time) {
        let has_reads = self.units[self.txns[first].die as usize].reads.first().is_some();
        self.blame_each(first, |blame, id, txn| match id == first {
            true => blame.sensed(id, txn, has_reads, now),
            false => blame.sensed_beside(id, txn, now),
        });
    }

    /// A program or erase begins, or goes on, on a die where reads wait or not.
    #[inline(always)]
    pub(super) fn blame_start(&mut self, first: u32, has_reads: bool, now: Time) {
        let Some(blame) = self.observers.blame.as_deref_mut() else { return };
        let txn = &self.txns[first];
        if txn.next != NONE {
            self.blame_start_together(first, now);
            return;
        }
        blame.starts(first, txn, has_reads, now);
    }

    #[cold]
    fn blame_start_together(&mut self, first: u32, now: Time) {
        self.blame_each(first, |blame, id, txn| blame.starts_one(id, txn, now));
        self.blame_runs(first, now);
    }

    /// A program whose data has come in begins.
    pub(super) fn blame_loaded_start(&mut self, first: u32, now: Time) {
        self.blame_each(first, |blame, id, txn| blame.loaded_starts(id, txn, now));
        self.blame_runs(first, now);
    }

    fn blame_runs(&mut self, first: u32, now: Time) {
        let Some(blame) = &mut self.observers.blame else { return };
        let txn = &self.txns[first];
        blame.runs(txn, self.units[txn.die as usize].reads.first().is_some(), now);
    }

    /// The data of a program comes in while another one runs.
    pub(super) fn blame_loaded(&mut self, first: u32, now: Time) {
        self.blame_each(first, |blame, id, txn| blame.loaded(id, txn, now));
    }

    /// A program or erase is on its way into suspension, until `free_at`, perhaps for a read: which
    /// so is not barred.
    #[inline(always)]
    pub(super) fn blame_suspending(
        &mut self,
        (die, read): (u32, Option<u32>),
        free_at: Time,
        now: Time,
    ) {
        let Some(blame) = self.observers.blame.as_deref_mut() else { return };
        let first = self.units[die as usize].reads.first();
        let is_alone = read.is_some_and(|id| first == read && self.txns[id].next == NONE);
        blame.suspending(die, is_alone, (free_at, now));
    }

    /// It is suspended.
    #[inline(always)]
    pub(super) fn blame_suspended(&mut self, first: u32, now: Time) {
        let Some(blame) = self.observers.blame.as_deref_mut() else { return };
        let txn = &self.txns[first];
        if txn.next != NONE {
            self.blame_each(first, |blame, id, txn| blame.suspended(id, txn, now));
            return;
        }
        blame.suspended(first, txn, now);
    }

    /// It is complete.
    #[inline(always)]
    pub(super) fn blame_completed(&mut self, die: u32) {
        if let Some(blame) = &mut self.observers.blame {
            blame.completed(die, self.units[die as usize].reads.first().is_some());
        }
    }

    /// A die got its turn that is not among those that decide.
    #[cold]
    pub(super) fn blame_granted(&mut self, die: u32) {
        if let Some(blame) = &mut self.observers.blame {
            blame.granted(die);
        }
    }

    /// Tells of each transaction of a command.
    #[inline(always)]
    fn blame_each(&mut self, first: u32, mut tell: impl FnMut(&mut Blame, u32, &Txn)) {
        let Some(blame) = &mut self.observers.blame else { return };
        let mut each = first;
        while each != NONE {
            let txn = &self.txns[each];
            tell(blame, each, txn);
            each = txn.next;
        }
    }

    /// A die has decided. Mostly something has begun there, which was told; else what stands in the
    /// way is looked at when the instant ends.
    #[inline(always)]
    pub(super) fn blame_decided(&mut self, die: u32) {
        let Some(blame) = self.observers.blame.as_deref_mut() else { return };
        if !blame.decides(die) {
            let unit = &self.units[die as usize];
            let waits = unit.reads.first().is_some() || unit.writes.first().is_some();
            blame.is_unknown(die, waits || unit.die.is_suspended());
        }
    }

    /// Looks at the end of the instant what stands in the way on the dies to which something has
    /// happened.
    #[inline(always)]
    pub(super) fn look_in_the_way<W: Work>(&mut self, now: Time, work: &mut W) {
        let Some(blame) = &mut self.observers.blame else { return };
        if blame.has_more() {
            self.look_at_listed(now, work);
        } else {
            blame.end_round();
        }
    }
}
