//! Planes that read by themselves: which read begins where.

use reprieve_base::Time;
use reprieve_base::event::Schedule;
use reprieve_policy::sched::{Choice, DieView};
use reprieve_policy::txn::NONE;
use reprieve_policy::work::Work;

use super::channel::Grant;
use super::{Flash, FlashEvent};

impl Flash {
    /// Begins reads on planes that are free, as long as reads are what the scheduler wants.
    ///
    /// Says whether all planes are free for something else.
    pub(super) fn decide_planes<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        mut grant: Grant,
    ) -> bool {
        // Where no plane is free nothing can begin, and nobody is asked: as on a die that senses.
        while self.units[die as usize].die.has_free_plane() {
            let read = self.next_read(die, work);
            let view = self.view(die, read, now, work);
            let may_begin = !view.gc_runs_through;
            let begins =
                may_begin && read.is_some() && self.choose(die, read, &view, work) == Choice::Read;
            let Some(id) = read.filter(|_| begins) else {
                let is_free = self.units[die as usize].die.is_free();
                if !is_free && self.collects(die, read, &view, work) {
                    self.collect_beside(die, now, work, out, grant);
                }
                return is_free;
            };
            let is_free = self.units[die as usize].die.plane_is_free(self.txns[id].at.plane);
            if !is_free || !self.start_read(id, now, work, out, grant) {
                return false;
            }
            grant = Grant::Ask;
        }
        false
    }

    /// Whether a step of garbage collection is what a die begins that may begin one.
    fn collects<W: Work>(
        &mut self,
        die: u32,
        read: Option<u32>,
        view: &DieView,
        work: &mut W,
    ) -> bool {
        view.gc_runs_through
            || match self.choose(die, read, view, work) {
                Choice::Gc => true,
                Choice::Read => view.read.is_none(),
                _ => false,
            }
    }

    /// Begins a read of garbage collection beside other reads, where planes collect side by side.
    fn collect_beside<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let plane = work.gc_next_read(die);
        if plane.is_some_and(|plane| self.units[die as usize].die.plane_is_free(plane)) {
            self.start_gc(die, now, work, out, grant);
        }
    }

    /// A read of garbage collection has begun: if another plane has one as well, the die looks
    /// again at once.
    pub(super) fn look_for_more<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        if self.facts.parallelism.independent_plane_reads && work.gc_next_read(die).is_some() {
            out.schedule(now, FlashEvent::Poke { die });
        }
    }

    /// The oldest read that may be served now on a plane that is free; if there is none, the oldest
    /// that waits for its plane.
    fn next_read<W: Work>(&mut self, die: u32, work: &mut W) -> Option<u32> {
        let unit = &self.units[die as usize];
        let operation = unit.die.operation_block().map(|_| self.txns[unit.whole.operation()].kind);
        let (mut id, mut waits) = (unit.reads.first()?, None);
        while id != NONE {
            let txn = &mut self.txns[id];
            if operation
                .is_none_or(|operation| self.suspension.eligibility.admits(txn.kind, operation))
            {
                work.locate(txn);
                if !unit.die.bars_read(txn.at) {
                    if unit.die.plane_is_free(txn.at.plane) {
                        return Some(id);
                    }
                    waits = waits.or(Some(id));
                }
            }
            id = txn.next;
        }
        waits
    }
}
