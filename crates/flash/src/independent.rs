//! Independent plane reads: the next read of each plane.

use reprieve_base::event::Schedule;
use reprieve_policy::sched::Choice;
use reprieve_policy::work::Work;

use super::channel::ChannelGrant;
use super::{Decisions, Flash, FlashEvent};

impl<W: Work, S: Schedule<FlashEvent>> Decisions<'_, W, S> {
    /// Starts reads on free planes while the scheduler chooses reads; returns whether all are free.
    pub(super) fn decide_planes(&mut self, die: u32) -> bool {
        // Without a free plane the scheduler is not called, as on a die that senses.
        while self.flash.controller.dies[die].die.plane_reads().has_free() {
            let Flash { controller, serving, .. } = &mut *self.flash;
            let read =
                controller.dies.next_read(&controller.suspension.eligibility, die, self.work);
            let view = serving.view(controller, (die, read), self.now, self.work);
            let may_begin = !view.gc_runs_through;
            let begins = may_begin
                && read.is_some()
                && serving.choose(&mut controller.dies, (die, read), &view, self.work)
                    == Choice::Read;
            let Some(id) = read.filter(|_| begins) else {
                let is_free = controller.dies[die].die.is_free();
                if !is_free && serving.collects(&mut controller.dies, (die, read), &view, self.work)
                {
                    self.collect_beside(die);
                }
                return is_free;
            };
            let plane = controller.dies.txns[id].at.plane;
            let is_free = controller.dies[die].die.plane_reads().is_free(plane);
            if !is_free || !self.start_read(id) {
                return false;
            }
            self.grant = ChannelGrant::IfIdle;
        }
        false
    }

    /// Starts a read of garbage collection during other reads, where planes collect in parallel.
    fn collect_beside(&mut self, die: u32) {
        let plane = self.work.gc_next_read(die);
        if plane
            .is_some_and(|plane| self.flash.controller.dies[die].die.plane_reads().is_free(plane))
        {
            self.start_gc(die);
        }
    }

    /// Wakes the die after a read of garbage collection, if another plane has one as well.
    pub(super) fn look_for_more(&mut self, die: u32) {
        if self.flash.controller.dies.facts.parallelism.independent_plane_reads
            && self.work.gc_next_read(die).is_some()
        {
            self.out.schedule(self.now, FlashEvent::Wake { die });
        }
    }
}
