//! Planes that read by themselves: which read begins where.

use reprieve_base::Time;
use reprieve_base::event::Schedule;
use reprieve_policy::sched::Choice;
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
        while self.controller.dies[die].die.plane_reads().has_free() {
            let Flash { controller, serving, .. } = self;
            let read = controller.dies.next_read(&controller.suspension.eligibility, die, work);
            let view = serving.view(controller, (die, read), now, work);
            let may_begin = !view.gc_runs_through;
            let begins = may_begin
                && read.is_some()
                && serving.choose(&mut controller.dies, (die, read), &view, work) == Choice::Read;
            let Some(id) = read.filter(|_| begins) else {
                let is_free = controller.dies[die].die.is_free();
                if !is_free && serving.collects(&mut controller.dies, (die, read), &view, work) {
                    self.collect_beside(die, now, work, out, grant);
                }
                return is_free;
            };
            let plane = controller.dies.txns[id].at.plane;
            let is_free = controller.dies[die].die.plane_reads().is_free(plane);
            if !is_free || !self.start_read(id, now, work, out, grant) {
                return false;
            }
            grant = Grant::Ask;
        }
        false
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
        if plane.is_some_and(|plane| self.controller.dies[die].die.plane_reads().is_free(plane)) {
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
        if self.controller.dies.facts.parallelism.independent_plane_reads
            && work.gc_next_read(die).is_some()
        {
            out.schedule(now, FlashEvent::Poke { die });
        }
    }
}
